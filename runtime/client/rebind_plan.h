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

// Returns the slices of `plan`, which must have passed VerifyPlan and fit the
// cluster, without the devices that `avoid` marks (by global device). What was
// on one device stays on one device, what was on one island on one island, and
// different islands stay different, so movements and memory are the same; only
// what must move does. Other devices of the island are tried first, then an
// island that the plan does not use. With `oversubscribe`, if neither has
// enough devices, several of the plan's devices become one, and islands may
// become one, too. A device is only replaced by one of the same kind and
// target, so the bits stay. Returns ResourceExhausted, with both numbers, if
// there are too few devices; InvalidArgument if the plan does not fit.
absl::StatusOr<PlanSlices> RebindPlan(const proto::Plan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& avoid,
                                      bool oversubscribe);

// Returns the devices that a plan is on, by island.
std::map<int, std::set<int64_t>> DevicesByIsland(const PlanBinding& binding,
                                                 const Topology& topology);

// Returns the slices of `plan`, which is bound as `binding` says, with each
// device replaced by that of `place`, if it has one. Devices of one island must
// go to devices of one island, of the same kind and target.
PlanSlices PlacePlan(const proto::Plan& plan, const PlanBinding& binding,
                     const Topology& topology,
                     const std::map<int64_t, int64_t>& place);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REBIND_PLAN_H_
