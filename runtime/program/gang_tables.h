//===- gang_tables.h - Tables of a device's gangs ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices of a host with equal shards run the same gangs, each in its own
// memory and with its own place in groups. They share one table: a worker that
// passes through all its devices with each gang then finds it in its L1 cache,
// while copies for hundreds of devices would fit no cache.
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

// A collective: ranges of a device's members and groups. All collectives of the
// plan over the same axes of a slice have equal ranges.
struct CollectiveTable {
  const CollectiveShape* shape = nullptr;
  // First of its groups on the host; CollectiveMember::group counts from here.
  uint32_t first_group = 0;
  // Index in GangTables::slots of the source, then the result, of each
  // co-resident shard.
  uint32_t first_slot = 0;
  // Number among the device's meetings in one firing.
  uint32_t first_meeting = 0;
  uint32_t member_begin = 0, member_end = 0;  // by co-resident shard
  uint32_t group_begin = 0, group_end = 0;    // distinct groups
  bool in_place = false;                      // some of its groups is in place
  bool small = false;                         // its only group is small
  bool operator==(const CollectiveTable&) const = default;
};

// Either a collective or a run of `function`. The operands of co-resident shard
// k begin at k * operands.
struct GangStepTable {
  KernelFunction function = nullptr;
  uint32_t operands = 0;
  uint32_t first_slot = 0;  // in GangTables::slots
  int32_t collective = -1;  // index in GangTables::collectives; -1: none
  bool operator==(const GangStepTable&) const = default;
};

// All shards of one gang on one device: an element of the device's queue.
struct Gang {
  uint32_t action = 0;
  uint32_t first_entry = 0;  // entry of the first shard; the others follow
  uint32_t shards = 0;
  uint32_t num_coordinates = 0;
  uint32_t need = 0;              // tokens per firing, over all its entries
  uint32_t first_coordinate = 0;  // [shard][axis], in DeviceProgram
  uint32_t step_begin = 0, step_end = 0;
  // First gang after this one that is not plain; 0 if this one is not plain. A
  // plain gang has one shard and one kernel, no guard, waits for no token and
  // sends none, and the slot counts of its buffers are powers of two.
  uint32_t plain_end = 0;
  // Waits for no token and sends none, except for poison.
  bool quiet = false;
  // Index in GangTables::slots of the guard of the first shard, which those of
  // the others follow; -1: the gang always runs.
  int32_t guard = -1;
  bool unless = false;  // runs where the guard is false
  TimeNs cost_ns = 0;
  bool operator==(const Gang&) const = default;
};

// Tables of a device's gangs in the order of its queue. Immutable once built;
// any thread may read them.
struct GangTables {
  std::vector<Gang> gangs;
  std::vector<GangStepTable> steps;
  std::vector<SlotOffset> slots;
  std::vector<CollectiveTable> collectives;
  uint64_t num_shards = 0;    // entries that fire in one firing, of all gangs
  uint32_t num_meetings = 0;  // one for each group of each collective
  bool operator==(const GangTables&) const = default;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_GANG_TABLES_H_
