//===- wait_set.h - Set of awaited numbers ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_WAIT_SET_H_
#define RUNTIME_PROTOCOL_WAIT_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace pathways {

// A set of awaited hosts, islands or pieces, by number. Invariants: (1) Erase
// returns true once for each member, so second answers and strangers are told
// apart; (2) refilling the set does not allocate, unless a member is larger
// than any before. A plain value.
class WaitSet {
 public:
  // Replaces the set. `members` are not negative.
  void Assign(absl::Span<const int32_t> members) {
    words_.assign(words_.size(), 0);
    size_ = 0;
    for (int32_t member : members) Insert(member);
  }
  bool Contains(int32_t member) const {
    const size_t word = static_cast<size_t>(member) / 64;
    return member >= 0 && word < words_.size() &&
           (words_[word] & Bit(member)) != 0;
  }
  // Removes a member. Returns false if it was not in the set.
  bool Erase(int32_t member) {
    if (!Contains(member)) return false;
    words_[static_cast<size_t>(member) / 64] &= ~Bit(member);
    --size_;
    return true;
  }
  void Clear() { Assign({}); }
  // Adds a member, which may be in the set already.
  void Insert(int32_t member) {
    if (Contains(member)) return;
    const size_t word = static_cast<size_t>(member) / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= Bit(member);
    ++size_;
  }
  // Returns true if the two sets have a member in common.
  bool Meets(const WaitSet& other) const {
    for (size_t w = 0; w < words_.size() && w < other.words_.size(); ++w) {
      if ((words_[w] & other.words_[w]) != 0) return true;
    }
    return false;
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Returns the smallest member. The set must not be empty.
  int32_t First() const {
    int32_t member = 0;
    while (!Contains(member)) ++member;
    return member;
  }
  // Returns the members in ascending order.
  std::vector<int32_t> Members() const {
    std::vector<int32_t> members;
    for (int32_t m = 0; members.size() < size_; ++m) {
      if (Contains(m)) members.push_back(m);
    }
    return members;
  }

 private:
  static uint64_t Bit(int32_t member) { return uint64_t{1} << (member % 64); }

  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_WAIT_SET_H_
