//===- host_executor.h - One host: its tables, links and grants -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor of a host loads its part of each plan, is the only one on the
// host that talks to other hosts, and passes grants on to its devices in the
// order of its island. docs/protocol.md describes its messages.
//
// Invariants: (1) every message from another host is handled once, whatever
// the link does, and only between the lives of both that are on; (2) payloads
// are read while their incarnation is loaded, and never after StopReply; (3)
// grants reach the devices in order of position, each behind what was staged
// for its launch; (4) a feed waits until its argument is filled; (5) what a
// kernel that did not return may touch is there as long as the executor.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_EXECUTOR_H_
#define RUNTIME_EXECUTOR_HOST_EXECUTOR_H_

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/binding/plan_index.h"
#include "runtime/device/counters.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/device_report.h"
#include "runtime/device/long_work.h"
#include "runtime/executor/grant_sequencer.h"
#include "runtime/executor/io_thread.h"
#include "runtime/executor/lost_devices.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/program/token_record.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"
#include "runtime/protocol/peer_link.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/staging/launch_staging.h"
#include "runtime/staging/unfilled_launches.h"
#include "runtime/store/store.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/trace.h"
#include "runtime/world/control_actor.h"
#include "runtime/world/world.h"

namespace pathways {

class HostExecutor final : public ControlActor, private LaunchStaging::Owner {
 public:
  // `actors`: of the host; not owned, filled before the first message.
  HostExecutor(RuntimeContext* context, const HostActors* actors, int host);

  void OnWire(ActorId from, const WireMessage& message,
              Payload payload) override;
  ReceiveBuffer OnOffer(ActorId from, const WireMessage& message,
                        uint64_t bytes) override;
  void OnLocal(const LocalMessage& message) override;
  void PrefetchLocal(const LocalMessage& message, int step) const override;
  void PrefetchWire(ActorId from, const WireMessage& message,
                    int step) const override;
  void OnPeerDown(int32_t host, uint32_t epoch) override;
  void OnPeerUp(int32_t host, uint32_t epoch) override;

  // Before the world starts. `ring` is that of the executor's worker.
  void StartTrace(TraceRing* ring) { trace_ = ring; }

  // On its worker: programs and arrays have only so much of the host's memory.
  void LimitMemory(uint64_t bytes) { host_arena_.Bound(bytes); }

  // When the world has stopped: nothing is written to files any more, or read.
  void StopSpilling() { io_thread_.Stop(); }

  // Any thread.
  const HostCounters& counters() const { return counters_; }
  const Arena& arena(int device) const { return *arenas_[device]; }
  const Arena& host_arena() const { return host_arena_; }

 private:
  // A question that waits for the devices' answers.
  struct Inspection {
    uint64_t round = 0;
    uint32_t incarnation = 0;
    WaitSet waiting;
    std::vector<std::unique_ptr<DeviceReport>> reports;  // by device
  };

  HostProgram* Find(uint32_t program, uint32_t incarnation) const;
  void Send(LocalId to, const LocalMessage& message);
  void SendToDevice(uint32_t device, const LocalMessage& message) {
    Send(actors_.devices[device], message);
  }
  void SendToHost(int host, WireMessage message, Payload payload = {});
  // For the link to the host; counts, traces.
  void Stamp(int host, uint64_t payload_bytes, WireMessage* message);
  PeerLink& LinkTo(int host);
  // Another host is in this life, or will be when it comes again.
  void Advance(int32_t host, uint32_t epoch);
  // How often this host was replaced before.
  uint32_t restarts() const {
    return context_.directory.place(host_).epoch - 1;
  }
  // As from this life.
  void SendControl(ActorId to, ControlRef control) {
    control->set_restarts(restarts());
    ControlActor::SendControl(to, std::move(control));
  }

  // The program that a message of another host is for; null: it is dropped, as
  // it is of no host, a second copy, of another life, or of no program.
  HostProgram* AcceptWire(ActorId from, const WireMessage& message);
  void HandleWire(int host, HostProgram* program, const WireMessage& message,
                  Payload payload);

  // Payloads that other processes read or write where they are
  // (host_payloads.cc).
  // False: the world did not lend, but sent it; `returned` will not come.
  bool LendToHost(int host, WireMessage message, Payload payload,
                  LocalMessage returned);
  // Of a device that has it in its buffer, and is told when that is its again.
  void LendPiece(int host, const WireMessage& message, Payload payload);
  void ReturnPiece(const HostProgram& program, const LocalMessage& returned);
  void OnPayloadLanded(const LocalMessage& landed);
  void OnPayloadReturned(const LocalMessage& returned);
  // Whose it was; null: nobody's who is known.
  HostProgram* EndPayload(const LocalMessage& about);
  // Null: no piece that comes here.
  const PieceIn* FindPiece(const HostProgram& program, uint32_t edge,
                           uint32_t shard, uint32_t source) const;

  // Tokens and pieces of other processes, several in a message
  // (host_records.cc).
  void ForwardRecords(RecordBatch* batch);
  void OnRecord(HostProgram* program, const WireMessage& message,
                Payload payload);
  struct LocalMember {
    const PieceIn* piece;  // null: it is a token, or poisoned
    const char* bytes;     // of the piece
    TokenBatch::Member member;
  };
  // `last`: of the member before; null: there is none.
  const PieceIn* FindNextPiece(const HostProgram& program, uint32_t edge,
                               MemberHeader member, const PieceIn* last) const;
  // Of a record; writes its members. False: it is none.
  bool ReadMembers(const HostProgram& program, const WireMessage& message,
                   Payload payload, LocalMember* members) const;
  void TokensToDevices(const HostProgram& program, const WireMessage& message,
                       absl::Span<const LocalMember> members);

  // What a message from or for a host reads (host_prefetch.cc).
  void ReadSoon(int host, uint64_t sequence, uint32_t program, int step) const;

  // What a device has for another host.
  void Forward(const LocalMessage& message);
  // The slice that an edge goes to; null: there is no such edge.
  static const SliceBinding* TargetOf(const HostProgram& program,
                                      uint32_t edge);
  // The entry there that a token is for; UINT32_MAX in place of an in-edge:
  // none that is here.
  TokenBatch::Member FindEntry(const HostProgram& program, uint32_t edge,
                               const SliceBinding& target,
                               uint32_t shard) const;
  void OnToken(HostProgram* program, const WireMessage& message);
  void OnPiece(HostProgram* program, const WireMessage& message,
               Payload payload);
  // Its bytes, as they came, where they belong.
  void Place(const PieceIn& piece, uint64_t firing, const void* bytes);
  void OnAll(HostProgram* program, uint32_t edge, uint64_t firing,
             uint32_t count, bool poison);
  void OnAllFired(HostProgram* program, const LocalMessage& message);

  // Devices that take no work any more (host_losses.cc).
  void OnWorkerLost(const LocalMessage& message);
  // `unresponsive`: they will not answer either, and a thread may still be in a
  // kernel.
  void Lose(const std::vector<uint32_t>& devices, bool unresponsive,
            const std::string& why);
  void NotifyLosses();
  // Why the program cannot be used; OK: it has no lost device.
  absl::Status CheckLosses(const HostProgram& program) const;

  void OnMessage(ActorId from, ControlRef control) override;
  void OnForeign() override { counters_.foreign.Add(); }
  void Handle(ControlRef control);

  // Programs, from load to end (host_loads.cc).
  void OnLoad(const proto::LoadProgram& load);
  // Returns what of the host's memory is lacking; 0: that is answered for.
  uint64_t Load(const proto::LoadProgram& load, bool is_last);
  void OnPlanArrived(const proto::PlanArrived& arrived);
  // Second copies of a load that has ended so change nothing.
  void RefuseLoads(uint32_t program, uint32_t incarnation);
  void OnAttached(const LocalMessage& message);
  void ReplyLoaded(uint32_t program, uint32_t incarnation,
                   const absl::Status& status, uint64_t lacking = 0);
  void OnStop(const proto::StopProgram& stop);
  void OnDetached(const LocalMessage& message);
  // If all its devices have forgotten a program that is stopping, and nothing
  // of it is away.
  void TryFinishStop(HostProgram* program);
  void FinishStop(HostProgram* program);
  void OnFree(const proto::FreeProgram& free);
  void Reserve(HostProgram* program, int sign);
  void UpdateCounters();

  // Grants and their ends (host_grants.cc).
  void OnGrant(ControlRef control);
  // Those whose launches have been staged meanwhile.
  void ReleaseGrants();
  void ApplyGrant(const proto::Grant& grant);
  // The launch that a grant is for; null: it, or one before it, was given up.
  HostLaunch* LaunchOf(HostProgram* program, const proto::Grant& grant);
  // Tells one device of each cohort that the program is on.
  void NotifyCohorts(const HostProgram& program, LocalKind kind,
                     void* payload = nullptr);
  // Has the devices of launches whose arguments were filled look at their
  // feeds.
  void NotifyFilled();
  void OnDeviceDone(HostProgram* program, const LocalMessage& message);
  // The program's first grant is over.
  void FinishGrant(HostProgram* program);
  // The program's first launch is over: completes `done`.
  void FinishLaunch(HostProgram* program, proto::GrantDone* done);

  // What waits for what (host_inspection.cc).
  void OnQuery(const proto::Query& query);
  void OnInspected(const LocalMessage& message);
  void FinishInspection(uint32_t program);

  // Host-side work (host_dispatch.cc). Offer leaves an action to the host's
  // time if it can be prepared; Work spends that time.
  void PrepareGranted(HostProgram* program);
  void Offer(HostProgram* program, uint32_t item);
  void Work();
  void OnHostWorkDone(const LocalMessage& message);
  void OnLongHostWork(const LocalMessage& message);
  void OnHostWorkLimit(const LocalMessage& message);
  // What the host works on, in the message about it; null: nothing any more.
  HostProgram* FindHostWork(const LocalMessage& message, WorkLocation* where);
  void OnLongKernel(const LocalMessage& message);
  void Enqueue(HostProgram* program, uint32_t item);
  void OnEnqueued(int host, HostProgram* program, const WireMessage& message);
  void OnActionFired(HostProgram* program, const LocalMessage& message);
  void ReportDispatch(const HostProgram& program,
                      proto::StuckShard* stuck) const;

  // Groups of collectives with members on other hosts (host_collectives.cc).
  // That a contribution is for; null: no group with members elsewhere.
  HostGroup* FindGroup(HostProgram* program, const WireMessage& message) const;
  void OnArrive(HostProgram* program, const LocalMessage& message);
  void OnContribution(int host, HostProgram* program,
                      const WireMessage& message, Payload payload);
  // Does what can be done of a group's exchange; at its end tells the devices.
  void Exchange(HostProgram* program, uint32_t group, uint64_t firing);
  // Which shards of the group a stuck one waits for.
  void ReportAbsent(const HostProgram& program, const HostGroup& group,
                    proto::StuckShard* stuck) const;

  // Values of launches (host_values.cc).
  void StartSpilling(std::unique_ptr<SpillDisk> disk);
  void OnSpillDone();
  // What waits for memory, when some may have been given back.
  void Proceed();
  void OnStore(const ControlRef& control);
  void OnClientWire(uint32_t client, const WireMessage& message,
                    Payload payload);
  const HostProgram* FindProgram(uint32_t program,
                                 uint32_t incarnation) const override;
  void SendReady(uint64_t launch, const absl::Status& status) override;
  void SendStored(uint64_t sequence) override;
  void SendStoredSoon() override;
  void SendFetched(uint32_t client, uint64_t request, uint64_t pieces) override;
  void SendToClient(uint32_t client, const WireMessage& message,
                    Payload payload) override;
  void OnFilled() override { NotifyFilled(); }

  // Tells a device that one token has come.
  void TokenToDevice(HostProgram* program, uint32_t device, uint32_t in_edge,
                     uint64_t firing, bool poison);
  void TraceMessage(TraceKind kind, int host, const WireMessage& message,
                    uint64_t payload_bytes);
  // What changed of the memory in use.
  void TraceMemory();

  RuntimeContext& context_;
  World* const world_;
  const HostActors& actors_;
  const int host_;
  TraceRing* trace_ = nullptr;
  const int64_t first_device_;          // of the cluster
  std::vector<uint64_t> traced_bytes_;  // last ones: the host's, each device's
  std::vector<std::unique_ptr<Arena>> arenas_;  // per device
  Arena host_arena_;
  LaunchStaging staging_;
  // What each message looks at. Programs go before what they are held in.
  std::vector<std::unique_ptr<HostProgram>> programs_;
  absl::flat_hash_map<int, PeerLink> links_;  // by host
  Batches<TokenBatch> arrived_;
  std::vector<TokenBatch*> arriving_;  // by cohort, of one message
  HostCounters counters_;
  // By program, the last incarnation that was stopped.
  std::vector<uint32_t> ended_;
  HostWork work_;
  GrantSequencer grants_;
  UnfilledLaunches unfilled_;
  std::map<uint32_t, Inspection> inspections_;  // by program
  LostDevices lost_;
  std::set<uint32_t> waiting_loads_;  // for memory, by incarnation
  uint64_t told_spilled_ = 0;         // bytes, last
  bool stored_due_ = false;           // kStoredDue is on its way
  IoThread io_thread_;                // last: it reads and writes what is above
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_EXECUTOR_H_
