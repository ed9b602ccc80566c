//===- wait_set.h - Who has not answered yet --------------------*- C++ -*-===//
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

// Hosts, islands or pieces, by number, that are awaited. Invariants: (1)
// each member comes once: a second time, or a stranger, is told apart; (2) a
// set that is filled again takes no memory, unless a member is larger than any
// before. A plain value.
class WaitSet {
 public:
  // `members` are not negative.
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
  // Whether it was awaited.
  bool Erase(int32_t member) {
    if (!Contains(member)) return false;
    words_[static_cast<size_t>(member) / 64] &= ~Bit(member);
    --size_;
    return true;
  }
  void Clear() { Assign({}); }
  // One more; it may be in the set.
  void Insert(int32_t member) {
    if (Contains(member)) return;
    const size_t word = static_cast<size_t>(member) / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= Bit(member);
    ++size_;
  }
  // Whether a member of one is a member of the other.
  bool Meets(const WaitSet& other) const {
    for (size_t w = 0; w < words_.size() && w < other.words_.size(); ++w) {
      if ((words_[w] & other.words_[w]) != 0) return true;
    }
    return false;
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The smallest member of a set that is not empty.
  int32_t First() const {
    int32_t member = 0;
    while (!Contains(member)) ++member;
    return member;
  }
  // Ascending.
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
