//===- polled_context.h - One thread, or those that poll --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_POLLED_CONTEXT_H_
#define RUNTIME_TRANSPORT_SOCKET_POLLED_CONTEXT_H_

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/run_guard.h"

namespace pathways {

// Who waits until there is something to read at its `fd`, or that is broken.
// Both are called as handlers of the context are, one of them, once.
class PolledReader {
 public:
  virtual ~PolledReader() = default;

  virtual int fd() const = 0;
  virtual void OnReadable() = 0;
  // Nobody looks any more: it is to wait in the context.
  virtual void WaitInContext() = 0;
};

// Runs what an io_context has to run: on threads that poll, and on its own
// while nobody does. Invariants: (1) while nobody polls the own thread sleeps
// in the system until something is there; (2) while others poll again and again
// it keeps out of their way, and looks after a while whether they still do;
// (3) nothing runs after Stop. Thread-safe. What still waits then is
// dropped by the destructor.
//
// Readers that had something a short while ago are looked at by who polls,
// beside the context: to wait in that costs two more calls of the system for
// each message.
class PolledContext {
 public:
  // `look`: after what time of polls by others the own thread looks whether
  // they still do; up to four times that where they have for long.
  explicit PolledContext(
      std::chrono::nanoseconds look = std::chrono::milliseconds(1))
      : look_(look), thread_([this] { Watch(); }) {}
  ~PolledContext() { Stop(); }

  asio::io_context& context() { return context_; }
  // Whether it is likely that who awaits something is not sent to the context.
  bool is_polled() const {
    return !watching_.load(std::memory_order_relaxed) &&
           num_readers_.load(std::memory_order_relaxed) < kMaxReaders;
  }
  // Calls it when there is something to read. Any thread, also from what this
  // runs. What is registered in the context meanwhile makes that busy for
  // nothing.
  void AwaitReadable(std::shared_ptr<PolledReader> reader);
  // False: there was nothing to run.
  bool Poll();
  // Who polled does not any more: the own thread takes over now.
  void OnIdle();
  // Not from what it runs. Idempotent.
  void Stop();

 private:
  enum class Look { kNobody, kNothing, kSome };
  static constexpr size_t kMaxReaders = 32;

  void WakeOwnThread();
  // Calls those readers that have something.
  Look LookAtReaders();
  // They wait in the context from now on.
  void SendReadersToContext();
  // One thread at a time takes readers out. False: another one does.
  bool TryLook() { return !looking_.exchange(true, std::memory_order_acquire); }
  void EndLook() { looking_.store(false, std::memory_order_release); }
  void Watch();
  // Until nobody has polled for a while.
  void WaitWhileOthersPoll();

  // First of all: threads use it until they have left the gate.
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      context_.get_executor()};
  RunGuard gate_;
  std::atomic<bool> polled_{false};  // since the own thread looked last
  // The own thread runs the context, until it is told to leave; it has not
  // left.
  std::atomic<bool> watching_{false}, is_inside_{false};
  // What is to wake it is on its way, or nothing has to.
  std::atomic<bool> is_woken_{true};
  std::atomic<int> polls_{0};       // while it watches
  std::atomic<bool> waits_{false};  // the own thread, while others poll

  const std::chrono::nanoseconds look_;
  std::atomic<bool> looking_{false};
  int misses_ = 0;                       // in a row; of who is looking
  std::atomic<uint32_t> looks_{0};       // about, as several threads count
  std::atomic<uint32_t> runs_until_{0};  // look: the context has had something
  std::atomic<size_t> num_readers_{0};
  Mutex readers_mutex_;
  std::vector<std::shared_ptr<PolledReader>> readers_
      ABSL_GUARDED_BY(readers_mutex_);

  Mutex mutex_;
  std::condition_variable_any changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Mutex stop_mutex_;    // Stop is under way
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_POLLED_CONTEXT_H_
