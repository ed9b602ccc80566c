//===- kernel_gate.h - Entry of workers into kernels ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are code of programs and may never return. A worker's thread records
// here which kernel it is in, at the price of a store. So another thread can
// see that it is still the same kernel, and can give the thread up. Between
// Enter and Leave a thread touches only memory that the kernel may touch, so
// that other threads can take over all other state.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_KERNEL_GATE_H_
#define RUNTIME_WORLD_KERNEL_GATE_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "runtime/base/line_allocator.h"

namespace pathways {

// One call of a kernel, in numbers; the plan has the names.
struct KernelCall {
  uint32_t host = 0;         // number in the cluster
  uint32_t device = 0;       // number on the host
  uint32_t incarnation = 0;  // load of the program
  uint32_t gang = 0;         // index in the device's queue
  uint32_t shard = 0;        // index among the gang's shards on the device
  uint64_t step = 0;         // step of the launch
  uint64_t number = 0;       // identifies the call among all calls of its gate
};

// The record of one thread's kernel calls. The thread itself enters and leaves;
// any other thread may call Read, and one other thread GiveUp. Invariants: (1)
// a call that Read returned has begun, and everything that the thread wrote
// before it is visible; (2) after GiveUp returned true, Leave does not return.
// The gate of a thread that was given up must never be destroyed.
class alignas(kLineBytes) KernelGate {
 public:
  // Makes Announce call `before`, for work that must not wait for a kernel.
  // Call before the gate is used.
  void CallBefore(void (*before)(void*), void* argument) {
    before_ = before;
    argument_ = argument;
  }
  // Sets the device and the program whose kernels the thread runs next, on
  // shard 0. `place` is Place() of the device.
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

  // Begins a run of kernels of different gangs, one after another. Call Pass
  // before each of them, with the result of this call.
  uint64_t Open() {
    run_ += uint64_t{1} << 32;
    return run_ | kInside;
  }
  void Pass(uint64_t run, uint32_t gang) {
    word_.store(run | gang, std::memory_order_release);
  }
  // Begins one kernel.
  void Enter(uint32_t gang, uint32_t shard) {
    shard_.store(shard, std::memory_order_release);
    Pass(Open(), gang);
  }
  // Ends the last kernel. Does not return if the thread was given up.
  void Leave() {
    word_.store(run_, std::memory_order_release);
    if (fenced_) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_.load(std::memory_order_relaxed) != kMine) [[unlikely]]
      Settle();
  }

  // Returns the call that the thread is in, or nullopt if it is in no kernel or
  // has just entered another one.
  std::optional<KernelCall> Read() const;
  // Gives the thread up if it is still in call `number`, and returns true.
  // Otherwise returns false, and the thread continues.
  bool GiveUp(uint64_t number);

 private:
  enum State : uint32_t {
    kMine,
    kAsked,    // GiveUp is deciding
    kGivenUp,  // final
  };
  static constexpr uint64_t kInside = uint64_t{1} << 31;

  void Settle();

  // True if one thread cannot impose a memory barrier on all others; each Leave
  // then has a barrier of its own.
  const bool fenced_ = !HasProcessBarrier();
  static bool HasProcessBarrier();

  void (*before_)(void*) = nullptr;
  void* argument_ = nullptr;
  // Number of runs, in the upper half; used only by the thread.
  uint64_t run_ = 0;
  // Run number, kInside flag and gang. The value is new for each call, except
  // that run numbers repeat after 2^32 runs.
  std::atomic<uint64_t> word_{0};
  std::atomic<uint64_t> place_{0}, step_{0};
  std::atomic<uint32_t> incarnation_{0}, shard_{0};
  std::atomic<uint32_t> state_{kMine};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_KERNEL_GATE_H_
