//===- polled_context.h - io_context that pollers can run -------*- C++ -*-===//
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

// Waits until `fd` has something to read or is broken. The context then calls
// exactly one of the two functions, once, as its handlers are called.
class PolledReader {
 public:
  virtual ~PolledReader() = default;

  virtual int fd() const = 0;
  virtual void OnReadable() = 0;
  // No thread polls any more: the reader must wait in the io_context instead.
  virtual void WaitInContext() = 0;
};

// Runs an io_context on threads that poll, and on its own thread while none
// polls. Invariants: (1) while no thread polls, the own thread sleeps in the
// system until there is something to do; (2) while other threads poll again and
// again, it stays out of their way, and checks from time to time whether they
// still do; (3) nothing runs after Stop. Thread-safe. Handlers that still wait
// at Stop are dropped by the destructor.
//
// Threads that poll look at recently active readers directly, apart from the
// io_context: waiting in it costs two more system calls for each message.
class PolledContext {
 public:
  // `look` is the interval at which the own thread checks whether other threads
  // still poll; it grows up to four times as long if they have polled for long.
  explicit PolledContext(
      std::chrono::nanoseconds look = std::chrono::milliseconds(1))
      : look_(look), thread_([this] { Watch(); }) {}
  ~PolledContext() { Stop(); }

  asio::io_context& context() { return context_; }
  // Returns true if a reader that waits now will probably be watched by
  // pollers, and not be sent to the io_context.
  bool is_polled() const {
    return !watching_.load(std::memory_order_relaxed) &&
           num_readers_.load(std::memory_order_relaxed) < kMaxReaders;
  }
  // Calls the reader when there is something to read. May be called on any
  // thread, including handlers. The reader's fd must not be registered in the
  // io_context meanwhile, which would then be woken for nothing.
  void AwaitReadable(std::shared_ptr<PolledReader> reader);
  // Runs what can be run now. Returns false if there was nothing.
  bool Poll();
  // Hint: the threads that polled have stopped. The own thread takes over at
  // once.
  void OnIdle();
  // Must not be called from a handler. Idempotent.
  void Stop();

 private:
  enum class Look { kNobody, kNothing, kSome };
  static constexpr size_t kMaxReaders = 32;

  void WakeOwnThread();
  // Calls the readers that have something to read.
  Look LookAtReaders();
  // Makes all readers wait in the io_context from now on.
  void SendReadersToContext();
  // Starts a look at the readers: one thread at a time may take readers out.
  // Returns false if another thread does.
  bool TryLook() { return !looking_.exchange(true, std::memory_order_acquire); }
  void EndLook() { looking_.store(false, std::memory_order_release); }
  void Watch();
  // Waits until no thread has polled for a while.
  void WaitWhileOthersPoll();

  // Declared first: threads use it until they have left the gate.
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      context_.get_executor()};
  RunGuard gate_;
  std::atomic<bool> polled_{false};  // since the own thread last checked
  // watching_: the own thread runs the io_context, until it is told to leave.
  // is_inside_: it has not left yet.
  std::atomic<bool> watching_{false}, is_inside_{false};
  // True if a wake-up of the own thread is in flight, or none is needed.
  std::atomic<bool> is_woken_{true};
  std::atomic<int> polls_{0};       // while the own thread watches
  std::atomic<bool> waits_{false};  // own thread waits while others poll

  const std::chrono::nanoseconds look_;
  std::atomic<bool> looking_{false};
  int misses_ = 0;                  // misses in a row; guarded by looking_
  std::atomic<uint32_t> looks_{0};  // approximate, as several threads count
  std::atomic<uint32_t> runs_until_{0};  // look until which the context is busy
  std::atomic<size_t> num_readers_{0};
  Mutex readers_mutex_;
  std::vector<std::shared_ptr<PolledReader>> readers_
      ABSL_GUARDED_BY(readers_mutex_);

  Mutex mutex_;
  std::condition_variable_any changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Mutex stop_mutex_;    // held during Stop
  std::thread thread_;  // last: it uses all members above
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_POLLED_CONTEXT_H_
