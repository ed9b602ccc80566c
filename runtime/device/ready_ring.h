//===- ready_ring.h - Ring of entries that are ready to fire ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_READY_RING_H_
#define RUNTIME_DEVICE_READY_RING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/line_allocator.h"

namespace pathways {

struct DeviceProgram;

// Sends, receives, feeds and fetches that wait for nothing more, in the order
// in which they became ready. Owned by a device, and used by it alone.
// Invariant: Push does not allocate as long as no entry is in the ring twice.
class ReadyRing {
 public:
  struct Ready {
    DeviceProgram* program;
    uint32_t entry;
  };

  // Makes room for as many entries as all programs have together.
  void Reserve(size_t entries) {
    if (entries <= ring_.size()) return;
    std::rotate(ring_.begin(), ring_.begin() + begin_, ring_.end());
    begin_ = 0;
    ring_.resize(std::max(entries, 2 * ring_.size()));
  }
  bool empty() const { return size_ == 0; }
  void Push(Ready ready) {
    size_t at = begin_ + size_++;
    if (at >= ring_.size()) at -= ring_.size();
    ring_[at] = ready;
  }
  Ready Pop() {
    const Ready ready = ring_[begin_];
    begin_ = begin_ + 1 == ring_.size() ? 0 : begin_ + 1;
    --size_;
    return ready;
  }
  // Removes all entries of a program; the others keep their order.
  void Remove(const DeviceProgram* program) {
    for (size_t left = size_; left > 0; --left) {
      const Ready ready = Pop();
      if (ready.program != program) Push(ready);
    }
  }

 private:
  size_t size_ = 0, begin_ = 0;
  LineVector<Ready> ring_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_READY_RING_H_
