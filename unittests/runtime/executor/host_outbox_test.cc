//===- host_outbox_test.cc - Messages that a host sends -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/executor/outbox_test_support.h"

namespace pathways::testing {
namespace {

class HostOutboxTest : public OutboxTest {
 protected:
  HostOutboxTest() {
    program_.program = 2;
    program_.incarnation = 7;
  }
  WireMessage Token() const {
    WireMessage message;
    message.kind = kTokenMessage;
    message.program = program_.program;
    message.incarnation = program_.incarnation;
    return message;
  }

  HostProgram program_;
};

TEST_F(HostOutboxTest, NumbersMessagesToAHostAnewInEachOfItsEpochs) {
  outbox_.SendToHost(&program_, 1, Token());
  outbox_.SendToHost(&program_, 1, Token());
  outbox_.Advance(1, 4);
  outbox_.SendToHost(&program_, 1, Token());
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 3u);
  const std::vector<std::pair<uint32_t, uint64_t>> expected = {
      {3, 1}, {3, 2}, {4, 1}};  // epoch, sequence
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].wire.from_epoch, 3u);
    EXPECT_EQ(sent[i].wire.to_epoch, expected[i].first);
    EXPECT_EQ(sent[i].wire.sequence, expected[i].second);
  }
  EXPECT_EQ(counters_.messages.get(), 3u);
  EXPECT_EQ(counters_.sent[kTokenMessage].get(), 3u);
}

TEST_F(HostOutboxTest, AcceptsEachMessageOnceAndOnlyOfTheCurrentEpochs) {
  WireMessage message = Token();
  message.from_epoch = message.to_epoch = 3;
  message.sequence = 1;
  EXPECT_EQ(outbox_.Accept(1, message), PeerLink::kNew);
  EXPECT_EQ(outbox_.Accept(1, message), PeerLink::kSecondCopy);
  outbox_.Advance(1, 4);
  EXPECT_EQ(outbox_.Accept(1, message), PeerLink::kOtherEpoch);
  message.from_epoch = 4;
  EXPECT_EQ(outbox_.Accept(1, message), PeerLink::kNew);
}

TEST_F(HostOutboxTest, IgnoresEpochsOfItselfAndOfUnknownHosts) {
  outbox_.Advance(-1, 9);
  outbox_.Advance(2, 9);
  outbox_.Advance(0, 9);
  EXPECT_EQ(outbox_.restarts(), 2u);
}

TEST_F(HostOutboxTest, CountsLargePayloadsThatAreLent) {
  const std::string bytes(kMinLentBytes, 'x');
  outbox_.SendToHost(&program_, 1, Token(), {bytes.data(), bytes.size()});
  EXPECT_EQ(program_.payloads_away, 0u);  // this world sends it
  world.lends = true;
  outbox_.SendToHost(&program_, 1, Token(), {bytes.data(), bytes.size()});
  outbox_.SendToHost(&program_, 1, Token(), {bytes.data(), 1});
  EXPECT_EQ(program_.payloads_away, 1u);
  EXPECT_EQ(counters_.bytes.get(), 2 * bytes.size() + 1);
}

TEST_F(HostOutboxTest, SendsToTheFirstDeviceOfEachCohort) {
  program_.cohort_heads = {1, 0};
  outbox_.SendToCohorts(program_, kArgumentFilled);
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].local_to, actors_.devices[1]);
  EXPECT_EQ(sent[1].local_to, actors_.devices[0]);
  EXPECT_EQ(sent[0].local.kind, kArgumentFilled);
  EXPECT_EQ(sent[0].local.incarnation, 7u);
}

TEST_F(HostOutboxTest, SendsControlMessagesFromTheEpochOfTheHost) {
  outbox_.SendToController(outbox_.New());
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].As<proto::Control>().restarts(), 2u);
}

}  // namespace
}  // namespace pathways::testing
