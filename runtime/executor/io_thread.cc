//===- io_thread.cc - Thread for blocking work ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/io_thread.h"

#include <system_error>
#include <utility>

namespace pathways {

bool IoThread::Do(const std::function<void()>& work) {
  MutexLock lock(&mutex_);
  if (is_over_) return true;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Loop(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  next_ = work;
  changed_.notify_one();
  return true;
}

void IoThread::Stop() {
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    is_over_ = true;
    next_ = nullptr;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  if (thread.joinable()) thread.join();
}

void IoThread::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(&mutex_);
      while (next_ == nullptr && !is_over_) changed_.wait(mutex_);
      if (is_over_) return;
      work = std::exchange(next_, nullptr);
    }
    work();
  }
}

}  // namespace pathways
