//===- mutex.h - Mutex with thread safety annotations -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// std::mutex with the annotations of clang's thread safety analysis.
// ThreadSanitizer sees it, unlike absl::Mutex from an installed library.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_MUTEX_H_
#define RUNTIME_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace pathways {

class ABSL_LOCKABLE Mutex {
 public:
  // The standard's names, as std::condition_variable_any needs them.
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_MUTEX_H_
