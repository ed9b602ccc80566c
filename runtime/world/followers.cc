//===- followers.cc - Threads that work while they wait -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/followers.h"

#include <sched.h>

#include <algorithm>

namespace pathways {
namespace {

// Rounds that a thread works at the end of a call. Work that is left after
// these is not a result of the call.
constexpr int kRoundsPerCall = 8;

}  // namespace

// The time for which this thread holds the leader token and runs as the worker.
// The thread may also be a worker of another world.
class Followers::Visit {
 public:
  explicit Visit(Followers* followers)
      : followers_(*followers), scope_(&Self()) {}
  ~Visit() {
    Self().FlushStage();
    followers_.leader_token_.Leave([&](TimeNs deadline) {
      return followers_.stopping_.load(std::memory_order_seq_cst) ||
             deadline <= followers_.clock_.Now();
    });
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  ThreadWorker& Self() { return followers_.workers_[0]; }

  Followers& followers_;
  const WorkerScope scope_;
};

void Followers::EndCall() {
  if (workers_.Self() != nullptr || !calls_.End()) return;
  ThreadWorker& self = workers_[0];
  if (!self.mailbox.has_posted()) return;
  if (!leader_token_.TryTake()) return WakeForPosted();
  const Visit visit(this);
  for (int i = 0; i < kRoundsPerCall && loop_.Round(self); ++i) {
  }
}

// The holder of the leader token may be about to give it up without having seen
// what this thread posted quietly.
void Followers::WakeForPosted() {
  Mailbox& mailbox = workers_[0].mailbox;
  if (mailbox.has_posted() && mailbox.asleep()) mailbox.Wake();
}

bool Followers::Wait(absl::FunctionRef<bool()> done, TimeNs until) {
  // The follower polls for the token as long as a worker spins.
  SteadyClock real;
  const TimeNs end = std::min(real.Now() + spin_ns_, until);
  const auto is_over = [&] {
    return done() || (until != Notifier::kNever && real.Now() >= until);
  };
  leader_token_.BeginWait();
  while (!is_over() && !stopping_.load()) {
    if (leader_token_.TryTake()) {
      Work(is_over);
      break;
    }
    if (real.Now() >= end) break;
    sched_yield();
  }
  leader_token_.EndWait();
  // The wait may be inside a call that ends much later, so wake now.
  WakeForPosted();
  return notifier_.Wait(done, stopping_, /*spin_ns=*/0, until);
}

void Followers::Work(absl::FunctionRef<bool()> done) {
  ThreadWorker& self = workers_[0];
  const Visit visit(this);
  bool reached = false;
  const auto is_over = [&] { return reached = done(); };
  while (!stopping_.load(std::memory_order_relaxed) && !is_over() &&
         (loop_.Round(self) || loop_.Spin(self, is_over))) {
  }
  // Notify the transports that nobody polls, if another thread waits or this
  // one sleeps now. Otherwise this thread is back soon, or the transports' own
  // threads notice that it is not.
  if (!reached || notifier_.waiting()) uplink_.NotifyIdle();
}

}  // namespace pathways
