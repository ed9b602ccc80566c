//===- dry_run.h - Cost of a plan, without running it -----------*- C++ -*-===//
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
// devices by the costs of the plan.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_DRY_RUN_H_
#define TOOLS_PW_RUN_DRY_RUN_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"
#include "tools/pw-run/memory_need.h"

namespace pathways::pw_run {

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

// Computes the costs of `plan`, which passed the verifier and fits the cluster
// (CheckFits).
PlanCost CostOf(const proto::Plan& plan, const Topology& topology);

// Returns tables, with one row for consecutive devices of the same cost.
std::string DryRunText(const PlanCost& cost, const Topology& topology);

// Returns the slices, their devices, and what runs on them.
std::string PlacementText(const proto::Plan& plan, const Topology& topology);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_DRY_RUN_H_
