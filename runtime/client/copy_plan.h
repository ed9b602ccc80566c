//===- copy_plan.h - A program that copies arrays elsewhere -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_COPY_PLAN_H_
#define RUNTIME_CLIENT_COPY_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

namespace pathways {

// A program that takes what each carried argument of `plan` is after a step, in
// their order, where `plan` leaves it, and returns it, checkpoint in the same
// way, on hosts that `plan` does not use and whose devices are not `away`, by
// global device: of the island that it is on if that has such hosts, else of
// the first that has. Shards are dealt out evenly. It runs no code.
// ResourceExhausted: no island has another host of that kind of device.
absl::StatusOr<PlanData> MakeCopyPlan(const PreparedPlan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& away);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COPY_PLAN_H_
