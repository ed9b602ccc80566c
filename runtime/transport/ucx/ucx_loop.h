//===- ucx_loop.h - Loop that one thread at a time runs ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_LOOP_H_
#define RUNTIME_TRANSPORT_UCX_UCX_LOOP_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/descriptor.h"

namespace pathways {

// The work of a loop. The thread that is inside calls these functions.
class UcxWork {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~UcxWork() = default;
  // Moves what can be moved. Handlers run only here. Returns false if there was
  // nothing.
  virtual bool Move() = 0;
  // Does the work for which UrgeOn was called. No handler runs.
  virtual void MoveUrgent() = 0;
  // Prepares for sleep. Returns false if there is work already. Returns true if
  // `event_fd` becomes readable as soon as there is work, except for work
  // announced by Wake.
  virtual bool Arm() = 0;
  virtual int event_fd() = 0;
  // Does the work that is due. Returns the time at which the next is.
  virtual Time Tick(Time now) = 0;
};

// Lets one thread at a time inside: a thread that polls, one that has something
// to send, or its own thread while none polls. Invariants: (1) Enter never
// waits; if it refuses, urgent work is done by the thread that is inside,
// before that one has left; (2) while no thread polls, the own thread sleeps
// until there is work; (3) while other threads poll again and again, the own
// thread stays out of their way, and checks at intervals of 1 to 4 milliseconds
// whether they still do; (4) after Stop only its caller gets inside.
// Thread-safe.
class UcxLoop {
 public:
  // `work` must outlive Stop.
  explicit UcxLoop(UcxWork* work);
  ~UcxLoop();

  // Starts the own thread.
  void Start();
  // Returns true if this thread is now inside, perhaps once more. It must call
  // Leave as often as Enter returned true.
  bool Enter();
  // Waits for other threads to leave. Returns false if the loop was stopped.
  bool EnterWaiting();
  void Leave();
  // Announces work for MoveUrgent.
  void UrgeOn() { urgent_.store(true); }
  // Announces work for Move, which some thread does soon.
  void Wake();
  // Tick must be called by that time.
  void WakeAt(UcxWork::Time time);

  // Returns false if there was nothing to do, or another thread is inside.
  bool Poll();
  void OnIdle();
  // Makes this thread the only one inside, for good. Must not be called from
  // inside. Returns false if it was called before.
  bool Stop();

 private:
  bool TryTake();
  void Release();
  void Watch();
  // Does pending work, or sleeps until there is some.
  void WatchOnce();
  void WaitWhileOthersPoll();
  void TickIfDue();

  UcxWork* const work_;
  const Descriptor wake_fd_;
  std::atomic<bool> taken_{false};
  std::atomic<std::thread::id> inside_{};
  int depth_ = 0;  // entries of the thread inside
  std::atomic<bool> urgent_{false};
  std::atomic<int> waiting_{0};
  std::atomic<bool> polled_{false};    // since the own thread last checked
  std::atomic<bool> watching_{false};  // own thread sleeps, or is about to
  std::atomic<int> polls_{0};          // polls while it does
  std::atomic<UcxWork::Time> due_{UcxWork::Time::max()};
  std::atomic<bool> stopping_{false};
  int idle_ = 0;  // wake-ups in a row without work or sleep

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::thread thread_;  // last: it uses all members above
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_LOOP_H_
