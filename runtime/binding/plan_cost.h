//===- plan_cost.h - Cost of a plan, without running it ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes from a plan's tables: bytes of memory on each device and their
// purpose, bytes that one step moves over the links of each island and between
// islands, carried arguments that it copies, gangs per step, and the time of
// devices by the costs of the plan. All functions take a plan that passed the
// verifier.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PLAN_COST_H_
#define RUNTIME_BINDING_PLAN_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/binding/memory_need.h"
#include "runtime/plan/tables.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Most shards in all slices of a plan together.
inline constexpr int64_t kMaxShards = int64_t{1} << 24;

// Returns an error, with the slice and both numbers, if a slice is bound to an
// island or a device that the cluster does not have, or if there are too many
// shards.
absl::Status CheckFits(const proto::Plan& plan, const Topology& topology);

// Returns the device of each shard of `slice`, which passed CheckFits.
std::vector<BoundDevice> DevicesOf(const proto::Slice& slice);
struct PlanCost {
  struct Device {
    uint64_t bytes = 0;         // buffers and scratch of all its shards
    uint64_t shards = 0;        // shards of all slices
    uint64_t gang_entries = 0;  // per step
    // Time of its shards' parts of actions in a step, one after the other.
    uint64_t ns = 0;
    MemoryNeed need;  // purpose of `bytes`
    bool operator==(const Device&) const = default;
  };
  // Devices by (island, device in it); those without shards are left out.
  std::map<std::pair<uint32_t, int64_t>, Device> devices;
  // Bytes per step between different devices of an island, and by (from, to)
  // between islands. A collective counts what hosts send each other and what
  // devices of a host exchange: for a reduction, the contributions to and the
  // results from what the host's devices share, except each one's own.
  std::map<uint32_t, uint64_t> ici_bytes;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> dcn_bytes;
  std::map<uint32_t, uint64_t> gangs;  // per step, by island
  // Arguments that each step copies from where the previous step left them,
  // with the bytes of all shards, including padding.
  std::vector<std::pair<std::string, uint64_t>> copied;
  // Names of sends with too many pieces to count one by one.
  std::vector<std::string> not_counted;
};

// Computes the costs of a plan that fits the cluster (CheckFits).
PlanCost CostOf(const proto::Plan& plan, const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_COST_H_
