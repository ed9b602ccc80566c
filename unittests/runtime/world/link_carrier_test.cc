//===- link_carrier_test.cc - Faults and costs between hosts --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link_carrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/world/envelope_body.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

// Actors 0 and 1 are on host 0, and actor 2 is on host 1.
struct LinkCarrierTest : ::testing::Test {
  LinkCarrierTest() {
    for (int host : {0, 0, 1}) {
      Placement place;
      place.host = host;
      const auto address = static_cast<ActorId>(ids.size());
      ids.push_back(actors.Add(&actor, place, "actor", address));
    }
  }
  ~LinkCarrierTest() override { workers.DropAll(); }

  void Make(std::optional<LinkModels> links, FaultHook hook = nullptr,
            ControlFaultHook control_hook = nullptr) {
    carrier.emplace(std::move(links), std::move(hook), std::move(control_hook),
                    &clock, &actors, &router);
  }
  void MakeWith(const Fault& fault) {
    Make(std::nullopt,
         [fault](ActorId, ActorId, const WireMessage&) { return fault; });
  }
  void Send(uint64_t step, Payload payload = Payload()) {
    carrier->Send(self, 0, 2, ids[2], {Numbered(step), payload});
  }
  // Takes the next message; nullopt if there is none.
  std::optional<Envelope> Take() {
    Envelope* envelope = self.mailbox.FrontOwn(kDirectQueue);
    if (envelope == nullptr) return std::nullopt;
    const Envelope taken = *envelope;
    self.mailbox.PopOwn(kDirectQueue);
    return taken;
  }
  // Expects a message that is due at once or, if `time` is not negative, then.
  void Expect(uint64_t step, TimeNs time = -1) {
    std::optional<Envelope> envelope = Take();
    ASSERT_TRUE(envelope.has_value());
    EXPECT_EQ(envelope->to, IndexOf(ids[2]));
    if (time >= 0) {
      ASSERT_EQ(envelope->kind, Envelope::kLater);
      const std::unique_ptr<Posted> posted(envelope->As<Posted*>());
      EXPECT_EQ(posted->deadline, time);
      envelope = posted->envelope;
    }
    ASSERT_EQ(envelope->kind, Envelope::kWire);
    EXPECT_EQ(envelope->As<WireBody>().message.step, step);
  }

  TestActor actor;
  std::shared_ptr<ManualClock> source = std::make_shared<ManualClock>();
  WorldClock clock{source};
  ActorTable actors;
  WorkerSet workers{1, /*seed=*/1};
  ThreadWorker& self = workers[0];
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  std::vector<LocalId> ids;
  std::optional<LinkCarrier> carrier;
};

TEST_F(LinkCarrierTest, CarriesOnlyMessagesBetweenHosts) {
  Make(std::nullopt);
  EXPECT_FALSE(carrier->is_active());
  EXPECT_FALSE(carrier->Carries(0, ids[2]));
  MakeWith(Fault::Deliver());
  EXPECT_TRUE(carrier->is_active());
  EXPECT_TRUE(carrier->Carries(0, ids[2]));
  EXPECT_FALSE(carrier->Carries(0, ids[1]));
  EXPECT_FALSE(carrier->Carries(kNoActor, ids[2]));
}

TEST_F(LinkCarrierTest, FaultsAreAppliedAndCounted) {
  source->Advance(100);
  MakeWith(Fault::Deliver());
  Send(1);
  Expect(1);
  EXPECT_EQ(carrier->faults(), 0u);
  MakeWith(Fault::Drop());
  Send(2);
  EXPECT_FALSE(Take().has_value());
  EXPECT_EQ(carrier->faults(), 1u);
  MakeWith(Fault::Duplicate(5));
  Send(3);
  Expect(3);
  Expect(3, 105);
  MakeWith(Fault::Delay(7));
  Send(4);
  Expect(4, 107);
  EXPECT_FALSE(Take().has_value());
}

TEST_F(LinkCarrierTest, ADuplicateOwnsItsBytes) {
  Make(std::nullopt, nullptr, [](ActorId, ActorId, std::string_view bytes) {
    EXPECT_EQ(bytes, "text");
    return Fault::Duplicate(5);
  });
  carrier->SendControl(self, 0, 2, ids[2], "text");
  const std::optional<Envelope> first = Take(), second = Take();
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*first->As<std::string*>(), "text");
  DropEnvelope(*first);
  ASSERT_EQ(second->kind, Envelope::kLater);
  EXPECT_EQ(*second->As<Posted*>()->envelope.As<std::string*>(), "text");
  DropEnvelope(*second);
}

TEST_F(LinkCarrierTest, AWireCarriesOneMessageAtATime) {
  LinkModels links;
  links.ici.latency_ns = 10;
  links.ici.bytes_per_second = 1e9;  // a byte takes 1 ns
  Make(links);
  source->Advance(100);
  const auto header = static_cast<TimeNs>(kHeaderBytes);
  Send(1, {nullptr, 36});
  Expect(1, 100 + header + 36 + 10);
  Send(2);
  Expect(2, 100 + header + 36 + header + 10);
}

}  // namespace
}  // namespace pathways
