//===- value_moves.cc - Memory operations of moves ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/value_moves.h"

namespace pathways {

void MovePiece(DeviceBackend* backend, const PieceOut& piece, uint64_t firing) {
  const bool remote = piece.token.leaves_host();
  BoxCopy copy;
  copy.from = piece.from.at(firing);
  copy.from_shape = &piece.source->shape;
  copy.from_offset = &piece.source_offset;
  copy.to = piece.to.at(firing);
  copy.to_shape = remote ? &piece.extent : &piece.destination->shape;
  copy.to_offset = remote ? &piece.zeros : &piece.destination_offset;
  copy.extent = &piece.extent;
  copy.element_bytes = piece.source->element_bytes;
  backend->Copy(copy);
}

void FillReceived(DeviceBackend* backend, const RecvOp& op, uint64_t firing) {
  if (op.fill == RecvOp::kNone) return;
  backend->Fill({op.fill, op.buffer, &op.valid, op.to.at(firing)});
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

uint64_t FeedBuffer(DeviceBackend* backend, FeedOp* feed, uint64_t firing,
                    const HostLaunch& launch) {
  const FeedOp& op = *feed;
  if (op.bytes == 0) return 0;  // no shard has any element of the array
  char* to = op.to.at(firing);
  if (op.carried && firing != launch.first) {
    const char* from = op.carried_from.at(firing - 1);
    if (from == to) return 0;
    backend->CopyBytes(from, op.bytes, to);
    return op.bytes;
  }
  const HostStore::Object* object = launch.values.arguments[op.argument].get();
  if (!op.placed.empty() && object != nullptr) {
    uint64_t& placed = feed->placed[SlotOf(firing, op.to.credits)];
    if (placed == object->id) return 0;
    placed = object->id;
  }
  if (op.extent != op.buffer->shape) {
    backend->Fill({RecvOp::kPadding, op.buffer, &op.extent, to});
  }
  if (op.part.bytes == 0) return 0;  // only padding
  uint64_t offset = op.part.offset * (op.stepped ? launch.values.steps : 1);
  if (op.stepped) offset += (firing - launch.first) * op.part.bytes;
  BoxCopy copy;
  copy.from = AddressAt(object->data(), offset);
  copy.from_shape = &op.extent;
  copy.from_offset = &op.zeros;
  copy.to = to;
  copy.to_shape = &op.buffer->shape;
  copy.to_offset = &op.zeros;
  copy.extent = &op.extent;
  copy.element_bytes = op.buffer->element_bytes;
  backend->Copy(copy);
  return op.part.bytes;
}

bool IsFetched(const FetchOp& op, uint64_t firing, const HostLaunch& launch) {
  return op.stepped || firing + 1 == launch.end;
}

uint64_t FetchBuffer(DeviceBackend* backend, const FetchOp& op, uint64_t firing,
                     const HostLaunch& launch) {
  if (!op.writes || !IsFetched(op, firing, launch)) return 0;
  uint64_t offset = op.part.offset * (op.stepped ? launch.values.steps : 1);
  if (op.stepped) offset += (firing - launch.first) * op.part.bytes;
  BoxCopy copy;
  copy.from = op.from.at(firing);
  copy.from_shape = &op.buffer->shape;
  copy.from_offset = &op.zeros;
  copy.to = AddressAt(launch.values.results[op.result].object->data(), offset);
  copy.to_shape = &op.extent;
  copy.to_offset = &op.zeros;
  copy.extent = &op.extent;
  copy.element_bytes = op.buffer->element_bytes;
  backend->Copy(copy);
  return op.part.bytes;
}

}  // namespace pathways
