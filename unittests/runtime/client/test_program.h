//===- test_program.h - A loaded program for unit tests ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_TEST_PROGRAM_H_
#define UNITTESTS_RUNTIME_CLIENT_TEST_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/client/loaded_programs.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/topology/topology.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {

// Returns the plan of program "twice", y = 2 * u on one device, prepared for
// the topology.
inline std::shared_ptr<const PreparedPlan> PlanForTest(
    const Topology& topology) {
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> plan =
      PreparedPlan::Create(
          MakePlanData(ChainBuilder({.name = "twice", .slice = {.shards = 1}})
                           .Feed("u")
                           .Run("twice", "twice1")
                           .Fetch("y")
                           .Finish(),
                       {}),
          topology, &Kernels(), /*has_values=*/true);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// Returns that program. `handle`: the controller's number.
inline SharedProgram ProgramForTest(uint64_t handle) {
  static const Topology topology = *Topology::Create(MakeCluster("1x2x1"));
  const auto plan = PlanForTest(topology);
  return std::make_shared<const LoadedProgram>(handle, plan, plan,
                                               /*has_values=*/true);
}

// Returns an open run of a program.
inline std::shared_ptr<RunState> RunForTest(uint64_t id,
                                            const LoadedProgram& program) {
  auto run = std::make_shared<RunState>();
  run->id = id;
  run->program_handle = program.handle();
  run->names =
      std::make_shared<const ProgramNames>(ProgramNames{program.name(), {}});
  return run;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_TEST_PROGRAM_H_
