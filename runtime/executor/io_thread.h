//===- io_thread.h - Thread for blocking work -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_IO_THREAD_H_
#define RUNTIME_EXECUTOR_IO_THREAD_H_

#include <condition_variable>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// One thread, started with the first work, that does one piece of work at a
// time. Thread-safe.
class IoThread {
 public:
  ~IoThread() { Stop(); }

  // Starts `work`, and returns at once. The previous work must have ended.
  // Returns false if the system cannot create the thread, so that the caller
  // must do the work.
  bool Do(const std::function<void()>& work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for work that has begun. Later work is not done.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> next_ ABSL_GUARDED_BY(mutex_);
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_IO_THREAD_H_
