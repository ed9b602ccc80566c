//===- block_pull.h - Which pieces of a transfer have come ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values go between a client and a host in pieces that the receiver asks for,
// a few at a time: so it is never sent more than it can take, whoever sends
// keeps nothing in mind, and what is lost is asked for again.
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

// What a host holds of an object is cut into pieces of so many bytes; the last
// one is shorter. Copying one, to pages that are new too, holds up a worker for
// 20 us at the most.
inline constexpr uint64_t kPieceBytes = uint64_t{1} << 15;
// Pieces that are asked for at one time.
inline constexpr uint32_t kPullWindow = 8;

constexpr uint64_t NumPieces(uint64_t bytes) {
  return bytes / kPieceBytes + (bytes % kPieceBytes != 0);
}

// A piece, and the place of the window that it takes until it has come: no
// other piece of the transfer has that place, so the sender may keep a buffer
// for each.
struct PulledPiece {
  uint32_t number = 0;
  uint32_t slot = 0;
  bool operator==(const PulledPiece&) const = default;

  // Where it begins, and its bytes of `total`; it lies in them.
  uint64_t offset() const { return uint64_t{number} * kPieceBytes; }
  uint64_t BytesOf(uint64_t total) const {
    return std::min(kPieceBytes, total - offset());
  }
};

// A message about a transfer, and the piece that one is about.
WireMessage TransferMessage(WireKind kind, uint64_t transfer,
                            PulledPiece piece = {});
constexpr PulledPiece PieceOf(const WireMessage& message) {
  return {message.item, message.target};
}

// Of one transfer, what was asked for and what has come. Invariants: (1) each
// piece is accepted once; (2) at most kPullWindow pieces are under way. One
// owner calls it.
class BlockPull {
 public:
  // Pieces [first, end).
  struct Range {
    uint64_t first = 0, end = 0;
  };

  // `ranges` ascend and do not meet.
  explicit BlockPull(std::vector<Range> ranges);

  // One to be asked for now, if there is one.
  std::optional<PulledPiece> Next();
  // One has come. False: it was not asked for, or has come before.
  bool Accept(PulledPiece piece);
  // What was asked for and has not come.
  std::vector<PulledPiece> UnderWay() const;
  // All has come.
  bool over() const { return range_ == ranges_.size() && under_way_ == 0; }
  uint64_t accepted() const { return accepted_; }

 private:
  std::vector<Range> ranges_;
  size_t range_ = 0;   // that the next piece is of
  uint64_t next_ = 0;  // the next piece
  std::array<std::optional<uint32_t>, kPullWindow> slots_;
  uint32_t under_way_ = 0;
  uint64_t accepted_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_BLOCK_PULL_H_
