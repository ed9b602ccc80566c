//===- slot_ref.h - Where a firing finds its buffer -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_SLOT_REF_H_
#define RUNTIME_PROGRAM_SLOT_REF_H_

#include <cstdint>

namespace pathways {

// firing mod count. Almost every count is a power of two, and a division costs
// more than all else that finding a slot takes.
inline uint64_t SlotOf(uint64_t firing, uint32_t count) {
  const uint64_t mask = count - 1;
  return (count & mask) == 0 ? firing & mask : firing % count;
}

// `offset` bytes behind `base`. Where values have no memory the base is null,
// and what comes of it means nothing; so it is no arithmetic of pointers.
inline char* AddressAt(char* base, uint64_t offset) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(base) + offset);
}

// A buffer on one shard: one of `credits` slots per firing.
struct SlotRef {
  char* base = nullptr;  // null: there is no memory
  uint64_t stride = 0;
  uint32_t credits = 1;
  char* at(uint64_t firing) const {
    return base + SlotOf(firing, credits) * stride;
  }
};

// A buffer on one shard, counted from where a device has its memory: the same
// for all devices that have as many shards.
struct SlotOffset {
  enum Memory : uint32_t { kDevice, kHost };

  uint64_t offset = 0;
  uint64_t stride = 0;
  uint32_t credits = 1;
  Memory memory = kDevice;
  // `memories`: where those of the device begin.
  char* at(char* const* memories, uint64_t firing) const {
    return AddressAt(memories[memory],
                     offset + SlotOf(firing, credits) * stride);
  }
  // The same slot, of a buffer that has a power of two of them.
  bool has_mask() const { return (credits & (credits - 1)) == 0; }
  char* at_masked(char* const* memories, uint64_t firing) const {
    return memories[memory] + offset + (firing & (credits - 1)) * stride;
  }
  bool operator==(const SlotOffset&) const = default;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_SLOT_REF_H_
