//===- record_pool.h - Records by number, used again ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_RECORD_POOL_H_
#define RUNTIME_EXECUTOR_RECORD_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace pathways {

// Records by number. Invariants: (1) a record stays where it is until it is
// erased; (2) a record that was erased is given out again, after its Reset(),
// with the memory that its members have: in a steady state nothing is
// allocated; (3) nothing depends on the order of the map. One owner calls it.
template <typename T>
class RecordPool {
 public:
  // The record of `id`, as new or Reset() leaves it.
  T& Insert(uint64_t id) {
    T*& record = by_id_[id];
    if (record == nullptr && free_.empty()) {
      return *(record = records_.emplace_back(std::make_unique<T>()).get());
    }
    if (record == nullptr) {
      record = free_.back();
      free_.pop_back();
    }
    record->Reset();
    return *record;
  }
  // Null: not there.
  T* Find(uint64_t id) {
    auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  const T* Find(uint64_t id) const {
    auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  void Erase(uint64_t id) {
    auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    free_.push_back(found->second);
    by_id_.erase(found);
  }
  size_t size() const { return by_id_.size(); }
  // Calls f(T&) for each record in the order in which they were made; for those
  // that were erased too, which what it does must not matter to.
  template <typename F>
  void ForEachMade(F f) {
    for (const std::unique_ptr<T>& record : records_) f(*record);
  }
  // Of all, ascending: for what is rare.
  std::vector<uint64_t> Ids() const {
    std::vector<uint64_t> ids;
    for (const auto& [id, record] : by_id_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

 private:
  std::vector<std::unique_ptr<T>> records_;
  std::vector<T*> free_;
  absl::flat_hash_map<uint64_t, T*> by_id_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_RECORD_POOL_H_
