//===- Shardings.h - Shardings of the API and of the runtime ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_SHARDINGS_H
#define LIB_API_SHARDINGS_H

#include "pathways/Array.h"
#include "runtime/binding/parts.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace pathways {

/// Returns a sharding without devices.
Sharding toSharding(const layout::Layout &layout, const layout::Mesh &mesh);
/// Returns the sharding of an array that is placed so, in one step.
Sharding toSharding(const ArrayPlacement &placement, const Topology &topology);

/// Returns the layout of an array of that shape. Its sharding need not fit it.
layout::Layout toLayout(const std::vector<int64_t> &shape,
                        const Sharding &sharding);
layout::Mesh toMesh(const Sharding &sharding);

/// Returns a program that takes an array and returns it as it lies in that
/// sharding (MakePlacePlan). Errors: InvalidArgument if the sharding names no
/// device, or one that the cluster does not have; as for MakePlacePlan.
absl::StatusOr<PlanData> makePlacePlan(ElementType element,
                                       const std::vector<int64_t> &shape,
                                       const Sharding &sharding,
                                       const Topology &topology);

/// Joins the shards of a sharding that makePlacePlan has accepted: one dense
/// array for each contribution, one after the other. Errors: InvalidArgument,
/// naming the shard, if the shards are not those of an array of that shape;
/// ResourceExhausted if memory is short.
absl::StatusOr<HostArray> joinShards(const std::vector<int64_t> &shape,
                                     const std::vector<HostArray> &shards,
                                     const Sharding &sharding);

} // namespace pathways

#endif // LIB_API_SHARDINGS_H
