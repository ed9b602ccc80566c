//===- policy.cc - Choice of the next grant -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/policy.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/scheduler/deadline_policy.h"
#include "runtime/scheduler/fair_share_policy.h"
#include "runtime/scheduler/fifo_policy.h"
#include "runtime/scheduler/priority_policy.h"

namespace pathways {

bool Claim::Inherit(const Claim& other) {
  if (other.priority <= priority && other.deadline >= deadline) return false;
  priority = std::max(priority, other.priority);
  deadline = std::min(deadline, other.deadline);
  return true;
}

absl::StatusOr<std::unique_ptr<SchedulingPolicy>> MakePolicy(
    const std::string& name) {
  if (name == "priority") return std::make_unique<PriorityPolicy>();
  if (name == "fair") return std::make_unique<FairSharePolicy>();
  if (name == "fifo") return std::make_unique<FifoPolicy>();
  if (name == "deadline") return std::make_unique<DeadlinePolicy>();
  return absl::InvalidArgumentError(
      absl::StrCat("unknown scheduling policy '", name, "', expected one of ",
                   absl::StrJoin(kPolicyNames, ", ")));
}

}  // namespace pathways
