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
#include <utility>
#include <vector>

namespace pathways {

// Hash table from numbers to pointers that are not null. A few lookups make up
// much of the cost of a launch; a lookup here takes one multiplication and
// mostly one slot. Open addressing with linear probing (Knuth, The Art of
// Computer Programming 3, 6.4): at most half of the slots are taken, and an
// erased entry leaves no mark. The hash differs from table to table, so that
// whoever chooses the numbers cannot make them collide.
template <typename T>
class NumberTable {
 public:
  // Returns null if `number` is not in the table.
  T* Find(uint64_t number) const {
    const Slot* const slot = slots_.data() + PlaceOf(number);
    return slot->record;
  }
  // Adds `number`, which must not be in the table.
  void Add(uint64_t number, T* record) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    slots_[PlaceOf(number)] = {number, record};
    ++size_;
  }
  // Erases `number`, which must be in the table. Of the entries after it, up to
  // the next free slot, each moves up if that does not put it before its own
  // first slot.
  void Erase(uint64_t number) {
    size_t hole = PlaceOf(number);
    for (size_t i = Next(hole); slots_[i].record != nullptr; i = Next(i)) {
      const size_t from_first = (i - FirstOf(slots_[i].number)) & mask();
      if (from_first < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].record = nullptr;
    --size_;
  }
  size_t size() const { return size_; }
  // Calls f(number) for each number, in no particular order.
  template <typename F>
  void ForEachNumber(F f) const {
    for (const Slot& slot : slots_) {
      if (slot.record != nullptr) f(slot.number);
    }
  }

 private:
  struct Slot {
    uint64_t number = 0;
    T* record = nullptr;  // null: free
  };
  static constexpr int kFirstBits = 4;

  size_t mask() const { return slots_.size() - 1; }
  size_t Next(size_t i) const { return (i + 1) & mask(); }
  size_t FirstOf(uint64_t number) const {
    return (number * factor_) >> (64 - bits_);
  }
  // Returns the slot that holds `number`, or in which it would be added.
  size_t PlaceOf(uint64_t number) const {
    size_t i = FirstOf(number);
    while (slots_[i].record != nullptr && slots_[i].number != number) {
      i = Next(i);
    }
    return i;
  }
  void Grow() {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    ++bits_;
    for (const Slot& slot : before) {
      if (slot.record != nullptr) slots_[PlaceOf(slot.number)] = slot;
    }
  }

  // Multiplier of the golden ratio, mixed with the address of the table.
  const uint64_t factor_ =
      0x9E3779B97F4A7C15 ^ reinterpret_cast<uintptr_t>(this) << 8;
  int bits_ = kFirstBits;
  std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << kFirstBits);
  size_t size_ = 0;
};

// Records by number. Invariants: (1) a record stays at its address until it is
// erased; (2) an erased record is reused, after its Reset(), with the memory
// that its members have, so that a steady state allocates nothing; (3) no
// result depends on the order of the hash table. The pool is not thread-safe:
// one owner calls it.
template <typename T>
class RecordPool {
 public:
  // Returns the record of `id`, as constructed or as Reset() leaves it.
  T& Insert(uint64_t id) {
    T* record = by_id_.Find(id);
    if (record == nullptr) {
      if (free_.empty()) {
        record = records_.emplace_back(std::make_unique<T>()).get();
        by_id_.Add(id, record);
        return *record;
      }
      record = free_.back();
      free_.pop_back();
      by_id_.Add(id, record);
    }
    record->Reset();
    return *record;
  }
  // Returns null if `id` is not in the pool.
  T* Find(uint64_t id) { return by_id_.Find(id); }
  const T* Find(uint64_t id) const { return by_id_.Find(id); }
  void Erase(uint64_t id) {
    T* const record = by_id_.Find(id);
    if (record == nullptr) return;
    free_.push_back(record);
    by_id_.Erase(id);
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
    by_id_.ForEachNumber([&](uint64_t id) { ids.push_back(id); });
    std::sort(ids.begin(), ids.end());
    return ids;
  }

 private:
  std::vector<std::unique_ptr<T>> records_;
  std::vector<T*> free_;
  NumberTable<T> by_id_;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RECORD_POOL_H_
