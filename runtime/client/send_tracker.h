//===- send_tracker.h - Launches between numbering and sending --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_SEND_TRACKER_H_
#define RUNTIME_CLIENT_SEND_TRACKER_H_

#include <condition_variable>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {

// A launch gets its place among the requests of its client before it is
// complete and sent. A simulation without events left is over only when no
// launch is between the two; other worlds need no gate. Any thread may call it;
// a sender never waits for AwaitNobody.
class SendTracker {
 public:
  // Exists from when a request gets its place until it has been sent.
  class Sender {
   public:
    // `gate`: null if there is none.
    explicit Sender(SendTracker* gate) : gate_(gate) {
      if (gate_ == nullptr) return;
      MutexLock lock(&gate_->mutex_);
      ++gate_->senders_;
    }
    ~Sender() {
      if (gate_ == nullptr) return;
      MutexLock lock(&gate_->mutex_);
      if (--gate_->senders_ == 0) gate_->nobody_.notify_all();
    }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

   private:
    SendTracker* const gate_;
  };

  // Waits for a moment without senders.
  void AwaitNobody() {
    MutexLock lock(&mutex_);
    while (senders_ != 0) nobody_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  std::condition_variable_any nobody_;
  int senders_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_SEND_TRACKER_H_
