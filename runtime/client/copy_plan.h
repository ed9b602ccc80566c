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

// Returns a program that copies what each carried argument of `plan` is after a
// step, in their order, from where `plan` leaves it to hosts that `plan` does
// not use and whose devices are not `away` (by global device). The copies are
// laid out in the same way, on the same island if that has such hosts,
// otherwise on the first island that does; shards are distributed evenly. The
// program runs no code. Returns ResourceExhausted if no island has another host
// with that kind of device.
absl::StatusOr<PlanData> MakeCopyPlan(const PreparedPlan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& away);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COPY_PLAN_H_
