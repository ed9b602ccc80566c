//===- place_plan.h - A program that places an array ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PLACE_PLAN_H_
#define RUNTIME_CLIENT_PLACE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "pathways/HostArray.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Returns a program with one argument and one result, "array", which are the
// same buffer: an array of `layout` over `mesh`, whose shards are on `devices`
// (numbers in the cluster, row-major over the mesh). The program runs no code.
// Returns InvalidArgument if the type, the mesh, the layout or the number of
// devices is wrong, if the devices are of several kinds, or if the shards are
// not equal runs, each on an island of its own.
absl::StatusOr<PlanData> MakePlacePlan(const layout::Layout& layout,
                                       const layout::Mesh& mesh,
                                       ElementType element,
                                       const std::vector<int64_t>& devices,
                                       const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PLACE_PLAN_H_
