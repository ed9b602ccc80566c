//===- host_executor.h - One host: its tables, links and grants -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor of a host loads the host's part of each plan, is the only actor
// of the host that communicates with other hosts, and passes grants on to its
// devices in the order of its island. docs/protocol.md describes its messages.
//
// Invariants: (1) every message from another host is handled once, whatever the
// link does, and only if it is from the current epochs of both hosts; (2)
// payloads are read while their incarnation is loaded, and never after
// StopReply; (3) memory that a kernel that did not return may touch lives as
// long as the executor.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_EXECUTOR_H_
#define RUNTIME_EXECUTOR_HOST_EXECUTOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/counters.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/long_work.h"
#include "runtime/executor/host_dispatcher.h"
#include "runtime/executor/host_exchanges.h"
#include "runtime/executor/host_grants.h"
#include "runtime/executor/host_inspections.h"
#include "runtime/executor/host_loads.h"
#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/executor/host_tokens.h"
#include "runtime/executor/io_thread.h"
#include "runtime/executor/lost_devices.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"
#include "runtime/staging/launch_staging.h"
#include "runtime/store/store.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/trace.h"
#include "runtime/world/control_actor.h"
#include "runtime/world/world.h"

namespace pathways {

class HostExecutor final : public ControlActor, private LaunchStaging::Owner {
 public:
  // `actors`: the actors of the host; not owned, filled before the first
  // message.
  HostExecutor(RuntimeContext* context, const HostActors* actors, int host);

  void OnWire(ActorId from, const WireMessage& message,
              Payload payload) override;
  ReceiveBuffer OnOffer(ActorId from, const WireMessage& message,
                        uint64_t bytes) override;
  void OnLocal(const LocalMessage& message) override;
  void OnPeer(const PeerNews& news) override {
    // A host that is gone comes back in the next epoch.
    outbox_.Advance(news.host, news.is_up ? news.epoch : news.epoch + 1);
  }

  // Must be called before the world starts. `ring` belongs to the executor's
  // worker.
  void StartTrace(TraceRing* ring) { outbox_.StartTrace(ring); }

  // Limits the host's memory for programs and arrays. Must be called on the
  // executor's worker.
  void LimitMemory(uint64_t bytes) { host_arena_.Bound(bytes); }

  // Stops writing and reading spilled arrays. Must be called after the world
  // has stopped.
  void StopSpilling() { io_thread_.Stop(); }

  // Any thread may call these.
  const HostCounters& counters() const { return counters_; }
  const Arena& arena(int device) const { return *arenas_[device]; }
  const Arena& host_arena() const { return host_arena_; }

 private:
  // Returns the program that a message of another host is for. Returns null if
  // the message is dropped: it is from no host, a duplicate, from another
  // epoch, or for a program that is not loaded.
  HostProgram* AcceptWire(ActorId from, const WireMessage& message);
  void HandleWire(int host, HostProgram* program, const WireMessage& message,
                  Payload payload);

  // Payloads that other processes read or write in place (host_payloads.cc).
  void OnPayloadLanded(const LocalMessage& landed);
  void OnPayloadReturned(const LocalMessage& returned);
  // Ends the use of a payload. Returns its program, or null if that is not
  // loaded.
  HostProgram* EndPayload(const LocalMessage& about);

  // Devices that take no more work (host_losses.cc).
  void OnWorkerLost(const LocalMessage& message);
  void OnHostWorkLimit(const LocalMessage& message);
  void OnLongKernel(const LocalMessage& message);
  // `unresponsive`: the devices will not answer either, and a thread may still
  // be in a kernel.
  void Lose(const std::vector<uint32_t>& devices, bool unresponsive,
            const std::string& why);

  void OnMessage(ActorId from, ControlRef control) override;
  void OnForeign() override { counters_.foreign.Add(); }
  void Handle(ControlRef control);

  // Values of launches (host_values.cc).
  void StartSpilling(std::unique_ptr<SpillDisk> disk);
  void OnSpillDone();
  // Continues what waits for memory, after some may have been released.
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
  void OnLent(uint32_t client, uint64_t request,
              const HostStore::Object& object) override;
  void OnLentEnd(uint32_t client, uint64_t request) override;
  void SendToClient(uint32_t client, const WireMessage& message,
                    Payload payload) override {
    outbox_.SendToClient(client, message, payload);
  }
  void OnFilled() override { grants_.NotifyFilled(); }

  // Traces changes of the memory in use.
  void TraceMemory();

  RuntimeContext& context_;
  World* const world_;
  const HostActors& actors_;
  const int host_;
  std::vector<uint64_t> traced_bytes_;  // last ones: the host's, each device's
  std::vector<std::unique_ptr<Arena>> arenas_;  // per device
  Arena host_arena_;
  LaunchStaging staging_;
  // Fields that each message reads come first. Programs are destroyed before
  // the arenas and arrays in which they live.
  HostPrograms programs_;
  HostCounters counters_;
  HostOutbox outbox_;
  HostDispatcher dispatcher_;
  HostExchanges exchanges_;
  HostTokens tokens_;
  LostDevices lost_;
  HostInspections inspections_;
  HostGrants grants_;
  HostLoads loads_;
  uint64_t told_spilled_ = 0;  // as last reported
  bool stored_due_ = false;    // kStoredDue is in flight
  // Declared last: it reads and writes arrays that members above own.
  IoThread io_thread_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_EXECUTOR_H_
