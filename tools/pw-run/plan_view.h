//===- plan_view.h - Where the slices of a plan are -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derived facts about a plan and a cluster that the tool's reports share. All
// functions take a plan that passed the verifier.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_PLAN_VIEW_H_
#define TOOLS_PW_RUN_PLAN_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/tables.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"

namespace pathways::pw_run {

// Most shards in all slices of a plan together.
inline constexpr int64_t kMaxShards = int64_t{1} << 24;

// Fails, naming the slice and both numbers, when a slice is bound to an island
// or a device that the cluster does not have, or when there are too many
// shards.
absl::Status CheckFits(const proto::Plan& plan, const Topology& topology);

// The device of each shard of `slice`. Needs CheckFits.
std::vector<BoundDevice> DevicesOf(const proto::Slice& slice);
// Its islands, by run of shards, as "0" or "0, 1".
std::string IslandsText(const proto::Slice& slice);

// Firings of action shards in one step of the plan; perhaps more than integers
// have.
double FiringsOfStep(const proto::Plan& plan);

// "0-3, 6" for a set of numbers, in any order.
std::string RangesText(std::vector<int64_t> numbers);

// "data=2 model=2", or "one device".
std::string MeshText(const proto::Slice& slice);

// A table for people, the first row its heading: columns of whole numbers are
// aligned to the right, others to the left; no spaces at the ends of lines.
std::string TableText(const std::vector<std::vector<std::string>>& rows);

// "1 gang", "2 gangs".
std::string CountText(uint64_t count, const std::string& what);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_PLAN_VIEW_H_
