//===- line_allocator.h - Allocator of whole cache lines --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_LINE_ALLOCATOR_H_
#define RUNTIME_BASE_LINE_ALLOCATOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace pathways {

inline constexpr size_t kLineBytes = 64;

// Allocates memory in cache lines that hold nothing else. Otherwise a small
// table that one thread writes could share a line with tables of other threads,
// and each write would take that line away from them.
template <typename T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > (SIZE_MAX - kLineBytes) / sizeof(T)) throw std::bad_alloc();
    const size_t lines = (count * sizeof(T) + kLineBytes - 1) / kLineBytes;
    return static_cast<T*>(::operator new(lines * kLineBytes, kAlign));
  }
  void deallocate(T* memory, size_t) {
    ::operator delete(static_cast<void*>(memory), kAlign);
  }

  template <typename U>
  bool operator==(const LineAllocator<U>&) const {
    return true;
  }

 private:
  static constexpr std::align_val_t kAlign{std::max(kLineBytes, alignof(T))};
};

template <typename T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace pathways

#endif  // RUNTIME_BASE_LINE_ALLOCATOR_H_
