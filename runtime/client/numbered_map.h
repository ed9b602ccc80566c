//===- numbered_map.h - Values by ascending number --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_NUMBERED_MAP_H_
#define RUNTIME_CLIENT_NUMBERED_MAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pathways {

// Map of values that are added with ascending numbers and erased in any order.
// Invariants: (1) a value does not move until it is erased; (2) while about as
// many values are added as erased, nothing is allocated: the memory of some
// erased ones is reused. One owner calls it.
template <typename T>
class NumberedMap {
 public:
  NumberedMap() { spare_.reserve(kMaxSpare); }

  // Adds a value. Its number must be above all others.
  T& Add(uint64_t number) {
    if (spare_.empty()) {
      return values_.emplace_hint(values_.end(), number, T())->second;
    }
    Node node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = number;
    return values_.insert(values_.end(), std::move(node))->second;
  }
  // Returns null if there is none.
  T* Find(uint64_t number) {
    auto found = values_.find(number);
    return found == values_.end() ? nullptr : &found->second;
  }
  const T* Find(uint64_t number) const {
    auto found = values_.find(number);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Erases a value, which must exist.
  void Erase(uint64_t number) {
    Node node = values_.extract(number);
    if (spare_.size() == kMaxSpare) return;
    std::destroy_at(&node.mapped());
    std::construct_at(&node.mapped());
    spare_.push_back(std::move(node));
  }
  size_t size() const { return values_.size(); }
  // Returns the values in order of their numbers.
  const std::map<uint64_t, T>& values() const { return values_; }

 private:
  using Node = typename std::map<uint64_t, T>::node_type;
  // Most erased values whose memory is kept.
  static constexpr size_t kMaxSpare = 256;

  std::map<uint64_t, T> values_;
  std::vector<Node> spare_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_NUMBERED_MAP_H_
