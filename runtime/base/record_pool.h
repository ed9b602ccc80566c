//===- record_pool.h - Records by number, with reuse of memory --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_RECORD_POOL_H_
#define RUNTIME_BASE_RECORD_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace pathways {

// Records by number. Invariants: (1) a record stays at its address until it is
// erased; (2) an erased record is reused, after its Reset(), with the memory
// that its members have, so that a steady state allocates nothing; (3) no
// result depends on the order of the hash table, which is seeded, so that a
// client that chooses the numbers cannot make them collide. The pool is not
// thread-safe: one owner calls it.
template <typename T>
class RecordPool {
 public:
  // Returns the record of `id`, as constructed or as Reset() leaves it.
  T& Insert(uint64_t id) {
    T*& record = by_id_[id];
    if (record == nullptr) {
      if (free_.empty()) {
        record = records_.emplace_back(std::make_unique<T>()).get();
        return *record;
      }
      record = free_.back();
      free_.pop_back();
    }
    record->Reset();
    return *record;
  }
  // Returns null if `id` is not in the pool.
  T* Find(uint64_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  void Erase(uint64_t id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    free_.push_back(found->second);
    by_id_.erase(found);
  }
  size_t size() const { return by_id_.size(); }
  // Calls f(T&) for each record in the order in which the records were made,
  // including erased ones, for which `f` must do no harm.
  template <typename F>
  void ForEachMade(F f) {
    for (const std::unique_ptr<T>& record : records_) f(*record);
  }
  // Returns all numbers in ascending order. Slow: for rare use only.
  std::vector<uint64_t> Ids() const {
    std::vector<uint64_t> ids;
    // Any order will do, since the numbers are sorted below.
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

#endif  // RUNTIME_BASE_RECORD_POOL_H_
