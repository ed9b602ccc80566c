//===- envelope_body_test.cc - Bodies of messages under way ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/envelope_body.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

constexpr ActorId kEnvelopeFrom = 3;
constexpr LocalId kEnvelopeTo{5};

Envelope WireEnvelope(const WireMessage& message, Payload payload = Payload()) {
  return Envelope::Of(Envelope::kWire, WireBody{message, payload},
                      kEnvelopeFrom, kEnvelopeTo);
}

Envelope ControlEnvelope(const std::string& bytes) {
  return Envelope::Of(Envelope::kControl, new std::string(bytes), kEnvelopeFrom,
                      kEnvelopeTo);
}

TEST(EnvelopeBodyTest, AKeptMessageOwnsItsPayload) {
  // Both sides of the size from which payloads are aligned.
  for (size_t bytes : {size_t{1}, size_t{1024}, size_t{1025}}) {
    std::vector<char> payload(bytes, 'a');
    const Envelope kept =
        KeepEnvelope(WireEnvelope(Numbered(7), {payload.data(), bytes}));
    payload.assign(bytes, 'b');
    ASSERT_EQ(kept.kind, Envelope::kOwned);
    EXPECT_EQ(kept.from, kEnvelopeFrom);
    EXPECT_EQ(kept.to, IndexOf(kEnvelopeTo));
    const WireBody& body = kept.As<WireBody>();
    EXPECT_EQ(body.message.step, 7u);
    ASSERT_EQ(body.payload.bytes, bytes);
    EXPECT_EQ(std::string(static_cast<const char*>(body.payload.data), bytes),
              std::string(bytes, 'a'));
    DropEnvelope(kept);
  }
}

TEST(EnvelopeBodyTest, AKeptMessageWithoutPayloadOwnsNothing) {
  EXPECT_EQ(KeepEnvelope(WireEnvelope(Numbered(7))).kind, Envelope::kWire);
  const Envelope local =
      Envelope::Of(Envelope::kLocal, LocalNumbered(8), kNoActor, kEnvelopeTo);
  const Envelope kept = KeepEnvelope(local);
  EXPECT_EQ(kept.kind, Envelope::kLocal);
  EXPECT_EQ(kept.As<LocalMessage>().step, 8u);
}

TEST(EnvelopeBodyTest, AKeptControlMessageHasItsOwnBytes) {
  const Envelope envelope = ControlEnvelope("text");
  const Envelope kept = KeepEnvelope(envelope);
  EXPECT_NE(kept.As<std::string*>(), envelope.As<std::string*>());
  DropEnvelope(envelope);
  EXPECT_EQ(*kept.As<std::string*>(), "text");
  DropEnvelope(kept);
}

TEST(EnvelopeBodyTest, DropFreesABodyInsideALaterMessage) {
  ControlBody* const body = TestBody::New("text");
  const Envelope inner =
      Envelope::Of(Envelope::kBody, body, kEnvelopeFrom, kEnvelopeTo);
  const Envelope later = Envelope::Of(Envelope::kLater, new Posted{10, inner},
                                      kNoActor, kEnvelopeTo);
  EXPECT_EQ(TestBody::held.load(), 1);
  DropEnvelope(later);
  EXPECT_EQ(TestBody::held.load(), 0);
}

TEST(EnvelopeBodyTest, QueueFollowsKindAndFlags) {
  LocalMessage turn = LocalNumbered(1);
  EXPECT_EQ(QueueOf(turn), kDirectQueue);
  turn.flags = kTurn;
  EXPECT_EQ(QueueOf(turn), kTurnQueue);
  EXPECT_EQ(
      QueueOf(Envelope::Of(Envelope::kLocal, turn, kNoActor, kEnvelopeTo)),
      kTurnQueue);
  EXPECT_EQ(QueueOf(WireEnvelope(Numbered(1))), kDirectQueue);
  const char payload = 'a';
  const Envelope bulk = WireEnvelope(Numbered(1, kBlockMessage), {&payload, 1});
  EXPECT_EQ(QueueOf(bulk), kBulkQueue);
  const Envelope owned = KeepEnvelope(bulk);
  EXPECT_EQ(owned.kind, Envelope::kOwned);
  EXPECT_EQ(QueueOf(owned), kBulkQueue);
  DropEnvelope(owned);
  const Envelope control = ControlEnvelope("text");
  EXPECT_EQ(QueueOf(control), kDirectQueue);
  DropEnvelope(control);
}

TEST(EnvelopeBodyTest, OnlyLargeMessagesMayTakeLong) {
  const std::vector<char> payload(4097);
  EXPECT_FALSE(MayTakeLong(WireEnvelope(Numbered(1), {payload.data(), 4096})));
  EXPECT_TRUE(MayTakeLong(WireEnvelope(Numbered(1), {payload.data(), 4097})));
  EXPECT_FALSE(MayTakeLong(
      Envelope::Of(Envelope::kLocal, LocalNumbered(1), kNoActor, kEnvelopeTo)));
  for (size_t bytes : {4096, 4097}) {
    const Envelope control = ControlEnvelope(std::string(bytes, 'a'));
    EXPECT_EQ(MayTakeLong(control), bytes == 4097);
    DropEnvelope(control);
  }
}

}  // namespace
}  // namespace pathways
