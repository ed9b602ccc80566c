//===- head_gang.h - State of the head of a device's queue ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gang at the head of a device's queue runs step by step, and may wait
// between two calls of its device. The objects of the device share its state.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_HEAD_GANG_H_
#define RUNTIME_DEVICE_HEAD_GANG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pathways {

// The poisoned ones of the shards that run together on a device.
class ShardPoison {
 public:
  // Makes room for gangs with `shards` shards.
  void Reserve(size_t shards) {
    if (shards > shards_.size()) shards_.resize(shards);
  }
  void Clear() { any_ = false; }
  bool any() const { return any_; }
  bool Has(uint32_t shard) const { return any_ && shards_[shard] != 0; }
  void Add(uint32_t shard) {
    data();
    any_ = true;
    shards_[shard] = 1;
  }
  void Remove(uint32_t shard) {
    if (!Has(shard)) return;
    shards_[shard] = 0;
    any_ = std::find(shards_.begin(), shards_.end(), 1) != shards_.end();
  }
  // Returns one byte per shard, which is not 0 if the shard is poisoned.
  const uint8_t* data() {
    if (!any_) std::fill(shards_.begin(), shards_.end(), 0);
    return shards_.data();
  }

 private:
  bool any_ = false;  // false: shards_ is stale
  std::vector<uint8_t> shards_;
};

struct HeadGang {
  // Reason to wait: the backend's event, or the end of the virtual time.
  enum Wait : uint8_t { kNothing, kWork, kCost };

  // Returns true if the head still awaits the event with this number.
  bool Awaits(Wait wait, uint64_t number) const {
    return awaits == wait && number == generation;
  }
  // Forgets a head that was removed. Its later events are not awaited.
  void Reset() {
    started = cost_paid = issued = false;
    awaits = kNothing;
    step = waiting_groups = num_skipped = 0;
    ++generation;
  }

  bool started = false;
  bool cost_paid = false;
  bool issued = false;  // the backend has the work of the step
  Wait awaits = kNothing;
  uint32_t step = 0;            // step of the gang
  uint32_t waiting_groups = 0;  // groups of a collective that it waits for
  uint64_t generation = 0;      // number of the wait; see awaits
  ShardPoison poison;
  // Shards whose guard says no. While the gang runs they count as poisoned,
  // too: they run no kernel and contribute nothing, but meet the other members
  // of collectives. They are not poisoned when the gang fires.
  ShardPoison skipped;
  uint32_t num_skipped = 0;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_HEAD_GANG_H_
