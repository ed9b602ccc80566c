//===- entry_ops.h - Tokens, pieces and operations of entries ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_ENTRY_OPS_H_
#define RUNTIME_PROGRAM_ENTRY_OPS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/line_allocator.h"
#include "runtime/binding/parts.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/slot_ref.h"

namespace pathways {

// A token that an entry passes on one edge when it has fired.
struct OutToken {
  // kSameWorker, kSameHost: to another device of this host, on the same worker
  // or another one. kOtherProcess: to a host in another process. kOtherHost: to
  // another host in this process.
  enum Type : uint8_t {
    kSameDevice,
    kSameWorker,
    kSameHost,
    kOtherHost,
    kOtherProcess,
    kBroadcast,
    kHostAction
  };
  Type type = kSameDevice;
  bool poisons = false;
  uint16_t tokens = 0;
  // kOtherHost, kOtherProcess, kBroadcast: edge. kHostAction: action.
  // Otherwise: in-edge entry, or entry if the token only carries poison.
  uint32_t target = 0;
  uint32_t shard = 0;  // kOtherHost, kOtherProcess
  // kSameWorker: device. kSameHost: actor. kOtherHost, kOtherProcess: host.
  uint32_t where = 0;

  bool leaves_host() const {
    return type == kOtherHost || type == kOtherProcess;
  }
};

// One piece that a send moves.
struct PieceOut {
  // If the token leaves the host, the piece is packed and sent; otherwise it is
  // copied in place.
  OutToken token;
  uint64_t bytes = 0;
  // Byte offset in the source of a piece that is lent in place and has no
  // staging; -1: not lent.
  int64_t lent_offset = -1;
  // Byte offset in the source of a small, contiguous piece for another process;
  // -1: not such a piece.
  int64_t member_offset = -1;
  SlotRef from;
  SlotRef to;  // the destination, or staging
  const PreparedBuffer* source = nullptr;
  const PreparedBuffer* destination = nullptr;
  std::vector<int64_t> source_offset, destination_offset, extent, zeros;
};

// One piece that comes from another host.
struct PieceIn {
  uint32_t source = 0;  // shard
  uint32_t shard = 0;   // shard of the receive
  uint32_t device = 0;
  uint32_t in_edge = 0;
  const PreparedBuffer* destination = nullptr;
  SlotRef to;
  uint64_t bytes = 0;
  int64_t dense_offset = -1;
  std::vector<int64_t> destination_offset, extent, zeros;

  // Returns the address for the piece's bytes as they arrive, or null if they
  // are not contiguous there.
  char* PlaceAt(uint64_t firing) const {
    return dense_offset < 0 ? nullptr : to.at(firing) + dense_offset;
  }
  auto order() const { return std::make_pair(source, shard); }
};

struct SendOp {
  uint32_t begin = 0, end = 0;  // range of its pieces
  SlotRef from;
  SlotRef guard;  // used if is_guarded
  bool is_guarded = false;
  bool unless = false;  // moves where the guard is false
  // [slot]: pieces of a firing that are being read in place. The firing passes
  // its tokens once there are none.
  LineVector<uint32_t> away;
};
struct RecvOp {
  enum Fill : uint8_t { kNone, kPadding, kZero, kIdentity };
  Fill fill = kNone;
  SlotRef to;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> valid;  // extent of the shard's box
};
struct FeedOp {
  uint32_t argument = 0;
  bool stepped = false, carried = false;
  SlotRef to, carried_from;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> extent;  // extent of the shard's block
  std::vector<int64_t> zeros;
  Part part;           // part of the host; no bytes if the block is empty
  uint64_t bytes = 0;  // bytes of the shard's buffer
  // Used for an argument that is the same at each step, in memory that no other
  // buffer shares: the number of the object in each slot, 0 for none. Only the
  // device's actor uses it.
  LineVector<uint64_t> placed;
};
struct FetchOp {
  uint32_t result = 0;
  bool stepped = false;
  // False: the block is empty, or another shard on this host writes it.
  bool writes = true;
  SlotRef from;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> extent;  // extent of the shard's block
  std::vector<int64_t> zeros;
  Part part;  // part of the host
};

// State of one edge of relation all.
struct HostAllEdge {
  uint32_t edge = 0;
  uint32_t own_sources = 0, all_sources = 0;
  std::vector<int32_t> target_hosts;  // without this host
  struct Target {
    uint32_t device = 0;
    uint32_t in_edge = 0;
  };
  std::vector<Target> targets;
  // [slot]: sources on this host that have not fired.
  std::vector<uint32_t> left;
  std::vector<uint32_t> arrived;  // [slot]: sources, of all hosts
  std::vector<uint8_t> left_poison, arrived_poison;
};

// Zeroes the elements outside the box [0, valid) of a dense array.
void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_ENTRY_OPS_H_
