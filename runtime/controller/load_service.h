//===- load_service.h - Loads of programs, and their memory -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LOAD_SERVICE_H_
#define RUNTIME_CONTROLLER_LOAD_SERVICE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "runtime/base/counter.h"
#include "runtime/binding/plan_index.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_service.h"
#include "runtime/controller/load_parts.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_rounds.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/quotas.h"
#include "runtime/controller/slice_requests.h"
#include "runtime/controller/store_messages.h"
#include "runtime/controller/wait_timer.h"
#include "runtime/resources/client_requests.h"
#include "runtime/resources/host_memory.h"
#include "runtime/resources/load_queue.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Grants loads of programs, and requests for slices, when there is memory for
// them, and carries programs from round to round. Invariants: (1) each load is
// answered once; (2) whenever a program ends, the loads and drains that may
// have waited for it are looked at; (3) launches of clients that hold memory
// have at least the priority of the loads that wait for it. One owner calls it,
// except for the counter.
class LoadService {
 public:
  // All of these must outlive the service.
  struct Uses {
    const Topology& topology;
    const Quotas& quotas;
    ClientTable& clients;
    ProgramTable& programs;
    PlanIndex& plans;
    LoadQueue& queue;
    GrantOrder& grants;
    HostMemory& memory;
    SliceRequests& slices;
    ProgramRounds& rounds;
    LaunchService& launches;
    StoreMessages& stores;
    Drains& drains;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
    WaitTimer& deadlines;
  };

  explicit LoadService(const Uses& uses) : uses_(uses) {}

  // Grants the load or slices, lets them wait, or refuses them. Sets the bytes
  // that programs need.
  void Ask(LoadQueue::Load load);
  // Asks for slices, if the cluster may have such.
  void Take(uint32_t client, const proto::SlicesRequest& request);
  // Cancels a load that waits for memory.
  void Cancel(ClientRequest request);
  // Returns true if the load's hosts were told to load it.
  bool IsLoading(ClientRequest request) const { return parts_.Has(request); }
  // Tries waiting loads again. Called when there may be more memory.
  void Retry();
  // Answers the waiting loads whose deadline has passed.
  void Expire();
  // Drops the loads of a client that leaves.
  void Leave(uint32_t client);

  // Take the answers of hosts.
  void Take(const proto::LoadReply& reply);
  void Take(const proto::StopReply& reply);
  void Take(const proto::FreeReply& reply);
  // Carries out what follows for a program: sends hosts what they are asked
  // for, or answers the client.
  void Proceed(const ProgramNext& next);
  // Unloads a program without launches, for a client that leaves. A program
  // that is loading, or being unloaded, reports when it is done.
  void Release(uint32_t client, uint64_t handle);

  // Returns the number of programs that are ready. Any thread may call it.
  uint64_t programs() const { return programs_.get(); }

 private:
  // Returns the bytes that the load's programs need, by pool.
  DeviceBytes NeedOf(const LoadQueue::Load& load) const;
  // Begins to load the programs, or hands out the slices. Returns
  // ResourceExhausted if that is not possible now.
  absl::Status Admit(const LoadQueue::Load& load);
  // Lets a load wait that was not admitted, or refuses it.
  void Wait(LoadQueue::Load load, const absl::Status& refusal);
  // Answers the program's request, which has ended, or carries on the load that
  // the program belongs to.
  void Answer(const ProgramNext& next);
  void AnswerLoaded(ClientRequest request, const std::vector<uint64_t>& all);
  // Handles a load that hosts had no room for. The load waits for memory if it
  // may wait and some client can release that memory.
  void Refused(LoadQueue::Load load, const absl::Status& why);
  void NotifyWaits(ClientRequest request, const std::string& why);
  // Priority inheritance: launches of clients that hold memory inherit the
  // priority of the loads waiting for it.
  void InheritPriorities();
  std::string NameOf(uint32_t client) const {
    return uses_.clients.LabelOf(client);
  }

  const Uses uses_;
  LoadParts parts_;
  Counter programs_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LOAD_SERVICE_H_
