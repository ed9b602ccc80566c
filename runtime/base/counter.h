//===- counter.h - Counter with one writer ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_COUNTER_H_
#define RUNTIME_BASE_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace pathways {

// Counter that one thread at a time writes, for instance an actor, and any
// thread reads. Writing needs no atomic read-modify-write.
class Counter {
 public:
  void Add(uint64_t n = 1) { Set(get() + n); }
  void Set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace pathways

#endif  // RUNTIME_BASE_COUNTER_H_
