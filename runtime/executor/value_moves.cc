//===- value_moves.cc - What moves do to memory ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/value_moves.h"

#include <cstring>

#include "runtime/plan/tables.h"

namespace pathways {

char* MovePiece(const PieceOut& piece, uint64_t firing) {
  if (piece.lent_offset >= 0) return piece.from.at(firing) + piece.lent_offset;
  const bool remote = piece.token.type == OutToken::kRemote;
  char* const to = piece.to.at(firing);
  layout::CopyBox(piece.from.at(firing), piece.source->shape,
                  piece.source_offset, to,
                  remote ? piece.extent : piece.destination->shape,
                  remote ? piece.zeros : piece.destination_offset, piece.extent,
                  piece.source->element_bytes);
  return to;
}

void FillReceived(const RecvOp& op, uint64_t firing) {
  char* to = op.to.at(firing);
  int64_t count = 1;
  for (int64_t size : op.buffer->shape) count *= size;
  if (count == 0) return;
  switch (op.fill) {
    case RecvOp::kNone:
      return;
    case RecvOp::kPadding:
      FillPadding(op.buffer->shape, op.valid, op.buffer->element_bytes, to);
      return;
    case RecvOp::kZero:
      std::memset(to, 0, count * op.buffer->element_bytes);
      return;
    case RecvOp::kIdentity:
      FillIdentity(ReductionKindOf(op.buffer->layout.reduction),
                   op.buffer->element, count, to);
      return;
  }
}

bool ReadsPoison(const FeedOp& op, uint64_t firing, const HostLaunch& launch) {
  if (op.carried && firing != launch.first) return false;
  const auto& argument = launch.values.arguments[op.argument];
  return argument != nullptr && argument->poisoned;
}

bool IsFilled(const FeedOp& op, uint64_t firing, const HostLaunch& launch) {
  if (op.carried && firing != launch.first) return true;
  const auto& argument = launch.values.arguments[op.argument];
  return argument == nullptr ||
         argument->filled.load(std::memory_order_acquire);
}

uint64_t FeedBuffer(FeedOp* feed, uint64_t firing, const HostLaunch& launch) {
  const FeedOp& op = *feed;
  if (op.bytes == 0) return 0;  // nothing of the array is anywhere
  char* to = op.to.at(firing);
  if (op.carried && firing != launch.first) {
    const char* from = op.carried_from.at(firing - 1);
    if (from == to) return 0;
    std::memcpy(to, from, op.bytes);
    return op.bytes;
  }
  const HostStore::Object* object = launch.values.arguments[op.argument].get();
  if (!op.placed.empty() && object != nullptr) {
    uint64_t& placed = feed->placed[SlotOf(firing, op.to.credits)];
    if (placed == object->id) return 0;
    placed = object->id;
  }
  const int64_t element = op.buffer->element_bytes;
  if (op.extent != op.buffer->shape) {
    FillPadding(op.buffer->shape, op.extent, element, to);
  }
  if (op.part.bytes == 0) return 0;  // all padding
  const char* from =
      object->data() + op.part.offset * (op.stepped ? launch.values.steps : 1);
  if (op.stepped) from += (firing - launch.first) * op.part.bytes;
  layout::CopyBox(from, op.extent, op.zeros, to, op.buffer->shape, op.zeros,
                  op.extent, element);
  return op.part.bytes;
}

bool IsFetched(const FetchOp& op, uint64_t firing, const HostLaunch& launch) {
  return op.stepped || firing + 1 == launch.end;
}

uint64_t FetchBuffer(const FetchOp& op, uint64_t firing,
                     const HostLaunch& launch) {
  if (!op.writes) return 0;
  char* to = launch.values.results[op.result].object->data() +
             op.part.offset * (op.stepped ? launch.values.steps : 1);
  if (op.stepped) to += (firing - launch.first) * op.part.bytes;
  layout::CopyBox(op.from.at(firing), op.buffer->shape, op.zeros, to, op.extent,
                  op.zeros, op.extent, op.buffer->element_bytes);
  return op.part.bytes;
}

}  // namespace pathways
