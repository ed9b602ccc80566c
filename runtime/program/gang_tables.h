//===- gang_tables.h - What the queue of a device runs ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices of a host that have as many shards of everything do the same, each in
// its own memory and in its own place in groups. What they do is kept once, so
// that a worker that goes through all its devices with each gang finds it in
// the processor's nearest cache; of hundreds of devices, no cache holds copies.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_GANG_TABLES_H_
#define RUNTIME_PROGRAM_GANG_TABLES_H_

#include <cstdint>
#include <vector>

#include "runtime/binding/kernel_resolver.h"
#include "runtime/program/collective.h"
#include "runtime/program/slot_ref.h"
#include "runtime/world/world.h"

namespace pathways {

// A collective: ranges of a device's members and groups. The plan's collectives
// over the same axes of a slice have the same.
struct CollectiveTable {
  const CollectiveShape* shape = nullptr;
  uint32_t first_group = 0;  // of the host's: groups of members count from here
  // In GangTables: the source, then the result of each co-resident shard.
  uint32_t first_slot = 0;
  uint32_t first_meeting = 0;  // of the device's, in one firing of the program
  uint32_t member_begin = 0, member_end = 0;  // by co-resident shard
  uint32_t group_begin = 0, group_end = 0;    // distinct
  bool in_place = false;                      // some group is
  bool small = false;                         // its only group is
  bool operator==(const CollectiveTable&) const = default;
};

// Either a collective or a run of `function`; operands of co-resident shard k
// are those from k * operands on.
struct GangStepTable {
  KernelFunction function = nullptr;
  uint32_t operands = 0;
  uint32_t first_slot = 0;  // in GangTables::slots
  int32_t collective = -1;  // in GangTables::collectives
  bool operator==(const GangStepTable&) const = default;
};

// All shards of one gang on one device: an entry of the device's queue.
struct Gang {
  uint32_t action = 0;
  uint32_t first_entry = 0;  // those of the shards follow
  uint32_t shards = 0;
  uint32_t num_coordinates = 0;
  uint32_t need = 0;              // tokens a firing, of all its entries
  uint32_t first_coordinate = 0;  // [shard][axis], in DeviceProgram
  uint32_t step_begin = 0, step_end = 0;
  // First gang after this one that is not plain; 0: this one is not. A plain
  // one is of one shard and one kernel, waits for no token and sends none, and
  // the slots of its buffers have masks.
  uint32_t plain_end = 0;
  // Waits for no token and sends none, but for poison.
  bool quiet = false;
  TimeNs cost_ns = 0;
  bool operator==(const Gang&) const = default;
};

// In the order of the queue. Immutable once made; any thread.
struct GangTables {
  std::vector<Gang> gangs;
  std::vector<GangStepTable> steps;
  std::vector<SlotOffset> slots;
  std::vector<CollectiveTable> collectives;
  uint64_t num_shards = 0;    // of all gangs: entries that fire in one firing
  uint32_t num_meetings = 0;  // of all collectives, one for each group
  bool operator==(const GangTables&) const = default;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_GANG_TABLES_H_
