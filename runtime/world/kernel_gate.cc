//===- kernel_gate.cc - Entry of workers into kernels ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/kernel_gate.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pathways {

bool KernelGate::HasProcessBarrier() {
  static const bool has =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
              0) == 0;
  return has;
}

std::optional<KernelCall> KernelGate::Read() const {
  const uint64_t word = word_.load(std::memory_order_acquire);
  if ((word & kInside) == 0) return std::nullopt;
  KernelCall call;
  const uint64_t place = place_.load(std::memory_order_acquire);
  call.host = static_cast<uint32_t>(place >> 32);
  call.device = static_cast<uint32_t>(place);
  call.incarnation = incarnation_.load(std::memory_order_acquire);
  call.step = step_.load(std::memory_order_acquire);
  call.shard = shard_.load(std::memory_order_acquire);
  call.gang = static_cast<uint32_t>(word & (kInside - 1));
  call.number = word;
  // The fields read so far belong to this call only if it has not ended.
  if (word_.load(std::memory_order_acquire) != word) return std::nullopt;
  return call;
}

// Leave stores the word and then reads the state; GiveUp stores the state and
// then reads the word. Both sides have a full barrier in between. So if GiveUp
// finds the old word, the thread will find the new state.
bool KernelGate::GiveUp(uint64_t number) {
  state_.store(kAsked, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!fenced_) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  const bool is_inside = word_.load(std::memory_order_acquire) == number;
  state_.store(is_inside ? kGivenUp : kMine, std::memory_order_seq_cst);
  return is_inside;
}

void KernelGate::Settle() {
  uint32_t state;
  while ((state = state_.load(std::memory_order_seq_cst)) == kAsked) {
    sched_yield();
  }
  if (state != kGivenUp) return;
  // No thread waits for this one. It must not end, because the frames of its
  // handler hold state that other threads took over.
  for (;;) pause();
}

}  // namespace pathways
