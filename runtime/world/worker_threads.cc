//===- worker_threads.cc - Threads of the workers -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_threads.h"

#include <sys/prctl.h>

#include <climits>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/world/futex.h"

namespace pathways {

WorkerThreads::WorkerThreads(std::function<void(int worker)> on_start,
                             WatchOptions watch, const WorldClock* clock,
                             ActorTable* actors, WorkerSet* workers,
                             WorkerLoop* loop)
    : on_start_(std::move(on_start)),
      watch_(std::move(watch)),
      clock_(*clock),
      actors_(*actors),
      workers_(*workers),
      loop_(*loop) {
  for (ThreadWorker& worker : workers_.all()) {
    gates_.push_back(NewGate(worker));
  }
}

WorkerThreads::~WorkerThreads() {
  for (KernelGate* gate : gates_) delete gate;
}

absl::Status WorkerThreads::Start() {
  for (ThreadWorker& worker : workers_.all()) {
    try {
      worker.ended.store(0, std::memory_order_relaxed);
      worker.thread = std::thread([this, &worker] { Run(worker); });
    } catch (const std::system_error& error) {
      worker.ended.store(1, std::memory_order_relaxed);
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot start worker ", worker.index, " of ",
                       workers_.size(), ": ", error.what()));
    }
  }
  if (watch_.report_ns <= 0 && watch_.limit_ns <= 0) return absl::OkStatus();
  watchdog_ =
      std::make_unique<Watchdog>(watch_, clock_.source(), &gates_,
                                 [this](int worker, const KernelCall& call) {
                                   return GiveUp(worker, call);
                                 });
  return watchdog_->Start();
}

void WorkerThreads::Join() {
  // The watchdog looks for kernels that do not return until all workers have
  // ended.
  ExpectKernels(1);
  for (ThreadWorker& worker : workers_.all()) {
    while (worker.ended.load(std::memory_order_seq_cst) == 0) {
      FutexWait(worker.ended, 0, -1);
    }
  }
  ExpectKernels(-1);
  if (watchdog_ != nullptr) watchdog_->Stop();
  for (ThreadWorker& worker : workers_.all()) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void WorkerThreads::ExpectKernels(int by) {
  if (watchdog_ == nullptr) return;
  for (; by > 0; --by) watchdog_->Hold();
  for (; by < 0; ++by) watchdog_->Release();
}

void WorkerThreads::Run(ThreadWorker& self) {
  // The system would fire timers 50 us late without this.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  if (on_start_) on_start_(self.index);
  Work(self);
}

void WorkerThreads::Resume(ThreadWorker& self) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  // This thread is not bound to a core: the lost thread may still be busy on
  // the core to which it was bound.
  self.mailbox.Pop(self.queue, self.serving);
  Work(self);
}

bool WorkerThreads::GiveUp(int index, const KernelCall& call) {
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
    if (watch_.victims) {
      for (LocalId actor : watch_.victims(call)) actors_.Retire(actor);
    }
    worker.thread.detach();
    worker.thread.swap(next);
  }
  decision->store(lost ? kTakeOver : kGo, std::memory_order_release);
  FutexWake(*decision, 1);
  if (next.joinable()) next.join();
  if (lost && watch_.on_lost) watch_.on_lost(call);
  return lost;
}

void WorkerThreads::Work(ThreadWorker& self) {
  {
    const WorkerScope scope(&self);
    loop_.Run(self);
  }
  self.ended.store(1, std::memory_order_seq_cst);
  FutexWake(self.ended, INT_MAX);
}

KernelGate* WorkerThreads::NewGate(ThreadWorker& worker) {
  auto* gate = new KernelGate;
  if (worker.stage != nullptr) {
    gate->CallBefore(
        [](void* worker) { static_cast<ThreadWorker*>(worker)->FlushStage(); },
        &worker);
  }
  return gate;
}

}  // namespace pathways
