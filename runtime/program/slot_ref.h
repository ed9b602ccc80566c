//===- slot_ref.h - Address of a firing's buffer ----------------*- C++ -*-===//
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

// Returns firing mod count. Almost every count is a power of two, and a
// division would cost more than the rest of finding a slot.
inline uint64_t SlotOf(uint64_t firing, uint32_t count) {
  const uint64_t mask = count - 1;
  return (count & mask) == 0 ? firing & mask : firing % count;
}

// Returns the address `offset` bytes after `base`. If values have no memory,
// `base` is null and the result is meaningless, so this avoids pointer
// arithmetic.
inline char* AddressAt(char* base, uint64_t offset) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(base) + offset);
}

// A buffer on one shard: one of `credits` slots per firing.
struct SlotRef {
  char* base = nullptr;  // null: values have no memory
  uint64_t stride = 0;
  uint32_t credits = 1;
  char* at(uint64_t firing) const {
    return base + SlotOf(firing, credits) * stride;
  }
};

// A buffer on one shard, relative to the device's memory, and thus equal for
// all devices with as many shards.
struct SlotOffset {
  enum Memory : uint32_t { kDevice, kHost };

  uint64_t offset = 0;
  uint64_t stride = 0;
  uint32_t credits = 1;
  Memory memory = kDevice;
  // `memories`: base addresses of the device's memories.
  char* at(char* const* memories, uint64_t firing) const {
    return AddressAt(memories[memory],
                     offset + SlotOf(firing, credits) * stride);
  }
  // at_masked returns the same address as `at`, for a buffer whose number of
  // slots is a power of two (has_mask).
  bool has_mask() const { return (credits & (credits - 1)) == 0; }
  char* at_masked(char* const* memories, uint64_t firing) const {
    return memories[memory] + offset + (firing & (credits - 1)) * stride;
  }
  bool operator==(const SlotOffset&) const = default;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_SLOT_REF_H_
