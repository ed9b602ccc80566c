//===- cohort.h - Devices of one host on one worker -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Within a cohort, devices call each other instead of sending messages: a token
// is a decrement, and the end of a collective a flag. Each device that received
// something is woken, and runs in its turn.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_COHORT_H_
#define RUNTIME_DEVICE_COHORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/line_allocator.h"
#include "runtime/program/flag_barrier.h"
#include "runtime/program/token_record.h"
#include "runtime/world/world.h"

namespace pathways {

class Device;
struct DeviceProgram;

// Cohorts of a host run on different workers, so no two share a cache line.
class alignas(kLineBytes) Cohort {
 public:
  // `gate`: the gate of the worker, from its world. `looks`: true if it may
  // poll for other workers (World::spins).
  explicit Cohort(KernelGate* const* gate, bool looks = false)
      : gate_(gate), looks_(looks) {}

  // Must be called by the device at `index` of its host, in ascending order of
  // indices.
  void Add(int index, Device* device);
  // The first index, and one more than the last.
  size_t begin_index() const { return first_; }
  size_t end_index() const { return first_ + devices_.size(); }
  // Returns null if the device is in another cohort.
  Device* at(size_t index) const {
    return index - first_ < devices_.size() ? devices_[index - first_]
                                            : nullptr;
  }

  // Gate and operands for kernels. Valid during Run and Continue, in which one
  // device runs at a time.
  KernelGate& gate() const { return *current_gate_; }
  void** operands() { return operands_.data(); }
  // Makes room for kernels with `operands` operands.
  void ReserveOperands(size_t operands) {
    if (operands > operands_.size()) operands_.resize(operands);
  }

  // Lets `device` run before the worker turns to another actor, or soon after.
  // Defined in device.h.
  void Wake(Device* device);
  // Wakes `device`, then runs all devices that are awake, each for a turn.
  void Run(Device* device);
  // A device that leads its cohort in a meeting, and waits there.
  struct Leader {
    uint32_t device = 0;  // index on the host
    FlagBarrier* meeting = nullptr;
    uint32_t cohort = 0;  // index of the cohort in the meeting
  };
  // Polls for the other cohorts while no device has anything to do. After a
  // while, the leader parks instead and is notified by a message. Must be
  // called from a turn of the device.
  void LookFor(const Leader& leader) { looking_.push_back(leader); }
  // Delivers a token to the device at `index`, which is in this cohort, and
  // wakes it. Does nothing if the program is already detached there. Defined in
  // device.h.
  void Deliver(size_t index, uint32_t program, uint32_t incarnation,
               uint32_t in_edge, uint64_t firing, bool poison);
  // Lets those of `devices` that wait for the group, except `except`, resume;
  // see CollectiveRunner::GroupDone. All of them are in this cohort.
  void GroupDone(const DeviceProgram& program, uint32_t group,
                 absl::Span<const uint32_t> devices, uint64_t firing,
                 bool poison, uint32_t except);
  static constexpr uint32_t kNoDevice = UINT32_MAX;
  // Adds a token or a piece for a host of another process to the current batch,
  // which is sent when all devices have run or the batch is full.
  void AddLane(int host, const WireMessage& like, MemberHeader member,
               const void* data, uint64_t bytes) {
    if (members_ == nullptr) members_ = parcels_.Take();
    if (members_->Add(host, like, member, data, bytes)) return;
    SendRecords();
    members_ = parcels_.Take();
    members_->Add(host, like, member, data, bytes);
  }
  bool has_members() const { return members_ != nullptr; }
  // Sends the current batch if there is one.
  void SendRecords();
  // Handles a device's message to itself that continues the remaining turns.
  void Continue() {
    continuing_ = false;
    RunAwake();
  }

 private:
  // kMaxLooks takes about as long as a message to another worker. kMinLooks
  // still lets the cohort notice that meetings complete soon again.
  static constexpr uint32_t kMaxLooks = 64, kMinLooks = 4;

  void RunAwake();
  // Polls for a while. Returns true if the meeting of a leader is complete, and
  // wakes that leader.
  bool Look();
  void EndLook();
  void GoOn(const Leader& leader);

  // Fields read in each device's turn come first.
  KernelGate* const* const gate_;
  KernelGate* current_gate_ = nullptr;  // gate during this handler
  // Ring of devices that are awake, each at most once.
  LineVector<Device*> awake_;
  size_t begin_ = 0, size_ = 0;
  bool continuing_ = false;
  const bool looks_;
  uint32_t patience_ = kMaxLooks;  // polls in a row if no meeting completes
  LineVector<Leader> looking_;     // empty between handlers

  // Indexed from first_ on, since a host may have very many cohorts of one
  // device.
  size_t first_ = 0;
  std::vector<Device*> devices_;
  LineVector<void*> operands_;
  RecordBatch* members_ = nullptr;  // the current batch, not empty; null: none
  Batches<RecordBatch> parcels_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_COHORT_H_
