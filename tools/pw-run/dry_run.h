//===- dry_run.h - Tables of the costs of a plan ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_DRY_RUN_H_
#define TOOLS_PW_RUN_DRY_RUN_H_

#include <string>

#include "runtime/binding/plan_cost.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"

namespace pathways::pw_run {

// Returns tables, with one row for consecutive devices of the same cost.
std::string DryRunText(const PlanCost& cost, const Topology& topology);

// Returns the slices, their devices, and what runs on them.
std::string PlacementText(const proto::Plan& plan, const Topology& topology);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_DRY_RUN_H_
