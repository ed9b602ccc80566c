//===- random_plan.h - Random valid plans -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans of great variety for tests of the verifier, the executor and the tools.
// They keep every rule of docs/plan-format.md by construction. Gangs have no
// code: they cost time, and some run collectives.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_
#define RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_

#include <cstdint>

#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

struct RandomPlanOptions {
  int islands = 2;             // slices are bound to islands 0 .. islands - 1
  int devices_per_island = 4;  // bound to devices 0 .. devices_per_island - 1
  int max_slices = 4;          // several may share devices
  int max_actions = 40;        // approximate; at least a handful
  uint32_t max_steps_in_flight = 4;
  int64_t max_dimension = 9;    // in elements; may be empty or uneven
  uint64_t max_cost_ns = 2000;  // of one gang
  bool collectives = true;
  bool moves = true;
  bool controls = true;
  bool memory_sharing = true;  // reuse, aliases
  bool carried = true;         // carried and stepped arguments
  // Cuts some slices over several islands; everything else is as without it.
  bool spanning = false;
  // Arguments and results may be partial, including carried ones.
  bool contributions = false;
};

// Returns a plan. Equal arguments give equal plans.
proto::Plan RandomPlan(uint64_t seed, const RandomPlanOptions& options = {});

}  // namespace pathways::testing

#endif  // RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_
