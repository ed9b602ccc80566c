//===- value_moves.h - Memory operations of moves ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One firing of a send, receive, feed or fetch on one shard, as work of a
// device's backend. The device decides when it happens and which tokens it
// passes.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_VALUE_MOVES_H_
#define RUNTIME_DEVICE_VALUE_MOVES_H_

#include <cstdint>

#include "runtime/device/device_backend.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Copies a piece that is not lent in place to its destination or, if that is on
// another host, packs it into its staging.
void MovePiece(DeviceBackend* backend, const PieceOut& piece, uint64_t firing);
// Returns the address from which a piece for another host is sent.
inline char* PlaceOf(const PieceOut& piece, uint64_t firing) {
  return piece.lent_offset >= 0 ? piece.from.at(firing) + piece.lent_offset
                                : piece.to.at(firing);
}
// Fills the elements of a receive that no piece brings.
void FillReceived(DeviceBackend* backend, const RecvOp& op, uint64_t firing);

// ReadsPoison: whether a feed reads an argument of a launch that failed.
// IsFilled: whether the argument is filled.
bool ReadsPoison(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
bool IsFilled(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
// Feeds an argument that is filled and not poisoned. Returns the bytes that
// were read.
uint64_t FeedBuffer(DeviceBackend* backend, FeedOp* op, uint64_t firing,
                    const HostLaunch& launch);

// IsFetched returns true if a result is taken at this firing. FetchBuffer
// writes it in that case, and returns the bytes.
bool IsFetched(const FetchOp& op, uint64_t firing, const HostLaunch& launch);
uint64_t FetchBuffer(DeviceBackend* backend, const FetchOp& op, uint64_t firing,
                     const HostLaunch& launch);

}  // namespace pathways

#endif  // RUNTIME_DEVICE_VALUE_MOVES_H_
