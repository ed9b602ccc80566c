//===- worker_set.cc - The workers of a world -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_set.h"

#include <algorithm>
#include <array>

#include "runtime/world/envelope_body.h"
#include "runtime/world/mix.h"

namespace pathways {
namespace {

// Most blocks that reservations set aside (75 MiB). More messages allocate
// their blocks when they first need them, so that a huge plan costs no more
// than it uses.
constexpr int64_t kMaxReservedBlocks = 1 << 15;
// Blocks provisioned at the start, for the first message of each pair of
// workers.
constexpr int64_t kMaxPairBlocks = 2048;

int64_t QueuesOf(int workers) {
  return int64_t{kNumQueues} * workers * workers;
}

}  // namespace

WorkerSet::WorkerSet(int size, uint64_t seed, const StageOpener& open_stage)
    : size_(size), workers_(std::make_unique<ThreadWorker[]>(size)) {
  pool_.Provision(std::min(QueuesOf(size_), kMaxPairBlocks));
  for (int i = 0; i < size_; ++i) {
    ThreadWorker& worker = workers_[i];
    worker.set = this;
    worker.index = i;
    worker.random = SplitMix(Mix(seed, i));
    worker.mailbox.Open(&pool_, i, size_);
    if (open_stage) worker.stage = open_stage();
  }
}

void WorkerSet::Reserve(int64_t messages) {
  const int64_t total =
      reserved_.fetch_add(messages, std::memory_order_relaxed) + messages;
  // Each queue may hold one block that is partly full, and one that is empty
  // and not given back yet.
  const int64_t queues = QueuesOf(size_);
  pool_.Provision(std::min(total / MessageBlock::kSlots +
                               2 * std::min(queues, total) +
                               std::min(queues, kMaxPairBlocks),
                           kMaxReservedBlocks));
}

void WorkerSet::WakeAll() {
  for (ThreadWorker& worker : all()) worker.mailbox.Wake();
}

// A thread that sends to a resting worker wakes it, and a woken worker ends its
// rest before it sends. So if each worker rests in the first loop, and is in
// the same rest and was not woken in the second one, all of them rested between
// the two loops.
bool WorkerSet::AtRest() const {
  std::array<uint64_t, kMaxWorkers> rests;
  for (int i = 0; i < size_; ++i) {
    rests[i] = workers_[i].rests.load(std::memory_order_seq_cst);
    if (rests[i] % 2 == 0) return false;
  }
  for (int i = 0; i < size_; ++i) {
    const ThreadWorker& worker = workers_[i];
    if (!worker.mailbox.asleep() ||
        worker.rests.load(std::memory_order_seq_cst) != rests[i]) {
      return false;
    }
  }
  return true;
}

WorkerStats WorkerSet::stats(int worker) const {
  const auto& from = workers_[worker].stats;
  WorkerStats stats;
  stats.messages = from.messages.get();
  stats.controls = from.controls.get();
  stats.remote = from.remote.get();
  stats.outside = from.outside.get();
  stats.timers = from.timers.get();
  stats.spins = from.spins.get();
  stats.sleeps = from.sleeps.get();
  stats.wakes = from.wakes.get();
  return stats;
}

void WorkerSet::DropAll() {
  for (ThreadWorker& worker : all()) worker.mailbox.DropAll(&DropEnvelope);
}

}  // namespace pathways
