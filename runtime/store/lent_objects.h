//===- lent_objects.h - Objects that clients read in place ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STORE_LENT_OBJECTS_H_
#define RUNTIME_STORE_LENT_OBJECTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Addresses of objects that hosts of this process hold for a fetch of a client
// of this process, which reads them in place. The host removes an entry when
// the fetch is over, and keeps the object that long. Thread-safe.
class LentObjects {
 public:
  void Add(uint32_t client, uint64_t request, const char* data) {
    MutexLock lock(&mutex_);
    data_[{client, request}] = data;
    size_.store(data_.size(), std::memory_order_relaxed);
  }
  void Remove(uint32_t client, uint64_t request) {
    // The host that calls this has added the entry, if there is one.
    if (size_.load(std::memory_order_relaxed) == 0) return;
    MutexLock lock(&mutex_);
    data_.erase({client, request});
    size_.store(data_.size(), std::memory_order_relaxed);
  }
  // Returns null if there is no such object.
  const char* Find(uint32_t client, uint64_t request) const {
    MutexLock lock(&mutex_);
    const auto found = data_.find({client, request});
    return found == data_.end() ? nullptr : found->second;
  }

 private:
  std::atomic<size_t> size_{0};
  mutable Mutex mutex_;
  std::map<std::pair<uint32_t, uint64_t>, const char*> data_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_STORE_LENT_OBJECTS_H_
