//===- group_tables.h - Groups of a program's collectives -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_GROUP_TABLES_H_
#define RUNTIME_PROGRAM_GROUP_TABLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/program/device_program.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// The collectives of a plan, and their groups with members on one host. The
// first four tables become those of the HostProgram.
struct GroupTables {
  std::vector<CollectiveShape> shapes;  // one per collective, in order
  std::vector<HostGroup> groups;        // sorted by collective
  std::vector<std::unique_ptr<FlagBarrier>> flag_barriers;
  // (action, step, rank 0) -> group.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t>
      group_of;

  // (action, step) -> index of the collective's shape, and of its first group.
  struct Collective {
    size_t shape = 0;
    uint32_t first_group = 0;
  };
  std::map<std::pair<uint32_t, uint32_t>, Collective> collectives;
  // Reserved ranges of ProgramMemory. A group that is in place, or that uses a
  // barrier, needs no memory.
  std::vector<uint64_t> group_at, barrier_at;
};

// Makes the groups, chooses how each combines its contributions, and reserves
// the memory that they need. Reads the shards of `devices`.
GroupTables MakeGroups(const TableInputs& in, const DevicePrograms& devices,
                       ProgramMemory* memory);

// Gives groups and barriers the memory that was reserved for them. Does nothing
// if values have no memory.
void SetGroupMemory(const ProgramMemory& memory, GroupTables* tables);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_GROUP_TABLES_H_
