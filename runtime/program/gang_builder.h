//===- gang_builder.h - Builder of a device's gang tables -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_GANG_BUILDER_H_
#define RUNTIME_PROGRAM_GANG_BUILDER_H_

#include "runtime/program/device_program.h"
#include "runtime/program/gang_tables.h"
#include "runtime/program/group_tables.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// Returns the gangs of a device, in the order of its queue. Reads the device's
// shards and entries, and sets its `coordinates`, `members`, `groups_in`,
// `shards_in` and `max_operands`. Also enters the device into `groups`: its
// meetings, and its operands and results in groups that combine in place.
// `memory` must be allocated.
GangTables MakeGangs(const TableInputs& in, const ProgramMemory& memory,
                     GroupTables* groups, DeviceProgram* device);

// Marks gangs as quiet or plain. The entries of `device` must have their
// tokens.
void MarkPlain(const DeviceProgram& device, GangTables* queue);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_GANG_BUILDER_H_
