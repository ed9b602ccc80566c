//===- block_pull.h - Progress of one transfer ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values go between a client and a host in pieces that the receiver pulls, a
// few at a time. So the receiver never gets more than it can take, the sender
// keeps no state, and the receiver requests lost pieces again.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_BLOCK_PULL_H_
#define RUNTIME_PROTOCOL_BLOCK_PULL_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Size of the pieces of what a host holds of an object; the last piece is
// shorter. Copying one, even to fresh pages, occupies a worker for at most 20
// us.
inline constexpr uint64_t kPieceBytes = uint64_t{1} << 15;
// Largest number of requested pieces in flight.
inline constexpr uint32_t kPullWindow = 8;

constexpr uint64_t NumPieces(uint64_t bytes) {
  return bytes / kPieceBytes + (bytes % kPieceBytes != 0);
}

// A piece and its slot in the window until it has arrived. No other piece in
// flight of the transfer has that slot, so the sender may keep a buffer for
// each slot.
struct PulledPiece {
  uint32_t number = 0;
  uint32_t slot = 0;
  bool operator==(const PulledPiece&) const = default;

  // Offset of the piece in an object of `total` bytes, and its size. `total`
  // must be larger than the offset.
  uint64_t offset() const { return uint64_t{number} * kPieceBytes; }
  uint64_t BytesOf(uint64_t total) const {
    return std::min(kPieceBytes, total - offset());
  }
};

// Returns a message of the transfer about `piece`; PieceOf is the inverse.
WireMessage TransferMessage(WireKind kind, uint64_t transfer,
                            PulledPiece piece = {});
constexpr PulledPiece PieceOf(const WireMessage& message) {
  return {message.item, message.target};
}

// Requested and received pieces of one transfer. Invariants: (1) each piece is
// accepted once; (2) at most kPullWindow pieces are in flight. One owner calls
// it.
class BlockPull {
 public:
  // Pieces [first, end).
  struct Range {
    uint64_t first = 0, end = 0;
  };

  // `ranges` ascend and do not overlap.
  explicit BlockPull(std::vector<Range> ranges);

  // Returns the next piece to request, or nullopt if the window is full or all
  // pieces were requested.
  std::optional<PulledPiece> Next();
  // Records that a piece has arrived. Returns false if it was not requested or
  // has arrived before.
  bool Accept(PulledPiece piece);
  // Returns the pieces that were requested and have not arrived.
  std::vector<PulledPiece> UnderWay() const;
  // Returns true if all pieces have arrived.
  bool over() const { return range_ == ranges_.size() && under_way_ == 0; }
  uint64_t accepted() const { return accepted_; }

 private:
  std::vector<Range> ranges_;
  size_t range_ = 0;   // range of the next piece
  uint64_t next_ = 0;  // the next piece
  std::array<std::optional<uint32_t>, kPullWindow> slots_;
  uint32_t under_way_ = 0;
  uint64_t accepted_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_BLOCK_PULL_H_
