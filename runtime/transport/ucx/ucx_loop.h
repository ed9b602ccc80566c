//===- ucx_loop.h - One thread at a time ------------------------*- C++ -*-===//
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

// What a loop has to do. Called by the thread that is inside.
class UcxWork {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~UcxWork() = default;
  // Handlers run here alone. False: there was nothing.
  virtual bool Move() = 0;
  // What UrgeOn was called for. No handler runs.
  virtual void MoveUrgent() = 0;
  // False: there is something to do already. True: `event_fd` is readable as
  // soon as there is, but for what others call Wake for.
  virtual bool Arm() = 0;
  virtual int event_fd() = 0;
  // Looks after what is due, and says when the next is.
  virtual Time Tick(Time now) = 0;
};

// Lets one thread at a time inside: who polls, who has something to send, or a
// thread of its own while nobody polls. Invariants: (1) Enter never waits, and
// what is urgent when it says no is moved by whoever is inside, before that one
// has left; (2) while nobody polls the own thread sleeps until there is
// something to do; (3) while others poll again and again it keeps out of their
// way, and looks after 1 to 4 milliseconds whether they still do; (4) after
// Stop nobody but its caller gets inside. Thread-safe.
class UcxLoop {
 public:
  // `work` outlives Stop.
  explicit UcxLoop(UcxWork* work);
  ~UcxLoop();

  // The own thread begins.
  void Start();
  // True: this thread is inside, perhaps as before, until it calls Leave as
  // often.
  bool Enter();
  // Waits for the others. False: it was stopped.
  bool EnterWaiting();
  void Leave();
  // There is something for MoveUrgent.
  void UrgeOn() { urgent_.store(true); }
  // There is something for Move: somebody is to look soon.
  void Wake();
  // Tick is to be called by then.
  void WakeAt(UcxWork::Time time);

  // False: there was nothing, or somebody is at it.
  bool Poll();
  void OnIdle();
  // This thread alone is inside from now on. Not from inside. False: it had
  // been called before.
  bool Stop();

 private:
  bool TryTake();
  void Release();
  void Watch();
  // Looks whether there is something, and sleeps until there is.
  void WatchOnce();
  void WaitWhileOthersPoll();
  void TickIfDue();

  UcxWork* const work_;
  const Descriptor wake_fd_;
  std::atomic<bool> taken_{false};
  std::atomic<std::thread::id> inside_{};
  int depth_ = 0;  // of the thread that is inside
  std::atomic<bool> urgent_{false};
  std::atomic<int> waiting_{0};
  std::atomic<bool> polled_{false};    // since the own thread looked last
  std::atomic<bool> watching_{false};  // the own thread sleeps, or is about to
  std::atomic<int> polls_{0};          // meanwhile
  std::atomic<UcxWork::Time> due_{UcxWork::Time::max()};
  std::atomic<bool> stopping_{false};
  int idle_ = 0;  // times that there was nothing, and yet no sleep

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_LOOP_H_
