//===- kept_plans.h - Plans that outlive a cluster --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_KEPT_PLANS_H_
#define RUNTIME_NODE_KEPT_PLANS_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/binding/plan_index.h"

namespace pathways {

// The plans of a worker between two memberships in clusters, so that it need
// not receive them again. Plans are bound to machines: plans for other machines
// are dropped. One thread at a time may use it.
class KeptPlans {
 public:
  // `machines`: text of everything that the plans were bound to.
  void Leave(std::string machines, std::vector<KeptPlan> plans) {
    machines_ = std::move(machines);
    plans_ = std::move(plans);
  }
  std::vector<KeptPlan> Take(const std::string& machines) {
    std::vector<KeptPlan> plans = std::exchange(plans_, {});
    if (machines != machines_) plans.clear();
    return plans;
  }

 private:
  std::string machines_;
  std::vector<KeptPlan> plans_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_KEPT_PLANS_H_
