//===- device.h - One device: an in-order queue of gangs --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device owns the counters of the entries bound to it and the queue of its
// gangs, ordered by (grant, firing, table position). Only the head of the queue
// runs. The other entries are not queued; see entry_runner.h. The backend does
// the work (device_backend.h) and reports when it is done.
//
// Invariants: (1) a firing happens once, after all its tokens; tokens of firing
// n + window come only after firing n, so slot n mod window is free; (2) no
// thread blocks: if the head of the queue waits for tokens, for the backend or
// for a collective, the actor returns; (3) no allocation and no lock between a
// grant and the end of a launch, except for failures and in backends; (4) a
// program is detached only when none of its work is in flight.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_H_
#define RUNTIME_DEVICE_DEVICE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/base/line_allocator.h"
#include "runtime/device/cohort.h"
#include "runtime/device/collective_runner.h"
#include "runtime/device/counters.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/device_sender.h"
#include "runtime/device/device_trace.h"
#include "runtime/device/device_work.h"
#include "runtime/device/entry_runner.h"
#include "runtime/device/grant_queue.h"
#include "runtime/device/head_cost.h"
#include "runtime/device/head_gang.h"
#include "runtime/device/long_work.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/world/world.h"

namespace pathways {

class alignas(kLineBytes) Device final : public Actor {
 public:
  // Makes device `index` of `host`. Does not own what the pointers point to.
  Device(World* world, const HostActors* host_actors, Cohort* cohort, int host,
         int index, int64_t global_device, const DeviceBackends& backends,
         const WorkLimits* limits)
      : cohort_(cohort),
        work_(
            backends.Make(world, this, cohort, KernelGate::Place(host, index)),
            &head_, &counters_),
        costs_(work_.backend()->costs()),
        world_(world),
        host_actors_(*host_actors),
        sender_(world, this, host_actors, &counters_),
        entries_(static_cast<uint32_t>(index), host_actors, cohort, &work_,
                 &sender_, &trace_, &counters_),
        collectives_(static_cast<uint32_t>(index), cohort, &queue_, &head_,
                     &work_, &sender_, &trace_),
        cost_(world, this, static_cast<uint32_t>(index), host_actors, limits,
              &queue_, &head_, &sender_, &counters_),
        index_(index),
        global_device_(global_device) {
    cohort->Add(index, this);
  }

  void OnLocal(const LocalMessage& message) override;

  const DeviceCounters& counters() const { return counters_; }
  const DeviceTimes& times() const { return trace_.times(); }
  // Must be called before the world starts. `ring` belongs to the device's
  // worker.
  void StartTrace(TraceRing* ring) { trace_.Start(ring, local_id()); }

 private:
  friend class Cohort;
  // Cost of a firing within a turn, without that of its kernels.
  static constexpr TimeNs kFiringNs = 150;

  DeviceProgram* Find(uint32_t program, uint32_t incarnation) const {
    return program < programs_.size() && programs_[program] != nullptr &&
                   programs_[program]->incarnation == incarnation
               ? programs_[program]
               : nullptr;
  }

  void Attach(DeviceProgram* program);
  void Detach(DeviceProgram* program, const LocalMessage& message);
  void SendDetached(LocalMessage message);
  void Grant(DeviceProgram* program, HostGrant* grant);
  // Calls Grant at all devices of the cohort that have the program.
  void GrantNear(const DeviceProgram& program, HostGrant* grant);
  // Checks the program's feeds again, on all devices of the cohort, after some
  // argument was filled.
  void FeedNear(const DeviceProgram& program);
  void Inspect(const LocalMessage& message);

  // Runs what can run. Returns true if the turn is over and more may be ready.
  bool Pump();
  // Requests another turn of the cohort, after other actors had theirs.
  void SendContinue();
  bool RunHead();
  void SendRecordsBefore();
  // Begins the head. Returns false if it waits for tokens.
  bool Begin(const DeviceProgram& program, const Gang& gang, uint64_t firing);
  // Finds the shards of the head whose guard says no, and lets them skip it.
  void ReadGuards(const DeviceProgram& program, const Gang& gang,
                  uint64_t firing);
  void EndSkips(const Gang& gang);
  // Advances the queue after its next `gangs` have run. Returns true if they
  // were the last of their firing.
  bool Advance(size_t gangs);
  // State of this cohort in the head's grant.
  HostGrant::Cohort& GrantAtCohort();

  void OnWorkDone(const LocalMessage& message);

  // Kernels (device_kernels.cc). RunPlain runs plain gangs from the head up to
  // `end`, while the turn lasts. Returns false if it ran none because the first
  // is poisoned.
  bool RunPlain(size_t end);
  void FinishPlain(size_t count, TimeNs left);
  void FinishKernels(const DeviceProgram& program, const Gang& gang,
                     uint64_t firing);
  // Records a failure for the end of the grant. Not a message, which might
  // arrive after that end.
  void AddFailure(const DeviceProgram& program, const Gang& gang,
                  uint32_t shard, uint64_t firing, int32_t code);
  bool RunStep(DeviceProgram* program, const Gang& gang, uint64_t firing);

  HeadGang head_;       // first, because each gang touches it
  bool awake_ = false;  // in the cohort's ring
  GrantQueue queue_;
  TimeNs turn_ns_ = 0;  // time left of the turn
  Cohort* const cohort_;
  DeviceWork work_;
  const bool costs_;  // gangs take virtual time
  World* const world_;
  const HostActors& host_actors_;
  DeviceSender sender_;
  absl::InlinedVector<DeviceProgram*, 2> programs_;
  EntryRunner entries_;
  std::vector<LocalMessage> done_;  // events of the backend that have come
  DeviceTrace trace_;
  CollectiveRunner collectives_;
  HeadCost cost_;
  DeviceCounters counters_;

  const int index_;
  const int64_t global_device_;
  // Programs that will be detached once their events have come.
  std::vector<std::pair<DeviceProgram*, LocalMessage>> leaving_;
};

inline void Cohort::Wake(Device* device) {
  if (device->awake_) return;
  device->awake_ = true;
  size_t at = begin_ + size_++;
  if (at >= awake_.size()) at -= awake_.size();
  awake_[at] = device;
}

inline void Cohort::Deliver(size_t index, uint32_t program,
                            uint32_t incarnation, uint32_t in_edge,
                            uint64_t firing, bool poison) {
  Device* const device = at(index);
  DeviceProgram* const there = device->Find(program, incarnation);
  if (there == nullptr) return;  // already detached
  device->entries_.Deliver(there, in_edge, firing, poison);
  Wake(device);
}

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_H_
