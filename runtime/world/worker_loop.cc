//===- worker_loop.cc - Order of a worker's work --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_loop.h"

#include <sched.h>

#include "runtime/base/pause.h"

namespace pathways {
namespace {

// Messages taken from one queue before the worker looks at the others.
constexpr int kBatch = 64;
// Rounds after which a busy worker looks for one bulk message, so that bulk
// messages do not starve.
constexpr uint32_t kRoundsPerBulk = 64;
// Time after which a worker with turns looks for a bulk message, since its
// rounds are long. So bulk takes at most a tenth of its time.
constexpr TimeNs kBulkEveryNs = 200'000;
// Rounds, including those of Spin, without a message from elsewhere before a
// bulk message is handled. The last message, part of a launch for example,
// often leads to more within 2 us, which would have to wait for the bulk
// message.
constexpr uint32_t kQuietRounds = 64;
// Rounds of a worker without work between two yields to threads that seem to be
// on its core.
constexpr uint32_t kRoundsPerYield = 2;

}  // namespace

bool WorkerLoop::RunLocal(ThreadWorker& self) {
  int taken = 0;
  uint64_t handled = 0;
  self.queue = kDirectQueue;
  self.serving = self.index;
  while (taken < kBatch && !stopping_.load(std::memory_order_relaxed)) {
    Envelope* envelope = self.mailbox.FrontOwn(kDirectQueue);
    if (envelope == nullptr) break;
    handled += delivery_.Deliver(self, *envelope);
    self.mailbox.PopOwn(kDirectQueue);
    ++taken;
  }
  if (taken == 0) return false;
  self.stats.messages.Add(handled);
  return true;
}

bool WorkerLoop::RunRemote(ThreadWorker& self) {
  bool any = false;
  uint64_t handled = 0;
  for (int from = 0; from < num_workers_; ++from) {
    if (from == self.index) continue;
    self.serving = from;
    for (int i = 0; i < kBatch && !stopping_.load(std::memory_order_relaxed);
         ++i) {
      Envelope* envelope = self.mailbox.Front(kDirectQueue, from);
      if (envelope == nullptr) break;
      handled += delivery_.Deliver(self, *envelope);
      self.mailbox.Pop(kDirectQueue, from);
      any = true;
    }
  }
  if (!any) return false;
  self.stats.messages.Add(handled);
  self.stats.remote.Add(handled);
  return true;
}

bool WorkerLoop::RunTurn(ThreadWorker& self) {
  Envelope* envelope = self.mailbox.FrontOwn(kTurnQueue);
  if (envelope == nullptr || stopping_.load(std::memory_order_relaxed)) {
    return false;
  }
  self.queue = kTurnQueue;
  self.serving = self.index;
  const bool handled = delivery_.Deliver(self, *envelope);
  self.mailbox.PopOwn(kTurnQueue);
  self.queue = kDirectQueue;
  self.stats.messages.Add(handled);
  return true;
}

bool WorkerLoop::RunBulk(ThreadWorker& self) {
  for (int i = 0; i < num_workers_; ++i) {
    const int from = self.next_bulk;
    self.next_bulk = from + 1 == num_workers_ ? 0 : from + 1;
    Envelope* envelope = self.mailbox.Front(kBulkQueue, from);
    if (envelope == nullptr) continue;
    self.queue = kBulkQueue;
    self.serving = from;
    const bool handled = delivery_.Deliver(self, *envelope);
    self.mailbox.Pop(kBulkQueue, from);
    self.queue = kDirectQueue;
    self.stats.messages.Add(handled);
    if (from != self.index) self.stats.remote.Add(handled);
    return true;
  }
  return false;
}

void WorkerLoop::TakePosted(ThreadWorker& self) {
  for (const Posted& posted : self.mailbox.TakePosted()) {
    const Envelope& envelope = posted.envelope;
    self.stats.outside.Add(1);
    if (posted.deadline >= 0) {
      self.mailbox.AddTimer(posted.deadline, envelope);
    } else {
      router_.Route(self, envelope);
    }
  }
}

bool WorkerLoop::FireTimers(ThreadWorker& self) {
  if (self.mailbox.first_timer() == nullptr) return false;
  const TimeNs now = clock_.Now();
  bool any = false;
  for (int i = 0; i < kBatch && self.mailbox.TimerDue(now); ++i) {
    const Envelope envelope = self.mailbox.TakeTimer();
    self.stats.timers.Add(1);
    any = true;
    router_.Route(self, envelope);
  }
  return any;
}

void WorkerLoop::Run(ThreadWorker& self) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (!Round(self)) Idle(self);
  }
  self.FlushStage();
}

bool WorkerLoop::BulkIsDue(ThreadWorker& self) {
  if (!self.turned) return false;
  const TimeNs now = SteadyClock().Now();
  if (now - self.last_bulk < kBulkEveryNs) return false;
  self.last_bulk = now;
  return true;
}

bool WorkerLoop::Round(ThreadWorker& self) {
  bool busy = RunLocal(self);
  bool has_come = RunRemote(self);
  if (self.mailbox.has_posted()) {
    TakePosted(self);
    has_come = true;
  }
  // This also handles the messages that the others led to. Otherwise each
  // message of a chain between actors of this worker would wait for a turn.
  if (has_come) RunLocal(self);
  self.FlushStage();
  self.turned = RunTurn(self);
  self.FlushStage();
  busy |= has_come || self.turned;
  // A busy worker reads the clock now and then; a worker without work reads it
  // in Spin.
  if ((++self.rounds & clock_mask_) == 0 || self.turned) {
    busy |= FireTimers(self);
  }
  if (has_come) self.quiet = 0;
  if ((!busy && self.quiet++ >= kQuietRounds) ||
      ++self.passed_by >= kRoundsPerBulk || BulkIsDue(self)) {
    self.passed_by = 0;
    // A client that was woken or polls for an answer may be on this core. This
    // thread does not sleep, so the system would let the client wait for
    // milliseconds.
    if (notifier_.waking() || notifier_.spinning_on(sched_getcpu())) {
      sched_yield();
    }
    // Timers must not wait for as many bulk messages as for short ones.
    if (RunBulk(self)) {
      FireTimers(self);
      busy = true;
    }
  }
  return busy;
}

void WorkerLoop::Idle(ThreadWorker& self) {
  const auto makes_room = [this] {
    return leader_token_ && leader_token_->wanted();
  };
  if (Spin(self, makes_room)) {
    self.stats.spins.Add(1);
  } else {
    Sleep(self);
  }
}

bool WorkerLoop::Spin(ThreadWorker& self, absl::FunctionRef<bool()> is_over) {
  // Spinning uses real time, whatever the world's clock, since it depends on
  // the machine.
  SteadyClock real;
  TimeNs end = -1;
  const int core = sched_getcpu();
  for (uint32_t i = 1;; ++i) {
    ++self.quiet;
    if (!self.mailbox.empty() || stopping_.load(std::memory_order_seq_cst)) {
      return true;
    }
    if (is_over()) return false;
    if (uplink_.Poll(self)) return true;
    // The first rounds do not read the clock: the answer to a message often
    // comes before the clock is read.
    const bool crowded = notifier_.spinning() || notifier_.waking();
    if (i % kRoundsPerClock == 0 || spin_ns_ == 0) {
      if (FireTimers(self)) return true;
      TimeNs now = real.Now();
      if (end < 0) end = now + spin_ns_;
      // A woken worker may be put on a free core.
      if (now >= end || (!crowded && SharesCore(self))) return false;
    }
    // Yielding costs less than sleeping and being woken. The core may be shared
    // with a client that spins and has work after it was notified, or with a
    // process that sends what this worker waits for. Now and then the worker
    // also yields for a client that the system may have moved here meanwhile.
    // For that it counts the rounds of all idle periods, since a steady stream
    // of messages may end each period early.
    const bool shares =
        notifier_.spinning_on(core) || notifier_.waking() || uplink_.polls();
    if ((shares && i % kRoundsPerYield == 0) ||
        (++self.not_yielded >= kRoundsPerClock && crowded)) {
      self.not_yielded = 0;
      sched_yield();
    }
    Pause();
  }
}

bool WorkerLoop::SharesCore(ThreadWorker& self) {
  const int core = sched_getcpu();
  if (core != self.core.load(std::memory_order_relaxed)) {
    self.core.store(core, std::memory_order_relaxed);
  }
  if (core < 0) return false;
  for (int i = 0; i < num_workers_; ++i) {
    const ThreadWorker& other = workers_[i];
    if (&other != &self && other.core.load(std::memory_order_relaxed) == core &&
        !other.mailbox.seems_asleep()) {
      return true;
    }
  }
  return false;
}

void WorkerLoop::Sleep(ThreadWorker& self) {
  const bool watches_idle = uplink_.watches_idle();
  const bool makes_room = leader_token_ && leader_token_->wanted();
  if (watches_idle && awake_.fetch_sub(1, std::memory_order_relaxed) == 1 &&
      !makes_room) {
    uplink_.NotifyIdle();
  }
  const auto limit_of = [&](TimeNs deadline) -> TimeNs {
    if (stopping_.load(std::memory_order_seq_cst)) return 0;
    TimeNs limit = -1;
    if (deadline != LeaderToken::kNever) {
      if (deadline <= clock_.Now()) return 0;
      limit = clock_.RealDelay(deadline);
      // Waking takes time, so the worker wakes early and spins until the timer.
      if (limit > spin_ns_) limit -= spin_ns_;
    }
    return limit;
  };
  self.stats.sleeps.Add(1);
  if (leader_token_) {
    leader_token_->Park(limit_of);
  } else {
    bool rests = false;
    self.mailbox.Sleep([&] {
      const TimeNs* first = self.mailbox.first_timer();
      const TimeNs limit =
          limit_of(first == nullptr ? LeaderToken::kNever : *first);
      rests = limit != 0;
      if (rests) self.rests.fetch_add(1, std::memory_order_seq_cst);
      return limit;
    });
    if (rests) self.rests.fetch_add(1, std::memory_order_seq_cst);
  }
  if (watches_idle) awake_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace pathways
