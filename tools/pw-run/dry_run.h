//===- dry_run.h - What a plan costs, without running it --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes of memory on each device and what for, bytes that one step moves over
// the links of each island and between islands, carried arguments that it
// copies, gangs per step and what devices do then by the costs of the plan: all
// from the tables.
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
    uint64_t shards = 0;        // of all slices
    uint64_t gang_entries = 0;  // per step
    // What its shards' parts of actions cost in a step, one after the other.
    uint64_t ns = 0;
    MemoryNeed need;  // what the bytes are for
    bool operator==(const Device&) const = default;
  };
  // By (island, device in it); devices that have nothing are not in it.
  std::map<std::pair<uint32_t, int64_t>, Device> devices;
  // Bytes per step between different devices of an island, and by
  // (from, to) between islands. Of a collective, what hosts send each other,
  // and what the devices of a host have in common: of a reduction, everybody's
  // contribution to all and the result from them, but the own ones.
  std::map<uint32_t, uint64_t> ici_bytes;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> dcn_bytes;
  std::map<uint32_t, uint64_t> gangs;  // per step, by island
  // Arguments that each step copies from where the step before left them, with
  // the bytes of all shards, padding too.
  std::vector<std::pair<std::string, uint64_t>> copied;
  // Names of sends with more pieces than are counted one by one.
  std::vector<std::string> not_counted;
};

// `plan` passed the verifier and fits the cluster (CheckFits).
PlanCost CostOf(const proto::Plan& plan, const Topology& topology);

// Tables, one row for devices in a row that cost the same.
std::string DryRunText(const PlanCost& cost, const Topology& topology);

// Slices, where they are, what runs on them.
std::string PlacementText(const proto::Plan& plan, const Topology& topology);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_DRY_RUN_H_
