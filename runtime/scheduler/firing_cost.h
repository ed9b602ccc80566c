//===- firing_cost.h - Estimated time of a firing ---------------*- C++ -*-===//
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

// Estimated time of one firing, in nanoseconds, from the costs of the plan's
// gangs. A gang without a cost counts as 1 us.
struct FiringCost {
  double total_ns = 1;       // if no gangs overlap
  double bottleneck_ns = 1;  // work of the busiest device
  // The critical path minus bottleneck_ns, at least 0. Devices idle for this
  // long when the program's firings begin after another program's.
  double fill_ns = 0;
};
FiringCost CostOf(const PreparedPlan& plan);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_FIRING_COST_H_
