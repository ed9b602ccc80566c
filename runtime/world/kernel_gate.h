//===- kernel_gate.h - Where a worker enters and leaves kernels -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are code of programs, and may never return. A worker's thread says
// here which one it is in, at the price of a store, so that another thread can
// see that it is still the same one, and can give the thread up. Between Enter
// and Leave a thread touches nothing but what the kernel may touch, so that
// others can take over all the rest.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_KERNEL_GATE_H_
#define RUNTIME_WORLD_KERNEL_GATE_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "runtime/base/line_allocator.h"

namespace pathways {

// One run of a kernel, in numbers; names come from the plan.
struct KernelCall {
  uint32_t host = 0;         // of the cluster
  uint32_t device = 0;       // on the host
  uint32_t incarnation = 0;  // of the program
  uint32_t gang = 0;         // in the order of the device's queue
  uint32_t shard = 0;        // among the gang's on the device
  uint64_t step = 0;         // of the launch
  uint64_t number = 0;       // tells it from all others of its gate
};

// Of one thread, which enters and leaves; Read by any other; GiveUp by one
// other. Invariants: (1) a call that Read returned has begun, and what the
// thread wrote before is seen; (2) once GiveUp returned true, Leave does not
// return. A gate of a thread that was given up must never be destroyed.
class alignas(kLineBytes) KernelGate {
 public:
  // Has Announce call `before`, for what must not wait for a kernel. Before the
  // gate is used.
  void CallBefore(void (*before)(void*), void* argument) {
    before_ = before;
    argument_ = argument;
  }
  // Whose kernels the thread runs next, on shard 0. `place` is Place() of the
  // device.
  void Announce(uint64_t place, uint32_t incarnation, uint64_t step) {
    if (before_ != nullptr) before_(argument_);
    place_.store(place, std::memory_order_release);
    incarnation_.store(incarnation, std::memory_order_release);
    step_.store(step, std::memory_order_release);
    shard_.store(0, std::memory_order_release);
  }
  static uint64_t Place(uint32_t host, uint32_t device) {
    return uint64_t{host} << 32 | device;
  }

  // Before a run of kernels of different gangs, one after the other; Pass
  // before each of them, with what this returned.
  uint64_t Open() {
    run_ += uint64_t{1} << 32;
    return run_ | kInside;
  }
  void Pass(uint64_t run, uint32_t gang) {
    word_.store(run | gang, std::memory_order_release);
  }
  // Before one kernel.
  void Enter(uint32_t gang, uint32_t shard) {
    shard_.store(shard, std::memory_order_release);
    Pass(Open(), gang);
  }
  // After the last. Does not return when the thread was given up.
  void Leave() {
    word_.store(run_, std::memory_order_release);
    if (fenced_) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_.load(std::memory_order_relaxed) != kMine) [[unlikely]]
      Settle();
  }

  // What the thread is in; none: in no kernel, or in another one by now.
  std::optional<KernelCall> Read() const;
  // Takes the thread out of the world if it is still in that call. False: it is
  // not, and goes on.
  bool GiveUp(uint64_t number);

 private:
  enum State : uint32_t {
    kMine,
    kAsked,    // GiveUp makes up its mind
    kGivenUp,  // for ever
  };
  static constexpr uint64_t kInside = uint64_t{1} << 31;

  void Settle();

  // Without a barrier that one thread can impose on all, each Leave has its
  // own.
  const bool fenced_ = !HasProcessBarrier();
  static bool HasProcessBarrier();

  void (*before_)(void*) = nullptr;
  void* argument_ = nullptr;
  uint64_t run_ = 0;  // in the upper half; the thread's own
  // Run, whether inside, gang. Each call's is new, but for one in 2^32.
  std::atomic<uint64_t> word_{0};
  std::atomic<uint64_t> place_{0}, step_{0};
  std::atomic<uint32_t> incarnation_{0}, shard_{0};
  std::atomic<uint32_t> state_{kMine};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_KERNEL_GATE_H_
