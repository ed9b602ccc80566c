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
// runs. Sends, receives, feeds and fetches are not queued: they fire once their
// tokens have come and their firing is granted. The backend does the work
// (device_backend.h) and reports when it is done.
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
#include "runtime/device/grant_queue.h"
#include "runtime/device/head_cost.h"
#include "runtime/device/head_gang.h"
#include "runtime/device/long_work.h"
#include "runtime/device/ready_ring.h"
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
  // Ends a grant on this device.
  void EndGrant(const DeviceProgram& program, HostGrant* grant);
  // Checks the program's feeds again, on all devices of the cohort, after some
  // argument was filled.
  void FeedNear(const DeviceProgram& program);
  void Inspect(const LocalMessage& message);

  // Entries (device_entries.cc). DeliverNear delivers a token to another device
  // of the cohort.
  void DeliverNear(const DeviceProgram& program, const OutToken& token,
                   uint64_t firing, bool poison);
  // Delivers one token for firing `firing` of an entry.
  void Deliver(DeviceProgram* program, uint32_t in_edge, uint64_t firing,
               bool poison);
  void Enqueue(DeviceProgram* program, const LocalMessage& message);
  // Returns true if the argument that a feed reads at its next, granted firing
  // is filled.
  bool CanFeed(const DeviceProgram& program, const Entry& entry) const;
  // Queues an entry that may fire. Does nothing for a gang, whose turn is its
  // place in the queue.
  void PushIfReady(DeviceProgram* program, uint32_t index) {
    const Entry& entry = program->entries[index];
    if (entry.queued || entry.next >= program->granted) return;
    PushIfFree(program, index);
  }
  // Queues a granted entry if no token is missing.
  void PushIfFree(DeviceProgram* program, uint32_t index);
  void RunEntry(DeviceProgram* program, uint32_t entry);
  // Ends the work of an entry: it fires.
  void FinishEntry(DeviceProgram* program, uint32_t entry);
  // Returns true if the firing of an entry is poisoned, by its tokens or by the
  // argument that it reads.
  static bool IsPoisoned(const DeviceProgram& program, uint32_t entry);
  // Returns the launch of a firing that is not over on this device.
  static HostLaunch* LaunchAt(const DeviceProgram& program, uint64_t firing);
  // Returns true if the piece is copied from its source directly into a record.
  bool IsLane(const PieceOut& piece) const {
    return piece.member_offset >= 0 && work_.cpu() != nullptr;
  }
  void MovePieces(const DeviceProgram& program, const SendOp& op,
                  uint64_t firing);
  // Sends the pieces of a firing. Returns how many of them are read in place.
  uint32_t SendPieces(DeviceProgram* program, const Entry& entry,
                      uint64_t firing, bool poison);
  // Returns true if the piece is read in place.
  bool ForwardPiece(const DeviceProgram& program, const PieceOut& piece,
                    uint32_t source, uint64_t firing, bool poison);
  // Adds a token or a piece for another process to a record; `kind` is that of
  // the record.
  void AddLane(const DeviceProgram& program, const OutToken& token,
               WireKind kind, uint32_t source, uint64_t firing, bool poison,
               const void* data, uint64_t bytes);
  // Sends the cohort's records to the executor.
  void SendRecords(RecordBatch* batch);
  void DeliverRecord(const LocalMessage& message);
  // Handles the return of a piece that was read in place.
  void PieceReturned(DeviceProgram* program, uint32_t index, uint64_t firing);
  // Fires an entry: frees its slot and passes its tokens.
  void Fire(DeviceProgram* program, uint32_t entry, uint64_t firing,
            bool poison);
  static void FreeSlot(DeviceProgram* program, uint32_t entry, uint64_t firing);
  void PassTokens(DeviceProgram* program, uint32_t entry, uint64_t firing,
                  bool poison);
  // The grant of a firing.
  static DeviceProgram::Active& ActiveAt(DeviceProgram* program,
                                         uint64_t firing);
  // Counts `count` firings of entries, and ends the grant here after the last
  // of them.
  void CountFirings(DeviceProgram* program, uint64_t firing, uint64_t count);

  // Runs what can run. Returns true if the turn is over and more may be ready.
  bool Pump();
  // Requests another turn of the cohort, after other actors had theirs.
  void SendContinue();
  bool RunHead();
  void SendRecordsBefore();
  // Begins the head. Returns false if it waits for tokens.
  bool Begin(const DeviceProgram& program, const Gang& gang, uint64_t firing);
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
  ReadyRing ready_;
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

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_H_
