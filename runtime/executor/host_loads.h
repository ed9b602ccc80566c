//===- host_loads.h - Programs of a host, from load to end ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_LOADS_H_
#define RUNTIME_EXECUTOR_HOST_LOADS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/counters.h"
#include "runtime/executor/host_dispatcher.h"
#include "runtime/executor/host_grants.h"
#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/executor/lost_devices.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"
#include "runtime/staging/launch_staging.h"
#include "runtime/store/store.h"
#include "runtime/world/world.h"

namespace pathways {

// Loads, stops and frees the programs of a host. Invariants: (1) a load or stop
// is answered once all devices that respond have done it, and a duplicate is
// answered again or dropped; (2) a program is stopped only while none of its
// payloads is away; (3) room for a program's messages is reserved from its load
// until it is freed. Not thread-safe.
class HostLoads {
 public:
  // All arguments must outlive this object. `arenas`: the devices' memory.
  // It and `actors` must be filled before the first message.
  HostLoads(RuntimeContext* context, const HostActors* actors, int host,
            const std::vector<std::unique_ptr<Arena>>* arenas,
            Arena* host_arena, LaunchStaging* staging, HostPrograms* programs,
            HostOutbox* outbox, HostDispatcher* dispatcher, HostGrants* grants,
            LostDevices* lost, HostCounters* counters)
      : context_(*context),
        world_(*context->world),
        actors_(*actors),
        host_(host),
        arenas_(*arenas),
        host_arena_(*host_arena),
        staging_(*staging),
        programs_(*programs),
        outbox_(*outbox),
        dispatcher_(*dispatcher),
        grants_(*grants),
        lost_(*lost),
        counters_(*counters) {}

  // Handlers of the controller's messages.
  void OnLoad(const proto::LoadProgram& load);
  void OnPlanArrived(const proto::PlanArrived& arrived);
  void OnStop(const proto::StopProgram& stop);
  void OnFree(const proto::FreeProgram& free);
  // Handlers of the devices' answers.
  void OnAttached(const LocalMessage& message);
  void OnDetached(const LocalMessage& message);
  // Finishes the stop of a program if it is stopping, all its devices have
  // detached it, and none of its payloads is in use.
  void TryFinishStop(HostProgram* program);
  // Stops waiting for devices that will not answer.
  void DropDevices(const std::vector<uint32_t>& devices);
  // Reports all losses of devices to the controller.
  void NotifyLosses();

 private:
  // Loads a program. Returns the bytes of host memory that are lacking; 0 if
  // the load needs no further attempt.
  uint64_t Load(const proto::LoadProgram& load, bool is_last);
  void ReplyLoaded(uint32_t program, uint32_t incarnation,
                   const absl::Status& status, uint64_t lacking = 0);
  void FinishStop(HostProgram* program);
  // Reserves room for the program's messages, or (`sign` is -1) releases it.
  void Reserve(HostProgram* program, int sign);
  void UpdateCounters();
  // Returns OK if the program has no lost device; otherwise, why it cannot be
  // used.
  absl::Status CheckLosses(const HostProgram& program) const;

  RuntimeContext& context_;
  World& world_;
  const HostActors& actors_;
  const int host_;
  const std::vector<std::unique_ptr<Arena>>& arenas_;
  Arena& host_arena_;
  LaunchStaging& staging_;
  HostPrograms& programs_;
  HostOutbox& outbox_;
  HostDispatcher& dispatcher_;
  HostGrants& grants_;
  LostDevices& lost_;
  HostCounters& counters_;
  std::set<uint32_t> waiting_;  // loads that wait for memory, by incarnation
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_LOADS_H_
