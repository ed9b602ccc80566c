//===- device.h - One device: an in-order queue of gangs --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device owns the counters of the entries bound to it and the queue of its
// gangs: (grant, firing, table position), strictly in order, the head only.
// Sends, receives, feeds and fetches are not queued; they happen when their
// tokens are there and their firing is granted. What they do is the backend's
// matter (device_backend.h); the device knows when it is done.
//
// Invariants: (1) a firing happens once, after all its tokens, and tokens of
// firing n + window come only after firing n, so slot n mod window is free;
// (2) nothing waits on a thread: the head of the queue may wait for tokens, for
// the backend or for a collective, and the actor returns; (3) no allocation and
// no lock between a grant and the end of a launch, failures and what a backend
// does apart; (4) a program is detached when no work of it is under way.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_H_
#define RUNTIME_DEVICE_DEVICE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/base/line_allocator.h"
#include "runtime/device/cohort.h"
#include "runtime/device/counters.h"
#include "runtime/device/cpu_backend.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/device_trace.h"
#include "runtime/device/grant_queue.h"
#include "runtime/device/long_work.h"
#include "runtime/device/ready_ring.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/world/world.h"

namespace pathways {

class alignas(kLineBytes) Device final : public Actor {
 public:
  // `index` on `host`. What the pointers point to is not owned.
  Device(World* world, const HostActors* host_actors, Cohort* cohort, int host,
         int index, int64_t global_device, const DeviceBackends& backends,
         const WorkLimits* limits)
      : cohort_(cohort),
        backend_(
            backends.Make(world, this, cohort, KernelGate::Place(host, index))),
        cpu_(backend_->cpu()),
        costs_(backend_->costs()),
        world_(world),
        host_actors_(*host_actors),
        index_(index),
        global_device_(global_device),
        limits_(limits) {
    cohort->Add(index, this);
  }

  void OnLocal(const LocalMessage& message) override;
  void PrefetchLocal(const LocalMessage& message, int step) const override;

  const DeviceCounters& counters() const { return counters_; }
  const DeviceTimes& times() const { return trace_.times(); }
  // Before the world starts. `ring` is that of the device's worker.
  void StartTrace(TraceRing* ring) { trace_.Start(ring, local_id()); }

 private:
  friend class Cohort;
  // Of a turn, without what kernels cost.
  static constexpr TimeNs kFiringNs = 150;

  DeviceProgram* Find(uint32_t program, uint32_t incarnation) const {
    return program < programs_.size() && programs_[program] != nullptr &&
                   programs_[program]->incarnation == incarnation
               ? programs_[program]
               : nullptr;
  }
  LocalId executor() const { return host_actors_.executor; }
  LocalMessage New(LocalKind kind, const DeviceProgram& program) const;
  void Send(LocalId to, const LocalMessage& message);

  void Attach(DeviceProgram* program);
  void Detach(DeviceProgram* program, const LocalMessage& message);
  void SendDetached(LocalMessage message);
  void Grant(DeviceProgram* program, HostGrant* grant);
  // As Grant, at all devices of the cohort that the program is on.
  void GrantNear(const DeviceProgram& program, HostGrant* grant);
  // A grant is over on this device.
  void EndGrant(const DeviceProgram& program, HostGrant* grant);
  // Some argument of the program was filled: looks at its feeds again, at all
  // devices of the cohort.
  void FeedNear(const DeviceProgram& program);
  void Inspect(const LocalMessage& message);

  // Entries (device_entries.cc). A token for a device of the cohort.
  void DeliverNear(const DeviceProgram& program, const OutToken& token,
                   uint64_t firing, bool poison);
  // One token for firing `firing` of an entry.
  void Deliver(DeviceProgram* program, uint32_t in_edge, uint64_t firing,
               bool poison);
  void Enqueue(DeviceProgram* program, const LocalMessage& message);
  // Whether what a feed reads at its next firing, which is granted, is there.
  bool CanFeed(const DeviceProgram& program, const Entry& entry) const;
  // Of a gang: nothing, its place in the queue is its turn.
  void PushIfReady(DeviceProgram* program, uint32_t index) {
    const Entry& entry = program->entries[index];
    if (entry.queued || entry.next >= program->granted) return;
    PushIfFree(program, index);
  }
  // One that is granted, if it misses nothing.
  void PushIfFree(DeviceProgram* program, uint32_t index);
  void RunEntry(DeviceProgram* program, uint32_t entry);
  // The work of an entry is done: it fires.
  void FinishEntry(DeviceProgram* program, uint32_t entry);
  // Whether the firing of an entry is poisoned, by tokens or what it reads.
  static bool IsPoisoned(const DeviceProgram& program, uint32_t entry);
  // Of a firing that is not over here.
  static HostLaunch* LaunchAt(const DeviceProgram& program, uint64_t firing);
  // Whether it is copied from where it lies into what it is sent with.
  bool IsLane(const PieceOut& piece) const {
    return piece.member_offset >= 0 && cpu_ != nullptr;
  }
  void MovePieces(const DeviceProgram& program, const SendOp& op,
                  uint64_t firing);
  // How many of its pieces are read where they lie.
  uint32_t SendPieces(DeviceProgram* program, const Entry& entry,
                      uint64_t firing, bool poison);
  // Whether it is read where it lies.
  bool ForwardPiece(const DeviceProgram& program, const PieceOut& piece,
                    uint32_t source, uint64_t firing, bool poison);
  // A token or a piece for another process, which goes with others; `kind`:
  // that of several.
  void AddLane(const DeviceProgram& program, const OutToken& token,
               WireKind kind, uint32_t source, uint64_t firing, bool poison,
               const void* data, uint64_t bytes);
  // Of the cohort.
  void SendRecords(RecordBatch* batch);
  void DeliverRecord(const LocalMessage& message);
  // One of them is read no more.
  void PieceReturned(DeviceProgram* program, uint32_t index, uint64_t firing);
  // An entry has fired: frees its slot, passes its tokens.
  void Fire(DeviceProgram* program, uint32_t entry, uint64_t firing,
            bool poison);
  static void FreeSlot(DeviceProgram* program, uint32_t entry, uint64_t firing);
  void PassTokens(DeviceProgram* program, uint32_t entry, uint64_t firing,
                  bool poison);
  // The grant of a firing.
  static DeviceProgram::Active& ActiveAt(DeviceProgram* program,
                                         uint64_t firing);
  // `count` entries have fired; says so when the grant is over here.
  void CountFirings(DeviceProgram* program, uint64_t firing, uint64_t count);

  // Runs what can run; true when its turn is over and more may be there.
  bool Pump();
  // Asks for another turn of the cohort, after other actors had theirs.
  void SendContinue();
  bool RunHead();
  void SendRecordsBefore();
  // The head begins; false: it waits for tokens.
  bool Begin(const DeviceProgram& program, const Gang& gang, uint64_t firing);
  // Whether a co-resident shard of the head is poisoned; it is from now on.
  bool IsShardPoisoned(uint32_t k) const {
    return poisoned_ && shard_poison_[k] != 0;
  }
  void PoisonShard(uint32_t k);
  const uint8_t* ShardPoison();  // of all
  // The next `gangs` of the queue have run. Whether they were the last of their
  // firing.
  bool Advance(size_t gangs);
  // What its cohort keeps of the head's grant.
  HostGrant::Cohort& GrantAtCohort();

  // Work of the backend (device_work.cc). That of the CPU is done without a
  // virtual call.
  template <typename Work>
  auto Do(Work work) {
    return cpu_ != nullptr ? work(*cpu_) : work(*backend_);
  }
  // An event behind all work so far. True: it is done. Else the head goes on
  // when it is; or the entry fires then.
  bool IsHeadDone(DeviceProgram* program) {
    return cpu_ != nullptr || RecordHead(program);
  }
  bool IsEntryDone(DeviceProgram* program, uint32_t entry) {
    return cpu_ != nullptr || RecordEvent(program, entry, /*step=*/0);
  }
  bool RecordHead(DeviceProgram* program);
  bool RecordEvent(DeviceProgram* program, uint32_t target, uint64_t step);
  void OnWorkDone(const LocalMessage& message);

  // Kernels (device_kernels.cc). The virtual time of the head begins.
  void StartCost(const DeviceProgram& program, const Gang& gang);
  // Says that it takes longer than it should.
  void ReportCost();
  // It takes longer than it may: as if its kernel never returned.
  void LoseWorker();
  // Runs plain gangs from the head on up to `end`, while its turn lasts; false:
  // none, as the first is poisoned.
  bool RunPlain(size_t end);
  void FinishPlain(size_t count, TimeNs left);
  void FinishKernels(const DeviceProgram& program, const Gang& gang,
                     uint64_t firing);
  // For the end of the grant. Not a message: that might come behind the end.
  void AddFailure(const DeviceProgram& program, const Gang& gang,
                  uint32_t shard, uint64_t firing, int32_t code);
  bool RunStep(DeviceProgram* program, const Gang& gang, uint64_t firing);

  // Collectives (device_collective.cc). False: waits for other members.
  bool RunCollective(DeviceProgram* program, const Gang& gang,
                     const CollectiveTable& table, uint64_t firing);
  // The same of a small one.
  bool RunSmall(DeviceProgram* program, const Gang& gang,
                const CollectiveTable& table, uint64_t firing);
  // What its leader does for the cohort once all have arrived; and word of that
  // to other leaders that wait for it.
  void LeadSmall(const DeviceProgram& program, const CollectiveTable& table,
                 const DeviceGroup& in, uint64_t firing);
  void NotifyLeaders(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing);
  // What each takes then.
  void TakeSmall(const CollectiveShape& shape, const HostGroup& group,
                 uint32_t cohort, uint32_t rank, char* result);
  // The device has arrived at a group of a collective; it waits for so many.
  void SetMet(DeviceProgram* program, const CollectiveTable& table, uint32_t i,
              uint64_t firing) {
    program->meetings.store(firing * program->queue->num_meetings +
                                table.first_meeting + i - table.group_begin + 1,
                            std::memory_order_relaxed);
  }
  void Await(const DeviceProgram& program, uint32_t groups) {
    waiting_groups_ = groups;
    awaited_ = program.groups;
  }
  bool IsPoisoned(const DeviceProgram& program, const DeviceGroup& in) const;
  void PoisonGroup(const DeviceProgram& program, const DeviceGroup& in);
  void Contribute(DeviceProgram* program, const CollectiveTable& table,
                  uint64_t firing);
  void MeetAll(DeviceProgram* program, const CollectiveTable& table,
               uint64_t firing);
  // Whether all are there; the last one is to tell the others, or has told the
  // executor.
  bool Meet(DeviceProgram* program, const CollectiveTable& table, uint32_t i,
            uint64_t firing, bool* poison);
  void CombineInPlace(DeviceProgram* program, const CollectiveTable& table,
                      uint64_t firing);
  void TakeResults(DeviceProgram* program, const CollectiveTable& table,
                   uint64_t firing);
  // This device, the last one, has arrived at a group: what is common to all is
  // done; then the others are told.
  void CombineShared(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing, bool poison);
  void NotifyArrived(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing, bool poison);
  void NotifyAllArrived(const DeviceProgram& program,
                        const CollectiveTable& table, uint64_t firing);
  // All members of a group have arrived at `firing`, or are about to leave.
  // `program` is that of any device. Whether this device waits for one less.
  bool GroupDone(const DeviceProgram& program, uint32_t group, uint64_t firing,
                 bool poison);
  // The same for the group's members on the `devices` of the cohort, without
  // `except`.
  void NearDone(const DeviceProgram& program, uint32_t group,
                absl::Span<const uint32_t> devices, uint64_t firing,
                bool poison, const Device* except);

  // What each gang touches, first.
  //
  // The head of the queue. In the collective that is step_: where it waits for
  // the others, if it does; for how many groups, of whose program's groups.
  bool started_ = false;
  bool cost_paid_ = false;
  bool issued_ = false;  // the step's work is the backend's
  // What it waits for: the backend, or its virtual time to be over.
  enum : uint8_t { kNothing, kWork, kCost } awaits_ = kNothing;
  // In its collective: what it has is copied; what all have in common is
  // combined, if it was the last; it waits for the others; does its share;
  // waits for theirs; takes results.
  enum : uint8_t {
    kOutside,
    kContributing,
    kNotifying,
    kArriving,
    kSharing,
    kLeaving,
    kTaking
  } meeting_ = kOutside;
  bool poisoned_ = false;  // some shard is; else shard_poison_ says nothing
  bool awake_ = false;     // in the cohort's ring
  uint32_t step_ = 0;      // of the gang
  uint32_t waiting_groups_ = 0;
  const HostGroup* awaited_ = nullptr;
  GrantQueue queue_;
  TimeNs turn_ns_ = 0;  // left of its turn
  Cohort* const cohort_;
  const std::unique_ptr<DeviceBackend> backend_;
  CpuBackend* const cpu_;  // the backend, if it is that
  const bool costs_;       // gangs take virtual time
  World* const world_;
  const HostActors& host_actors_;
  absl::InlinedVector<DeviceProgram*, 2> programs_;
  ReadyRing ready_;
  std::vector<LocalMessage> done_;  // events that have come
  uint64_t generation_ = 0;         // of what the head waits for
  DeviceTrace trace_;
  DeviceCounters counters_;

  const int index_;
  const int64_t global_device_;
  const WorkLimits* const limits_;  // in virtual time
  std::vector<uint8_t> shard_poison_;
  // Groups of the head's collective at which this device was the last, and
  // whether they are poisoned.
  std::vector<std::pair<uint32_t, bool>> arrived_;
  // Programs that are detached when their events have come.
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
