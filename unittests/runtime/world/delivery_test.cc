//===- delivery_test.cc - Calls of the handlers of actors -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/delivery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/world/peer_watch.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

// Writes what the handlers of one actor get to `log`.
struct DeliveryTest : ::testing::Test {
  DeliveryTest() {
    to = actors.Add(&actor, {}, "actor", 4);
    actor.on_message = [this](ActorId from, const WireMessage& message) {
      log.push_back("wire " + std::to_string(message.step) + " from " +
                    std::to_string(from));
    };
    actor.on_local = [this](const LocalMessage& message) {
      log.push_back("local " + std::to_string(message.step));
    };
    actor.on_control = [this](ActorId, std::string_view bytes) {
      log.push_back("control " + std::string(bytes));
    };
    actor.on_peer_down = [this](int32_t host, uint32_t epoch) {
      log.push_back("down " + std::to_string(host) + " " +
                    std::to_string(epoch));
    };
  }
  ~DeliveryTest() override { workers.DropAll(); }

  template <typename T>
  bool Deliver(Envelope::Kind kind, const T& body) {
    Envelope envelope = Envelope::Of(kind, body, 3, to);
    const bool handled = delivery->Deliver(self, envelope);
    // The worker may drop the message with its queue after the handler.
    if (kind != Envelope::kOwned && kind != Envelope::kLater) {
      DropEnvelope(envelope);
    }
    return handled;
  }

  TestActor actor;
  ActorTable actors;
  WorkerSet workers{1, /*seed=*/1};
  ThreadWorker& self = workers[0];
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  std::unique_ptr<Uplink> uplink = std::make_unique<Uplink>(RemoteChannel());
  std::unique_ptr<Delivery> delivery =
      std::make_unique<Delivery>(&actors, &router, uplink.get());
  LocalId to = kNobody;
  std::vector<std::string> log;
};

TEST_F(DeliveryTest, EachKindHasItsHandler) {
  EXPECT_TRUE(Deliver(Envelope::kLocal, LocalNumbered(1)));
  EXPECT_TRUE(Deliver(Envelope::kWire, WireBody{Numbered(2), {}}));
  EXPECT_TRUE(Deliver(Envelope::kControl, new std::string("text")));
  ControlBody* const body = TestBody::New("body");
  EXPECT_TRUE(Deliver(Envelope::kBody, body));
  EXPECT_TRUE(
      Deliver(Envelope::kPeer, PeerWatch::News{{/*host=*/5, 6}, false}));
  EXPECT_EQ(
      log, (std::vector<std::string>{"local 1", "wire 2 from 3", "control text",
                                     "control body", "down 5 6"}));
  EXPECT_EQ(TestBody::held.load(), 0);
  EXPECT_EQ(workers.stats(0).controls, 2u);
}

TEST_F(DeliveryTest, AnOwnedPayloadIsFreedAfterItsHandler) {
  const char payload = 'a';
  const Envelope kept = KeepEnvelope(Envelope::Of(
      Envelope::kWire, WireBody{Numbered(2), {&payload, 1}}, 3, to));
  ASSERT_EQ(kept.kind, Envelope::kOwned);
  EXPECT_TRUE(Deliver(Envelope::kOwned, kept.As<WireBody>()));
  EXPECT_EQ(actor.payload.bytes, 1u);
  EXPECT_NE(actor.payload.data, &payload);
  EXPECT_EQ(log, std::vector<std::string>{"wire 2 from 3"});
}

TEST_F(DeliveryTest, AMessageForLaterBecomesATimer) {
  const Envelope inner =
      Envelope::Of(Envelope::kLocal, LocalNumbered(1), kNoActor, to);
  EXPECT_FALSE(Deliver(Envelope::kLater, new Posted{7, inner}));
  EXPECT_TRUE(log.empty());
  ASSERT_NE(self.mailbox.first_timer(), nullptr);
  EXPECT_EQ(*self.mailbox.first_timer(), 7);
}

TEST_F(DeliveryTest, ALentPayloadGoesBackToItsOwner) {
  const char payload = 'a';
  EXPECT_TRUE(Deliver(
      Envelope::kLent,
      new LentBody{{Numbered(2), {&payload, 1}}, to, LocalNumbered(9)}));
  EXPECT_EQ(actor.payload.data, &payload);
  EXPECT_EQ(log, std::vector<std::string>{"wire 2 from 3"});
  const Envelope* returned = self.mailbox.FrontOwn(kDirectQueue);
  ASSERT_NE(returned, nullptr);
  EXPECT_EQ(returned->to, IndexOf(to));
  EXPECT_EQ(returned->As<LocalMessage>().step, 9u);
}

TEST_F(DeliveryTest, AnOfferIsAnsweredByItsReceiver) {
  char memory = 0;
  actor.on_offer = [&](const WireMessage& message, uint64_t bytes) {
    EXPECT_EQ(message.step, 2u);
    EXPECT_EQ(bytes, 100u);
    return ReceiveBuffer{&memory, {}};
  };
  RemoteChannel channel;
  channel.take = [&](uint64_t offer, LocalId owner, const ReceiveBuffer&) {
    EXPECT_EQ(owner, to);
    log.push_back("take " + std::to_string(offer));
  };
  uplink = std::make_unique<Uplink>(std::move(channel));
  delivery = std::make_unique<Delivery>(&actors, &router, uplink.get());
  const Payload offered = {reinterpret_cast<const void*>(uint64_t{8}), 100};
  EXPECT_TRUE(Deliver(Envelope::kOffer, WireBody{Numbered(2), offered}));
  EXPECT_EQ(log, std::vector<std::string>{"take 8"});
}

TEST_F(DeliveryTest, StagedMessagesDoNotWaitForALargeMessage) {
  struct Stage final : UplinkStage {
    explicit Stage(std::vector<std::string>* log) : log(*log) {}
    bool Send(ActorId, ActorId, const WireMessage&, Payload) override {
      return true;
    }
    bool SendControl(ActorId, ActorId, std::string) override { return true; }
    void Flush() override { log.push_back("flush"); }
    std::vector<std::string>& log;
  };
  self.stage = std::make_unique<Stage>(&log);
  self.staged = true;
  Deliver(Envelope::kLocal, LocalNumbered(1));
  EXPECT_TRUE(self.staged);
  const std::vector<char> payload(1 << 16);
  Deliver(Envelope::kWire,
          WireBody{Numbered(2), {payload.data(), payload.size()}});
  EXPECT_FALSE(self.staged);
  EXPECT_EQ(log,
            (std::vector<std::string>{"local 1", "flush", "wire 2 from 3"}));
}

}  // namespace
}  // namespace pathways
