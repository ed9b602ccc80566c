//===- recurrence.h - A program with state, to be recovered -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_RECURRENCE_H_
#define UNITTESTS_RUNTIME_CLIENT_RECURRENCE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "runtime/cluster/sim_cluster.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {

inline constexpr int64_t kSteps = 10;

// w, which is carried, becomes 2 w + x + c + the number of the step; x has
// another value at each step, c the same. Results: w, and what it is after each
// step.
inline proto::Plan RecurrencePlan(const std::string& name, int64_t base = 0,
                                  uint64_t cost_ns = 0) {
  PlanBuilder b(name, 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}}, /*island=*/0, base);
  const auto buffer = [&](const char* of) {
    return b.AddBuffer(of, s, Rows({2}), 2);
  };
  const uint32_t w = buffer("w"), x = buffer("x"), c = buffer("c"),
                 twice = buffer("twice"), sum = buffer("sum"),
                 w2 = buffer("w2");
  const uint32_t feed = b.AddFeed("w", w);
  b.AddFeed("x", x, /*stepped=*/true);
  b.AddFeed("c", c);
  AddRun(b, b.AddGang("double", s, {w}, {twice}, cost_ns), "twice1");
  AddRun(b, b.AddGang("add_x", s, {twice, x}, {sum}), "add1");
  AddRun(b, b.AddGang("add_c", s, {sum, c}, {w2}), "add_step1");
  const uint32_t fetch = b.AddFetch("w2", w2);
  b.AddFetch("all", w2, /*stepped=*/true);
  b.Carry(feed, fetch);
  return b.Finish();
}

struct Values3 {
  HostArray w = Floats({2}, {1, -1});
  HostArray x;
  HostArray c = Floats({2}, {0.5, 0.25});
  int64_t first_step = 0;
  Values3() {
    std::vector<float> steps;
    for (int64_t i = 0; i < 2 * kSteps; ++i) {
      steps.push_back(static_cast<float>(i % 7) - 3);
    }
    x = Floats({kSteps, 2}, steps);
  }
  LaunchArguments Arguments() const {
    LaunchArguments arguments;
    arguments.emplace_back(w);
    arguments.emplace_back(x);
    arguments.emplace_back(c);
    return arguments;
  }
  // w after the step, from 1.
  std::vector<float> After(int64_t step) const {
    std::vector<float> now = Values(w);
    const std::vector<float> xs = Values(x), cs = Values(c);
    for (int64_t i = 0; i < step; ++i) {
      for (int d = 0; d < 2; ++d) {
        now[d] = 2 * now[d] + xs[2 * i + d] + cs[d] +
                 static_cast<float>(first_step + i);
      }
    }
    return now;
  }
  std::vector<float> AllAfter(int64_t first) const {
    std::vector<float> all;
    for (int64_t step = first + 1; step <= kSteps; ++step) {
      const std::vector<float> now = After(step);
      all.insert(all.end(), now.begin(), now.end());
    }
    return all;
  }
};

// Checks the results of a run, and releases them.
inline void ExpectRight(Client& client, const RecoveredResults& results,
                        const Values3& values = {}) {
  ASSERT_EQ(results.arrays.size(), 2u);
  const absl::StatusOr<HostArray> w = client.Get(results.arrays[0]);
  const absl::StatusOr<HostArray> all = client.Get(results.arrays[1]);
  ASSERT_TRUE(w.ok()) << w.status();
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(Values(*w), values.After(kSteps));
  EXPECT_EQ(Values(*all), values.AllAfter(results.report.resumed_at));
  for (ArrayHandle array : results.arrays) {
    EXPECT_TRUE(client.Release(array).ok());
  }
}

// A simulation with these faults, a schedule as text.
inline std::unique_ptr<SimCluster> Open(const std::string& faults,
                                        uint64_t seed,
                                        const std::string& topology) {
  ClusterOptions options = Sim(seed);
  options.kernels = &Kernels();
  SimCluster::Parts parts;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(faults, &parts.faults))
      << faults;
  auto made =
      SimCluster::Create(MakeCluster(topology), options, std::move(parts));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_RECURRENCE_H_
