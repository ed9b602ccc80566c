//===- binding_test_support.h - Plans without code --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_BINDING_BINDING_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_BINDING_BINDING_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/topology/topology.h"

namespace pathways::testing {

inline Topology MakeTopology(const std::string& spec) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(spec);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  absl::StatusOr<Topology> topology = Topology::Create(*cluster);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

// `placed`: with the places of arguments and results.
inline std::shared_ptr<const PreparedPlan> Prepare(proto::Plan plan,
                                                   const Topology& topology,
                                                   bool placed = false) {
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
      PreparedPlan::Create(MakePlanData(std::move(plan), {}), topology,
                           /*resolver=*/nullptr, /*runs_code=*/placed);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  return *std::move(prepared);
}

// u, two floats on one device, comes back as z.
inline proto::Plan EchoPlan() {
  return ChainBuilder({.slice = {.shards = 1}, .layout = Rows({2})})
      .Feed("u")
      .Fetch("z")
      .Finish();
}

// v = first(u), an argument, moved to island `to`, where z = second(w): an
// element on each of `size` devices from `base` on.
inline proto::Plan MovePlan(const std::string& name, int64_t size,
                            uint32_t from = 0, uint32_t to = 0,
                            int64_t base = 0, int64_t elements = 0) {
  return ChainBuilder({.name = name,
                       .slice = {.shards = size, .island = from, .base = base},
                       .layout = Rows({elements == 0 ? size : elements})})
      .Feed("u")
      .Gang("first")
      .Move("m", {.shards = size, .island = to, .base = base})
      .Gang("second")
      .Fetch("z")
      .Finish();
}

// The position of an action of `plan`.
inline uint32_t ActionOf(const PreparedPlan& plan, const std::string& name) {
  for (int a = 0; a < plan.plan().actions_size(); ++a) {
    if (plan.plan().actions(a).name() == name) return static_cast<uint32_t>(a);
  }
  ADD_FAILURE() << "no action " << name;
  return 0;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_BINDING_BINDING_TEST_SUPPORT_H_
