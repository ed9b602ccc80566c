//===- value_moves.h - What moves do to memory ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sends, receives, feeds and fetches, one firing on one shard each, as work of
// a device's backend. When they may happen, and whom they tell, is the device's
// matter.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_VALUE_MOVES_H_
#define RUNTIME_DEVICE_VALUE_MOVES_H_

#include <cstdint>

#include "runtime/device/device_backend.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Copies a piece that is not lent where it lies to its destination or, when
// that is on another host, packed to its staging.
void MovePiece(DeviceBackend* backend, const PieceOut& piece, uint64_t firing);
// Where it is then.
inline char* PlaceOf(const PieceOut& piece, uint64_t firing) {
  return piece.lent_offset >= 0 ? piece.from.at(firing) + piece.lent_offset
                                : piece.to.at(firing);
}
// What a receive has that no piece brings.
void FillReceived(DeviceBackend* backend, const RecvOp& op, uint64_t firing);

// Whether what a feed reads is of a launch that failed; is there.
bool ReadsPoison(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
bool IsFilled(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
// Of what is not poisoned, and is filled. Returns the bytes that were read.
uint64_t FeedBuffer(DeviceBackend* backend, FeedOp* op, uint64_t firing,
                    const HostLaunch& launch);

// Whether a result is taken at this firing; writes it if it is. Returns the
// bytes.
bool IsFetched(const FetchOp& op, uint64_t firing, const HostLaunch& launch);
uint64_t FetchBuffer(DeviceBackend* backend, const FetchOp& op, uint64_t firing,
                     const HostLaunch& launch);

}  // namespace pathways

#endif  // RUNTIME_DEVICE_VALUE_MOVES_H_
