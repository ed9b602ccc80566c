//===- entry_tables.h - Entries and in-edges of devices ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_ENTRY_TABLES_H_
#define RUNTIME_PROGRAM_ENTRY_TABLES_H_

#include <cstdint>

#include "runtime/program/device_program.h"
#include "runtime/program/edge_bases.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// Returns the devices of the host with their shards, and without tables.
DevicePrograms MakeDevices(const TableInputs& in, uint32_t program,
                           uint32_t incarnation);

// Returns the approximate bytes of the tables of `devices`, of which only the
// shards are read. The tables are not in an arena, but a caller that compares
// this with the room of one refuses a plan with very many shards on a device
// before it allocates anything for it. Saturates instead of wrapping around.
uint64_t TableBytes(const TableInputs& in, const DevicePrograms& devices);

// Makes the entries and in-edges of a device from its shards: sets its
// `entries`, `in_edges`, `first_entry`, `move_entries` and `max_shards`. Sets
// the device's elements of `bases`, and in `self_bases` those of recvs that may
// have no pieces: such a recv sends the credits of its peer to itself.
void LayOutEntries(const TableInputs& in, DeviceProgram* device,
                   EdgeBases* bases, EdgeBases* self_bases);

// Sets `counts`, `arrived` and `poison` of a device that has its entries, as
// they are before the first firing.
void ResetCounters(const TableInputs& in, DeviceProgram* device);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_ENTRY_TABLES_H_
