//===- spare_memory.h - Memory for objects that come and go -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_SPARE_MEMORY_H_
#define RUNTIME_CLIENT_SPARE_MEMORY_H_

#include <cstddef>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Blocks of one size, that of the first block given back. Some free blocks are
// kept for reuse. Any thread may call it; it outlives its blocks.
class SpareMemory {
 public:
  // Most free blocks.
  static constexpr size_t kMaxSpare = 256;

  SpareMemory() = default;
  ~SpareMemory() {
    while (first_ != nullptr) {
      Spare* const next = first_->next;
      ::operator delete(first_);
      first_ = next;
    }
  }
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  // Returns a block aligned as by operator new. `bytes`: at least the size of a
  // pointer.
  void* Take(size_t bytes) {
    {
      MutexLock lock(&mutex_);
      if (bytes == bytes_ && first_ != nullptr) {
        --spare_;
        return std::exchange(first_, first_->next);
      }
    }
    return ::operator new(bytes);
  }
  void Give(void* block, size_t bytes) {
    {
      MutexLock lock(&mutex_);
      if (bytes_ == 0) bytes_ = bytes;
      if (bytes == bytes_ && spare_ < kMaxSpare) {
        ++spare_;
        first_ = new (block) Spare{first_};
        return;
      }
    }
    ::operator delete(block);
  }

 private:
  struct Spare {
    Spare* next;
  };

  Mutex mutex_;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Spare* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t spare_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Allocator for std::allocate_shared: one block holds the object and its count.
template <typename T>
class SpareAllocator {
 public:
  using value_type = T;

  explicit SpareAllocator(SpareMemory* pool) : pool_(pool) {}
  template <typename U>
  SpareAllocator(const SpareAllocator<U>& other) : pool_(other.pool()) {}

  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(pool_->Take(count * sizeof(T)));
  }
  void deallocate(T* block, size_t count) {
    pool_->Give(block, count * sizeof(T));
  }
  SpareMemory* pool() const { return pool_; }

  friend bool operator==(const SpareAllocator& a, const SpareAllocator& b) {
    return a.pool_ == b.pool_;
  }
  friend bool operator!=(const SpareAllocator& a, const SpareAllocator& b) {
    return a.pool_ != b.pool_;
  }

 private:
  SpareMemory* pool_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_SPARE_MEMORY_H_
