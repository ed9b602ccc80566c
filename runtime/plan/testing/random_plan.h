//===- random_plan.h - Plans that may run, at random ---------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of the verifier, the executor and the tools: plans of great
// variety that keep every rule of docs/plan-format.md by construction. Gangs
// have no code: they cost time, and some run collectives.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_
#define RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_

#include <cstdint>

#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

struct RandomPlanOptions {
  int islands = 2;             // slices are bound to islands 0 .. islands - 1
  int devices_per_island = 4;  // and to devices 0 .. devices_per_island - 1
  int max_slices = 4;          // several may share devices
  int max_actions = 40;        // about; at least a handful
  uint32_t max_steps_in_flight = 4;
  int64_t max_dimension = 9;    // elements; empty and uneven ones happen
  uint64_t max_cost_ns = 2000;  // of one gang
  bool collectives = true;
  bool moves = true;
  bool controls = true;
  bool memory_sharing = true;  // reuse, aliases
  bool carried = true;         // carried and stepped arguments
  // Some slices are cut over several islands; all else is as without.
  bool spanning = false;
  // Arguments and results may be partial, also those that are carried.
  bool contributions = false;
};

// The same plan for the same arguments, always.
proto::Plan RandomPlan(uint64_t seed, const RandomPlanOptions& options = {});

}  // namespace pathways::testing

#endif  // RUNTIME_PLAN_TESTING_RANDOM_PLAN_H_
