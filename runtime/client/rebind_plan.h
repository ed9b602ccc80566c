//===- rebind_plan.h - A plan on other devices ---------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_REBIND_PLAN_H_
#define RUNTIME_CLIENT_REBIND_PLAN_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/binding/plan_binding.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

namespace pathways {

// The slices of `plan`, which must have passed VerifyPlan and fit the cluster,
// without the devices that `avoid` says, by global device. What was on one
// device is on one device, what was on one island on one island, and on another
// island than what was not, so movements and memory are the same; nothing moves
// that need not. Other devices of the island come first, then an island that
// the plan does not use. With `oversubscribe`, where neither has enough,
// several of its devices become one, and islands may become one too. Only
// devices of the same kind and target take the place of each other, so the bits
// stay. ResourceExhausted: there are too few, with both numbers.
// InvalidArgument: it does not fit.
absl::StatusOr<PlanSlices> RebindPlan(const proto::Plan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& avoid,
                                      bool oversubscribe);

// What of a cluster a plan is on, by island.
std::map<int, std::set<int64_t>> DevicesByIsland(const PlanBinding& binding,
                                                 const Topology& topology);

// The slices of `plan`, which is bound so, with each of its devices replaced by
// what `place` says: those of an island by different ones of one island, of the
// same kind and target.
PlanSlices PlacePlan(const proto::Plan& plan, const PlanBinding& binding,
                     const Topology& topology,
                     const std::map<int64_t, int64_t>& place);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REBIND_PLAN_H_
