//===- simulate_test.cc - Detection of planted bugs -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/world/mix.h"
#include "unittests/runtime/simulate/draw_faults.h"
#include "unittests/runtime/simulate/draw_scenario.h"
#include "unittests/runtime/simulate/planted_bugs.h"
#include "unittests/runtime/simulate/run_scenario.h"
#include "unittests/runtime/simulate/trial.h"

namespace pathways::simulate {
namespace {

using ::testing::IsEmpty;

TEST(SimulateTest, TheSameSeedTheSameReport) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(DrawScenario(seed).SerializeAsString(),
              DrawScenario(seed).SerializeAsString());
    const Report report = Try(DrawScenario(seed));
    EXPECT_EQ(report.SerializeAsString(),
              Try(DrawScenario(seed)).SerializeAsString());
    EXPECT_EQ(report.SerializeAsString(),
              TryApart(DrawScenario(seed)).SerializeAsString());
    EXPECT_GT(report.events(), 0u);
  }
}

// Each of these failed before something was mended.
TEST(SimulateTest, SeedsThatFoundSomething) {
  for (uint64_t seed : {18u, 692u, 1466u, 2474u, 2918u, 3248u, 5899u, 30017u,
                        36309u, 40046u, 53566u, 502118u, 6021790u, 3168469119u,
                        2907271012u, 2531829446u, 9102003u}) {
    EXPECT_THAT(Try(DrawScenario(seed)).wrong(), IsEmpty()) << seed;
  }
}

// A client dies at any time: all that it had is given back, and what others get
// is what they get alone.
TEST(SimulateTest, AClientDiesAt200Points) {
  int died = 0;
  uint64_t seed = 0;
  for (uint64_t point = 1; point <= 200; ++point) {
    Scenario scenario;
    do {
      scenario = DrawScenario(++seed);
    } while (scenario.tenants_size() < 2);
    scenario.clear_faults();
    proto::Fault* fault = scenario.mutable_faults()->add_faults();
    fault->set_at_control(point);
    fault->mutable_client_death()->set_client(scenario.tenants(0).name());
    const Report report = Try(scenario);
    EXPECT_THAT(report.wrong(), IsEmpty())
        << "seed " << seed << ", control message " << fault->at_control();
    died += report.bad() > 0;
  }
  EXPECT_GT(died, 100);
}

// Calls that wait for something. A client can die in any of them.
constexpr Kind kLongCalls[] = {LOAD, AWAIT,  FETCH,   GET, UNLOAD,
                               WAIT, REBIND, SUSPEND, RUN, RESERVE};
constexpr uint64_t kDeathsInEach = 25;

// The client dies in each call that waits, at any message of that, most often
// when a host is lost as well: the cluster lives, all that the client had is
// given back, and what others get is what they get alone.
TEST(SimulateTest, AClientDiesInEveryCall) {
  std::map<Kind, uint64_t> died;
  for (uint64_t seed = kFirstReserving; seed < kFirstReserving + 2000; ++seed) {
    Scenario scenario = DrawScenario(seed);
    scenario.clear_faults();
    scenario.set_apart(true);
    const Report undisturbed = Try(scenario);
    ASSERT_THAT(undisturbed.wrong(), IsEmpty()) << seed;
    SplitMix random(Mix(seed, 12));
    const absl::StatusOr<Prepared> prepared = Prepare(scenario);
    ASSERT_TRUE(prepared.ok());
    std::set<Kind> tried;  // one of each kind for each seed
    for (const Report::Span& span : undisturbed.spans()) {
      if (span.end() == span.begin() || died[span.kind()] >= kDeathsInEach ||
          !tried.insert(span.kind()).second) {
        continue;
      }
      Scenario deadly = scenario;
      const uint64_t point =
          span.begin() + random.UpTo(span.end() - span.begin() - 1);
      AddDeath(prepared->topology, span.tenant(), point, &random, &deadly);
      const Report report = TryApart(deadly);
      EXPECT_THAT(report.wrong(), IsEmpty())
          << "seed " << seed << ", " << deadly.faults().ShortDebugString();
      for (const Report::Span& last : report.spans()) {
        if (last.died()) ++died[last.kind()];
      }
    }
    if (std::all_of(std::begin(kLongCalls), std::end(kLongCalls),
                    [&](Kind kind) { return died[kind] >= kDeathsInEach; })) {
      break;
    }
  }
  for (Kind kind : kLongCalls) {
    EXPECT_GE(died[kind], kDeathsInEach) << Kind_Name(kind);
  }
}

class PlantedBugTest : public ::testing::TestWithParam<std::string> {};

// With it a seed fails that does not without, and soon.
TEST_P(PlantedBugTest, IsFound) {
  uint64_t found = 0;
  const uint64_t first = GetParam() == kAsTheyComeBug ? kFirstOfLinks : 1;
  TrySeeds(first, 1000, GetParam(), [&](const Report& report) {
    if (report.wrong().empty()) return true;
    if (!TryApart(DrawScenario(report.seed())).wrong().empty()) return true;
    found = report.seed();
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(found),
                report.wrong(0).c_str());
    return false;
  });
  EXPECT_GT(found, 0u);
}

std::vector<std::string> Bugs() {
  std::vector<std::string> names;
  for (const auto& [name, what] : PlantedBugs::All()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedBugTest, ::testing::ValuesIn(Bugs()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(ShrinkTest, WhatIsSmallerFailsAsBefore) {
  Scenario scenario = DrawScenario(1);
  scenario.set_bug("credit-lost");
  Report report = TryApart(scenario);
  ASSERT_FALSE(report.wrong().empty());
  const Scenario small = Shrink(scenario, 200, &report);
  EXPECT_LT(small.ByteSizeLong(), scenario.ByteSizeLong() / 2);
  EXPECT_EQ(small.faults().faults_size(), 0);
  EXPECT_FALSE(report.wrong().empty());
  EXPECT_EQ(Try(small).SerializeAsString(), report.SerializeAsString());
}

}  // namespace
}  // namespace pathways::simulate
