//===- prefetch.h - Prefetching of memory -----------------------*- C++ -*-===//
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

// Prefetches the cache lines of the `bytes` bytes from `begin` on, without
// waiting. Any address is allowed, even one that is not mapped.
inline void PrefetchBytes(const void* begin, size_t bytes) {
  constexpr uintptr_t kLine = 64;
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + bytes;
  for (uintptr_t at = reinterpret_cast<uintptr_t>(begin) & ~(kLine - 1);
       at < end; at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

}  // namespace pathways

#endif  // RUNTIME_BASE_PREFETCH_H_
