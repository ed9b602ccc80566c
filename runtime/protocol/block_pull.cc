//===- block_pull.cc - Progress of one transfer ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/block_pull.h"

#include <utility>

namespace pathways {

WireMessage TransferMessage(WireKind kind, uint64_t transfer,
                            PulledPiece piece) {
  WireMessage message;
  message.kind = kind;
  message.step = transfer;
  message.item = piece.number;
  message.target = piece.slot;
  return message;
}

BlockPull::BlockPull(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  while (range_ < ranges_.size() &&
         ranges_[range_].first == ranges_[range_].end) {
    ++range_;
  }
  if (range_ < ranges_.size()) next_ = ranges_[range_].first;
}

std::optional<PulledPiece> BlockPull::Next() {
  if (range_ == ranges_.size() || under_way_ == kPullWindow) {
    return std::nullopt;
  }
  PulledPiece piece;
  while (slots_[piece.slot].has_value()) ++piece.slot;
  piece.number = static_cast<uint32_t>(next_);
  slots_[piece.slot] = piece.number;
  ++under_way_;
  ++next_;
  while (range_ < ranges_.size() && next_ >= ranges_[range_].end) {
    if (++range_ < ranges_.size()) next_ = ranges_[range_].first;
  }
  return piece;
}

bool BlockPull::Accept(PulledPiece piece) {
  if (piece.slot >= kPullWindow || slots_[piece.slot] != piece.number) {
    return false;
  }
  slots_[piece.slot].reset();
  --under_way_;
  ++accepted_;
  return true;
}

std::vector<PulledPiece> BlockPull::UnderWay() const {
  std::vector<PulledPiece> pieces;
  for (uint32_t slot = 0; slot < kPullWindow; ++slot) {
    if (slots_[slot].has_value()) pieces.push_back({*slots_[slot], slot});
  }
  return pieces;
}

}  // namespace pathways
