//===- thread_world_loop.cc - The work loop of workers ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sys/prctl.h>

#include <atomic>
#include <climits>
#include <memory>
#include <system_error>
#include <thread>

#include "runtime/world/futex.h"
#include "runtime/world/thread_world.h"

namespace pathways {

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
    loop_.Run(self);
  }
  self.ended.store(1, std::memory_order_seq_cst);
  FutexWake(self.ended, INT_MAX);
}

}  // namespace pathways
