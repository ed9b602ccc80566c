//===- polled_context.h - One thread, or those that poll --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_POLLED_CONTEXT_H_
#define RUNTIME_TRANSPORT_POLLED_CONTEXT_H_

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <condition_variable>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/poll_gate.h"

namespace pathways {

// Runs what an io_context has to run: on threads that poll, and on its own
// while nobody does. Invariants: (1) while nobody polls the own thread sleeps
// in the system until something is there; (2) while others poll again and again
// it keeps out of their way, and looks after about a millisecond whether they
// still do; (3) nothing runs after Stop. Thread-safe. What still waits then is
// dropped by the destructor.
class PolledContext {
 public:
  PolledContext() : thread_([this] { Watch(); }) {}
  ~PolledContext() { Stop(); }

  asio::io_context& context() { return context_; }
  // False: there was nothing to run.
  bool Poll();
  // Who polled does not any more: the own thread takes over now.
  void Rest();
  // Not from what it runs. Idempotent.
  void Stop();

 private:
  void Watch();
  // Until nobody has polled for a while.
  void WaitWhileOthersPoll();

  // First of all: threads use it until they have left the gate.
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      context_.get_executor()};
  PollGate gate_;
  std::atomic<bool> polled_{false};    // since the own thread looked last
  std::atomic<bool> watching_{false};  // the own thread is in the context
  std::atomic<int> polls_{0};          // meanwhile
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Mutex stop_mutex_;    // Stop is under way
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_POLLED_CONTEXT_H_
