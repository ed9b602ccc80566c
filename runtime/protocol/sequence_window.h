//===- sequence_window.h - Window of seen numbers ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_SEQUENCE_WINDOW_H_
#define RUNTIME_PROTOCOL_SEQUENCE_WINDOW_H_

#include <cstdint>
#include <vector>

namespace pathways {

// The numbers seen from one sender, to drop second copies. Numbers start at 1
// and may come in any order; a number that is kWindow or more below the largest
// counts as seen.
class SequenceWindow {
 public:
  static constexpr uint64_t kWindow = 8192;
  // Returns true if `sequence` is new, and records it as seen.
  bool Accept(uint64_t sequence) {
    if (bits_.empty()) bits_.resize(kWindow / 64);
    if (sequence == 0) return false;
    if (sequence > top_) {
      const uint64_t gap = sequence - top_;
      if (gap >= kWindow) {
        bits_.assign(kWindow / 64, 0);
      } else {
        for (uint64_t left = gap; left > 0; --left) {
          const uint64_t s = top_ + left;
          bits_[(s % kWindow) / 64] &= ~(uint64_t{1} << (s % 64));
        }
      }
      top_ = sequence;
    } else if (top_ - sequence >= kWindow) {
      return false;
    }
    uint64_t& word = bits_[(sequence % kWindow) / 64];
    const uint64_t bit = uint64_t{1} << (sequence % 64);
    if (word & bit) return false;
    word |= bit;
    return true;
  }

 private:
  uint64_t top_ = 0;
  std::vector<uint64_t> bits_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_SEQUENCE_WINDOW_H_
