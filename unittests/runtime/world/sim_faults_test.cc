//===- sim_faults_test.cc - Faults of messages in a simulation --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_faults.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pathways {
namespace {

constexpr FaultRates kAll = {
    .drop = .1, .duplicate = .2, .delay = .3, .reorder = .4};

FaultModel Messages(const FaultRates& rates) {
  FaultModel model;
  model.messages = rates;
  return model;
}

using Fields = std::tuple<bool, bool, bool, TimeNs, TimeNs>;

Fields FieldsOf(const FaultOutcome& o) {
  return {o.dropped, o.duplicated, o.overtaken, o.extra_ns, o.duplicate_ns};
}

std::vector<Fields> Draw(FaultModel model, uint64_t seed, int count) {
  SimFaults faults(std::move(model), seed);
  std::vector<Fields> outcomes;
  for (int i = 0; i < count; ++i) {
    outcomes.push_back(FieldsOf(faults.OfMessage(0, 1, {})));
  }
  return outcomes;
}

TEST(SimFaultsTest, NothingHappensWithoutRatesAndHooks) {
  SimFaults faults({}, 1);
  EXPECT_EQ(FieldsOf(faults.OfMessage(0, 1, {})), FieldsOf({}));
  EXPECT_EQ(FieldsOf(faults.OfControl(0, 1, "")), FieldsOf({}));
  EXPECT_EQ(faults.counts().dropped, 0u);
}

TEST(SimFaultsTest, TheSeedDecides) {
  const FaultModel model = Messages(kAll);
  EXPECT_EQ(Draw(model, 7, 100), Draw(model, 7, 100));
  EXPECT_NE(Draw(model, 7, 100), Draw(model, 8, 100));
}

TEST(SimFaultsTest, CountsWhatItDecides) {
  SimFaults faults(Messages(kAll), 3);
  FaultCounts counts;
  for (int i = 0; i < 10'000; ++i) {
    const FaultOutcome outcome = faults.OfMessage(0, 1, {});
    EXPECT_LE(outcome.extra_ns, kAll.max_extra_ns);
    EXPECT_LE(outcome.duplicate_ns, kAll.max_extra_ns);
    counts.dropped += outcome.dropped;
    counts.duplicated += outcome.duplicated;
    counts.reordered += outcome.overtaken;
    counts.delayed += outcome.extra_ns > 0 && !outcome.overtaken;
    if (!outcome.dropped) continue;
    EXPECT_FALSE(outcome.duplicated || outcome.overtaken);
    EXPECT_EQ(outcome.extra_ns, 0);
  }
  EXPECT_EQ(faults.counts().dropped, counts.dropped);
  EXPECT_EQ(faults.counts().duplicated, counts.duplicated);
  EXPECT_EQ(faults.counts().reordered, counts.reordered);
  // A delay may be 0 ns.
  EXPECT_NEAR(faults.counts().delayed, counts.delayed, 5);
  EXPECT_NEAR(faults.counts().dropped, 1000, 150);
  EXPECT_NEAR(faults.counts().duplicated, .9 * 2000, 150);
  EXPECT_NEAR(faults.counts().reordered, .9 * 4000, 200);
  EXPECT_NEAR(faults.counts().delayed, .9 * .6 * 3000, 150);
}

// A planted fault draws no random number: the other messages get the same
// faults as without it.
TEST(SimFaultsTest, HooksAreAskedFirst) {
  FaultModel model = Messages(kAll);
  const std::vector<Fields> plain = Draw(model, 5, 50);
  const Fault planted[] = {Fault::Drop(), Fault::Duplicate(40),
                           Fault::Delay(50)};
  model.message_hook = [&](ActorId from, ActorId to, const WireMessage& m) {
    EXPECT_EQ(from, 2u);
    EXPECT_EQ(to, 3u);
    return m.kind < 3 ? planted[m.kind] : Fault::Deliver();
  };
  SimFaults faults(std::move(model), 5);
  std::vector<Fields> outcomes;
  for (int i = 0; i < 200; ++i) {
    WireMessage message;
    message.kind = i % 4;
    const FaultOutcome outcome = faults.OfMessage(2, 3, message);
    switch (message.kind) {
      case 0:
        EXPECT_EQ(FieldsOf(outcome), FieldsOf({.dropped = true}));
        break;
      case 1:
        EXPECT_EQ(FieldsOf(outcome),
                  FieldsOf({.duplicated = true, .duplicate_ns = 40}));
        break;
      case 2:
        EXPECT_EQ(FieldsOf(outcome),
                  FieldsOf({.overtaken = true, .extra_ns = 50}));
        break;
      default:
        outcomes.push_back(FieldsOf(outcome));
    }
  }
  EXPECT_EQ(outcomes, plain);
  EXPECT_GE(faults.counts().dropped, 50u);
  EXPECT_GE(faults.counts().duplicated, 50u);
  EXPECT_GE(faults.counts().delayed, 50u);
}

// Faults of hot messages do not affect control messages, and vice versa.
TEST(SimFaultsTest, ControlMessagesHaveTheirOwn) {
  const std::vector<Fields> plain = Draw(Messages(kAll), 5, 50);
  std::vector<std::string_view> asked;
  FaultModel model = Messages(kAll);
  model.control_hook = [&](ActorId, ActorId, std::string_view bytes) {
    asked.push_back(bytes);
    return bytes == "lost" ? Fault::Drop() : Fault::Deliver();
  };
  SimFaults faults(std::move(model), 5);
  std::vector<Fields> outcomes;
  for (int i = 0; i < 50; ++i) {
    outcomes.push_back(FieldsOf(faults.OfMessage(0, 1, {})));
    EXPECT_EQ(FieldsOf(faults.OfControl(0, 1, "kept")), FieldsOf({}));
    EXPECT_TRUE(faults.OfControl(0, 1, "lost").dropped);
  }
  EXPECT_EQ(outcomes, plain);
  EXPECT_EQ(asked.size(), 100u);
  FaultModel unresponsive;
  unresponsive.controls.drop = 1;
  SimFaults all(std::move(unresponsive), 5);
  EXPECT_TRUE(all.OfControl(0, 1, "").dropped);
  EXPECT_FALSE(all.OfMessage(0, 1, {}).dropped);
}

// Between hosts, the rates drop messages. The connection of a client (-2)
// delays them by the longest delay instead, and no later message overtakes.
TEST(SimFaultsTest, ConnectionsLoseNothingUntilTheyEnd) {
  SimFaults faults({}, 1);
  LinkFault lossy;
  lossy.controls = {.drop = 1, .max_extra_ns = 70};
  const int number = faults.Begin(lossy);
  FaultOutcome of_host;
  faults.AddLinkFaults(0, -1, /*is_control=*/true, &of_host);
  EXPECT_TRUE(of_host.dropped);
  for (const auto& [from, to] : {std::pair(-2, -1), std::pair(-1, -2)}) {
    FaultOutcome of_client;
    faults.AddLinkFaults(from, to, /*is_control=*/true, &of_client);
    EXPECT_EQ(FieldsOf(of_client), FieldsOf({.extra_ns = 70}));
  }
  EXPECT_EQ(faults.counts().dropped, 1u);
  EXPECT_EQ(faults.counts().delayed, 2u);
  faults.End(number);
  LinkFault ended;
  ended.some = {-2};
  ended.cut = LinkFault::kLoses;
  EXPECT_TRUE(ended.Parts(-1, -2));
  EXPECT_FALSE(ended.Parts(-1, -3));
  faults.Begin(ended);
  FaultOutcome of_client;
  faults.AddLinkFaults(-2, -1, /*is_control=*/true, &of_client);
  EXPECT_TRUE(of_client.dropped);
}

}  // namespace
}  // namespace pathways
