//===- dispatch_builder.h - Builder of a dispatch table ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_DISPATCH_BUILDER_H_
#define RUNTIME_PROGRAM_DISPATCH_BUILDER_H_

#include <memory>

#include "runtime/program/arriving_pieces.h"
#include "runtime/program/device_program.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// Returns the actions that the host prepares, or null if it prepares none
// (DispatchOptions::prepares). With sequential dispatch, the sources of an
// action are those of its data edges. The sources of a movement into shards of
// this host are on every host that sends them pieces. Reads the shards and
// `first_entry` of `devices`.
std::unique_ptr<DispatchTable> MakeDispatch(const TableInputs& in,
                                            const DevicePrograms& devices,
                                            ArrivingPieces* pieces);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_DISPATCH_BUILDER_H_
