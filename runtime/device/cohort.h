//===- cohort.h - Devices of one host on one worker -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device does for another of its cohort is a call, not a message: a
// token is a decrement, and the end of a collective a flag. Each device that
// got something is woken, and runs in its turn.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_COHORT_H_
#define RUNTIME_DEVICE_COHORT_H_

#include <cstddef>
#include <vector>

#include "runtime/base/line_allocator.h"
#include "runtime/base/prefetch.h"
#include "runtime/program/flag_barrier.h"
#include "runtime/program/token_record.h"
#include "runtime/world/world.h"

namespace pathways {

class Device;

// Those of a host are used by different workers, so no two share a cache line.
class alignas(kLineBytes) Cohort {
 public:
  // `gate`: that of their worker, from their world. `looks`: whether it may
  // look for other workers (World::spins).
  explicit Cohort(KernelGate* const* gate, bool looks = false)
      : gate_(gate), looks_(looks) {}

  // Called by the device at `index` of its host; indices only grow.
  void Add(int index, Device* device);
  // The first index, and one more than the last.
  size_t begin_index() const { return first_; }
  size_t end_index() const { return first_ + devices_.size(); }
  // Null: the device is in another cohort.
  Device* at(size_t index) const {
    return index - first_ < devices_.size() ? devices_[index - first_]
                                            : nullptr;
  }

  // Where its devices enter kernels, and what they give them: one device runs
  // at a time. During Run and Continue.
  KernelGate& gate() const { return *current_gate_; }
  void** operands() { return operands_.data(); }
  // Kernels may have so many.
  void ReserveOperands(size_t operands) {
    if (operands > operands_.size()) operands_.resize(operands);
  }

  // Has `device` run before the worker goes on to another actor, or soon after.
  // In device.h.
  void Wake(Device* device);
  // Wakes `device`, then runs those that are awake, each for a turn.
  void Run(Device* device);
  // A device that waits in a meeting that it leads.
  struct Leader {
    Device* device = nullptr;
    FlagBarrier* meeting = nullptr;
    uint32_t cohort = 0;  // in the meeting
  };
  // Looks for those that it waits for while no device has anything to do; once
  // that has taken long, it is to be told. From a turn of the device.
  void LookFor(const Leader& leader) { looking_.push_back(leader); }
  // Keeps a token or a piece for a host of another process: it is sent with
  // others when all devices have run, or there is no room.
  void AddLane(int host, const WireMessage& like, MemberHeader member,
               const void* data, uint64_t bytes) {
    if (members_ == nullptr) members_ = parcels_.Take();
    if (members_->Add(host, like, member, data, bytes)) return;
    SendRecords();
    members_ = parcels_.Take();
    members_->Add(host, like, member, data, bytes);
  }
  bool has_members() const { return members_ != nullptr; }
  // If it has any.
  void SendRecords();
  // Has the processor ask for the list of those that are awake.
  void Prefetch() const {
    const void* next = static_cast<const void*>(awake_.data() + begin_);
    PrefetchBytes(next, sizeof(Device*));
  }
  // On a device's message to itself, when turns were left.
  void Continue() {
    continuing_ = false;
    RunAwake();
  }

 private:
  // As long as a message to another worker takes; and so many that one that
  // would have come soon is not missed for ever.
  static constexpr uint32_t kMaxLooks = 64, kMinLooks = 4;

  void RunAwake();
  // Looks for a while. Whether all that a leader waits for are there: it goes
  // on then.
  bool Look();
  void EndLook();
  void GoOn(const Leader& leader);

  // What each device's turn looks at, first.
  KernelGate* const* const gate_;
  KernelGate* current_gate_ = nullptr;  // in this handler
  // Ring of those awake, each once.
  LineVector<Device*> awake_;
  size_t begin_ = 0, size_ = 0;
  bool continuing_ = false;
  const bool looks_;
  uint32_t patience_ = kMaxLooks;  // looks in a row, if nobody comes
  LineVector<Leader> looking_;     // empty between handlers

  // By index, from the first on: a host may have very many cohorts of one.
  size_t first_ = 0;
  std::vector<Device*> devices_;
  LineVector<void*> operands_;
  RecordBatch* members_ = nullptr;  // not empty; null: there are none
  Batches<RecordBatch> parcels_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_COHORT_H_
