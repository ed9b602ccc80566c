//===- free_list.h - Reused blocks of one size ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_FREE_LIST_H_
#define RUNTIME_BASE_FREE_LIST_H_

#include <cstddef>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Blocks of one size, that of the first block given back. Some free blocks are
// kept for reuse. Any thread may call it; it outlives its blocks.
class FreeList {
 public:
  // Most free blocks.
  static constexpr size_t kMaxSpare = 256;

  FreeList() = default;
  ~FreeList() {
    while (first_ != nullptr) {
      Spare* const next = first_->next;
      ::operator delete(first_);
      first_ = next;
    }
  }
  FreeList(const FreeList&) = delete;
  FreeList& operator=(const FreeList&) = delete;

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

// Allocator for std::allocate_shared (one block holds the object and its count)
// and for containers with nodes, such as std::map. Does not own the list.
template <typename T>
class FreeListAllocator {
 public:
  using value_type = T;

  explicit FreeListAllocator(FreeList* list) : list_(list) {}
  template <typename U>
  FreeListAllocator(const FreeListAllocator<U>& other) : list_(other.list()) {}

  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(list_->Take(count * sizeof(T)));
  }
  void deallocate(T* block, size_t count) {
    list_->Give(block, count * sizeof(T));
  }
  FreeList* list() const { return list_; }

  friend bool operator==(const FreeListAllocator& a,
                         const FreeListAllocator& b) {
    return a.list_ == b.list_;
  }
  friend bool operator!=(const FreeListAllocator& a,
                         const FreeListAllocator& b) {
    return a.list_ != b.list_;
  }

 private:
  FreeList* list_;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_FREE_LIST_H_
