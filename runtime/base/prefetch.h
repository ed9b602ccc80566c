//===- prefetch.h - Asks for memory that is read soon -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_PREFETCH_H_
#define RUNTIME_BASE_PREFETCH_H_

#include <cstddef>
#include <cstdint>

namespace pathways {

// Has the processor bring the cache lines of `bytes` bytes from `begin` on, and
// does not wait. Any address will do, of something that is there or not.
inline void PrefetchBytes(const void* begin, size_t bytes) {
  constexpr uintptr_t kLine = 64;
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + bytes;
  for (uintptr_t at = reinterpret_cast<uintptr_t>(begin) & ~(kLine - 1);
       at < end; at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

// The lines from `begin` up to `end`.
inline void PrefetchBetween(const void* begin, const void* end) {
  PrefetchBytes(begin, reinterpret_cast<uintptr_t>(end) -
                           reinterpret_cast<uintptr_t>(begin));
}

}  // namespace pathways

#endif  // RUNTIME_BASE_PREFETCH_H_
