//===- firing_cost.h - What a firing of a program takes ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_FIRING_COST_H_
#define RUNTIME_SCHEDULER_FIRING_COST_H_

#include "runtime/binding/prepared_plan.h"

namespace pathways {

// By the costs of the plan's gangs, in nanoseconds; a gang without a cost
// counts as one of 1 us.
struct FiringCost {
  double total_ns = 1;       // if nothing overlaps
  double bottleneck_ns = 1;  // on the device that has most to do
  // From the first gang to the last one, along what each waits for, beyond the
  // bottleneck: for so long devices wait for work when firings follow each
  // other after others have had the devices.
  double fill_ns = 0;
};
FiringCost CostOf(const PreparedPlan& plan);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FIRING_COST_H_
