//===- thread_world_loop.cc - The work loop of workers ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sched.h>
#include <sys/prctl.h>

#include <atomic>
#include <climits>
#include <memory>
#include <system_error>
#include <thread>

#include "runtime/base/pause.h"
#include "runtime/world/futex.h"
#include "runtime/world/thread_world.h"

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

bool ThreadWorld::Deliver(ThreadWorker& self, Envelope& envelope) {
  if (self.staged) [[unlikely]]
    FlushBefore(self, envelope);
  Actor* actor = actors_.hot(envelope.to).actor;
  if (envelope.kind == Envelope::kLocal) {
    actor->OnLocal(envelope.As<LocalMessage>());
    return true;
  }
  if (envelope.kind == Envelope::kWire) {
    const WireBody& wire = envelope.As<WireBody>();
    actor->OnWire(envelope.from, wire.message, wire.payload);
    return true;
  }
  return DeliverRare(self, actor, envelope);
}

bool ThreadWorld::RunLocal(ThreadWorker& self) {
  int taken = 0;
  uint64_t handled = 0;
  self.queue = kDirectQueue;
  self.serving = self.index;
  while (taken < kBatch && !stopping_.load(std::memory_order_relaxed)) {
    Envelope* envelope = self.mailbox.FrontOwn(kDirectQueue);
    if (envelope == nullptr) break;
    handled += Deliver(self, *envelope);
    self.mailbox.PopOwn(kDirectQueue);
    ++taken;
  }
  if (taken == 0) return false;
  self.stats.messages.Add(handled);
  return true;
}

bool ThreadWorld::RunRemote(ThreadWorker& self) {
  bool any = false;
  uint64_t handled = 0;
  for (int from = 0; from < workers_.size(); ++from) {
    if (from == self.index) continue;
    self.serving = from;
    for (int i = 0; i < kBatch && !stopping_.load(std::memory_order_relaxed);
         ++i) {
      Envelope* envelope = self.mailbox.Front(kDirectQueue, from);
      if (envelope == nullptr) break;
      handled += Deliver(self, *envelope);
      self.mailbox.Pop(kDirectQueue, from);
      any = true;
    }
  }
  if (!any) return false;
  self.stats.messages.Add(handled);
  self.stats.remote.Add(handled);
  return true;
}

bool ThreadWorld::RunTurn(ThreadWorker& self) {
  Envelope* envelope = self.mailbox.FrontOwn(kTurnQueue);
  if (envelope == nullptr || stopping_.load(std::memory_order_relaxed)) {
    return false;
  }
  self.queue = kTurnQueue;
  self.serving = self.index;
  const bool handled = Deliver(self, *envelope);
  self.mailbox.PopOwn(kTurnQueue);
  self.queue = kDirectQueue;
  self.stats.messages.Add(handled);
  return true;
}

bool ThreadWorld::RunBulk(ThreadWorker& self) {
  for (int i = 0; i < workers_.size(); ++i) {
    const int from = self.next_bulk;
    self.next_bulk = from + 1 == workers_.size() ? 0 : from + 1;
    Envelope* envelope = self.mailbox.Front(kBulkQueue, from);
    if (envelope == nullptr) continue;
    self.queue = kBulkQueue;
    self.serving = from;
    const bool handled = Deliver(self, *envelope);
    self.mailbox.Pop(kBulkQueue, from);
    self.queue = kDirectQueue;
    self.stats.messages.Add(handled);
    if (from != self.index) self.stats.remote.Add(handled);
    return true;
  }
  return false;
}

void ThreadWorld::TakePosted(ThreadWorker& self) {
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

bool ThreadWorld::FireTimers(ThreadWorker& self) {
  if (self.mailbox.first_timer() == nullptr) return false;
  const TimeNs now = Now();
  bool any = false;
  for (int i = 0; i < kBatch && self.mailbox.TimerDue(now); ++i) {
    const Envelope envelope = self.mailbox.TakeTimer();
    self.stats.timers.Add(1);
    any = true;
    router_.Route(self, envelope);
  }
  return any;
}

void ThreadWorld::Run(ThreadWorker& self) {
  // The system would fire timers 50 us late without this.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  if (options_.on_worker_start) options_.on_worker_start(self.index);
  Work(self);
}

void ThreadWorld::Resume(ThreadWorker& self) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  // This thread is not bound to a core: the lost thread may still be busy on
  // the core to which it was bound.
  self.mailbox.Pop(self.queue, self.serving);
  Work(self);
}

bool ThreadWorld::GiveUp(int index, const KernelCall& call) {
  ThreadWorker& worker = workers_[index];
  // The new thread is started before the old one is given up.
  enum : uint32_t { kUndecided, kTakeOver, kGo };
  auto decision = std::make_shared<std::atomic<uint32_t>>(kUndecided);
  std::thread next;
  try {
    next = std::thread([this, &worker, decision] {
      while (decision->load(std::memory_order_acquire) == kUndecided) {
        FutexWait(*decision, kUndecided, -1);
      }
      if (decision->load(std::memory_order_acquire) == kTakeOver) {
        Resume(worker);
      }
    });
  } catch (const std::system_error&) {
    return false;  // the next look may get a thread
  }
  const bool lost = gates_[index]->GiveUp(call.number);
  if (lost) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    gates_[index] = NewGate(worker);  // the lost thread keeps the old gate
    if (options_.watch.victims) {
      for (LocalId actor : options_.watch.victims(call)) Retire(actor);
    }
    worker.thread.detach();
    worker.thread.swap(next);
  }
  decision->store(lost ? kTakeOver : kGo, std::memory_order_release);
  FutexWake(*decision, 1);
  if (next.joinable()) next.join();
  if (lost && options_.watch.on_lost) options_.watch.on_lost(call);
  return lost;
}

void ThreadWorld::Work(ThreadWorker& self) {
  {
    const WorkerScope scope(&self);
    while (!stopping_.load(std::memory_order_relaxed)) {
      if (!Round(self)) Idle(self);
    }
    self.FlushStage();
  }
  self.ended.store(1, std::memory_order_seq_cst);
  FutexWake(self.ended, INT_MAX);
}

bool ThreadWorld::BulkIsDue(ThreadWorker& self) {
  if (!self.turned) return false;
  const TimeNs now = SteadyClock().Now();
  if (now - self.last_bulk < kBulkEveryNs) return false;
  self.last_bulk = now;
  return true;
}

bool ThreadWorld::Round(ThreadWorker& self) {
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

void ThreadWorld::Idle(ThreadWorker& self) {
  const auto makes_room = [this] {
    return leader_token_ && leader_token_->wanted();
  };
  if (Spin(self, makes_room)) {
    self.stats.spins.Add(1);
  } else {
    Sleep(self);
  }
}

bool ThreadWorld::Spin(ThreadWorker& self, absl::FunctionRef<bool()> is_over) {
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
    if (i % kRoundsPerClock == 0 || options_.spin_ns == 0) {
      if (FireTimers(self)) return true;
      TimeNs now = real.Now();
      if (end < 0) end = now + options_.spin_ns;
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

// Returns true if a worker that may have work was last seen on this worker's
// core. Spinning would then keep that worker from work that this one waits for.
bool ThreadWorld::SharesCore(ThreadWorker& self) {
  const int core = sched_getcpu();
  if (core != self.core.load(std::memory_order_relaxed)) {
    self.core.store(core, std::memory_order_relaxed);
  }
  if (core < 0) return false;
  for (int i = 0; i < workers_.size(); ++i) {
    const ThreadWorker& other = workers_[i];
    if (&other != &self && other.core.load(std::memory_order_relaxed) == core &&
        !other.mailbox.seems_asleep()) {
      return true;
    }
  }
  return false;
}

void ThreadWorld::Sleep(ThreadWorker& self) {
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
      if (deadline <= Now()) return 0;
      limit = clock_.RealDelay(deadline);
      // Waking takes time, so the worker wakes early and spins until the timer.
      if (limit > options_.spin_ns) limit -= options_.spin_ns;
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
