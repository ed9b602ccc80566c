//===- slot_ref.h - Where a firing finds its buffer -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_SLOT_REF_H_
#define RUNTIME_EXECUTOR_SLOT_REF_H_

#include <cstdint>

namespace pathways {

// firing mod count. Almost every count is a power of two, and a division costs
// more than all else that finding a slot takes.
inline uint64_t SlotOf(uint64_t firing, uint32_t count) {
  const uint64_t mask = count - 1;
  return (count & mask) == 0 ? firing & mask : firing % count;
}

// A buffer on one shard: one of `credits` slots per firing.
struct SlotRef {
  char* base = nullptr;  // null: kernels do not run
  uint64_t stride = 0;
  uint32_t credits = 1;
  char* at(uint64_t firing) const {
    return base + SlotOf(firing, credits) * stride;
  }
  // The same slot, of a buffer that has a power of two of them.
  bool has_mask() const { return (credits & (credits - 1)) == 0; }
  char* at_masked(uint64_t firing) const {
    return base + (firing & (credits - 1)) * stride;
  }
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_SLOT_REF_H_
