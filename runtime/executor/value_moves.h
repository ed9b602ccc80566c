//===- value_moves.h - What moves do to memory ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sends, receives, feeds and fetches, one firing on one shard each. When they
// may happen, and whom they tell, is the device's matter.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_VALUE_MOVES_H_
#define RUNTIME_EXECUTOR_VALUE_MOVES_H_

#include <cstdint>

#include "runtime/executor/host_program.h"

namespace pathways {

// Copies a piece to its destination or, when that is on another host, packed to
// its staging, if it is not lent where it lies. Returns where it is then.
char* MovePiece(const PieceOut& piece, uint64_t firing);
// What a receive has that no piece brings.
void FillReceived(const RecvOp& op, uint64_t firing);

// Whether what a feed reads is of a launch that failed; is there.
bool ReadsPoison(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
bool IsFilled(const FeedOp& op, uint64_t firing, const HostLaunch& launch);
// Of what is not poisoned, and is filled. Returns the bytes that were read.
uint64_t FeedBuffer(FeedOp* op, uint64_t firing, const HostLaunch& launch);

// Whether a result is taken at this firing; writes it. Returns the bytes.
bool IsFetched(const FetchOp& op, uint64_t firing, const HostLaunch& launch);
uint64_t FetchBuffer(const FetchOp& op, uint64_t firing,
                     const HostLaunch& launch);

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_VALUE_MOVES_H_
