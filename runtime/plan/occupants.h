//===- occupants.h - Buffers in the bytes of a memory -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_OCCUPANTS_H_
#define RUNTIME_PLAN_OCCUPANTS_H_

#include <cstdint>
#include <map>
#include <utility>

namespace pathways {

// Map from bytes to buffers while buffers enter one after another. Amortized
// O(log n) per buffer.
class Occupants {
 public:
  // Gives [begin, end) to `buffer`. Calls `replaced` for each buffer that loses
  // bytes, perhaps several times.
  template <typename Replaced>
  void Enter(uint64_t begin, uint64_t end, uint32_t buffer,
             const Replaced& replaced) {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin()) --it;
    while (it != ranges_.end() && it->first < end) {
      uint64_t old_begin = it->first;
      auto [old_end, old] = it->second;
      if (old_end <= begin) {
        ++it;
        continue;
      }
      replaced(old);
      it = ranges_.erase(it);
      if (old_begin < begin) ranges_[old_begin] = {begin, old};
      if (old_end > end) it = ranges_.insert({end, {old_end, old}}).first;
    }
    ranges_[begin] = {end, buffer};
  }

  // Returns the ranges by begin, each with its end and buffer.
  const std::map<uint64_t, std::pair<uint64_t, uint32_t>>& ranges() const {
    return ranges_;
  }

 private:
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> ranges_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_OCCUPANTS_H_
