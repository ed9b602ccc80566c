//===- launch_service.h - Launches of clients on hosts ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LAUNCH_SERVICE_H_
#define RUNTIME_CONTROLLER_LAUNCH_SERVICE_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/base/counter.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/grant_sender.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_reader.h"
#include "runtime/controller/launch_spec.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/store_messages.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Runs launches: prepares their hosts, grants them when they are ready, and
// notifies their clients of their ends. The launch table and the grant order
// decide; this class turns their decisions into messages. Invariants: (1) the
// hosts of a launch are notified of its arrays before the launch is granted;
// (2) a client is notified once of the end of each of its launches, after the
// launch's hosts were told to drop what nobody refers to. One owner calls it,
// except for the counter.
class LaunchService {
 public:
  // All of these must outlive the service.
  struct Uses {
    World& world;
    const Topology& topology;
    const ClientTable& clients;
    const ProgramTable& programs;
    const ObjectTable& objects;
    const OpenLaunches& open;
    LaunchReader& reader;
    LaunchTable& launches;
    GrantOrder& grants;
    GrantSender& sender;
    StoreMessages& stores;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
  };

  explicit LaunchService(const Uses& uses) : uses_(uses) {}

  // Launches a program for a connected client, or refuses to.
  void Launch(const proto::LaunchRequest& request);
  void Cancel(uint32_t client, const proto::CancelRequest& cancel);
  // Takes a host's answer to a launch. Returns the program if the host has no
  // room for a launch that may have begun on other hosts, which then wait for
  // this one: the caller must give the program up.
  std::optional<uint32_t> Take(const proto::LaunchReady& ready);
  // Takes the news that a grant, and perhaps its launch, is over on an island.
  void Take(const proto::GrantDone& done);
  // A host was silent for too long: launches that wait for it end with `why`.
  void Unanswered(int32_t host, const absl::Status& why);
  // Ends all launches of a program that was given up.
  void Abort(uint32_t program, const absl::Status& why);
  // Priority inheritance: the launches of each program inherit the priority
  // that `priority_of` returns for it, if any.
  void Inherit(absl::FunctionRef<
               std::optional<int32_t>(const ProgramTable::Program& program)>
                   priority_of);

  // Returns the number of steps of completed launches. Any thread may call it.
  uint64_t steps_done() const { return steps_done_.get(); }

 private:
  // Sends a host the part of `request` that the launch needs there. `asks`:
  // true if the launch waits for its answer.
  void SendPrepare(int32_t host, const LaunchTable::Launch& launch, bool asks,
                   const proto::LaunchRequest& request);
  // Carries out effects_ and clears it. Carrying out one list may append to
  // later ones.
  void Apply();
  // Hands the launches that are ready to the grant order.
  void BeginReady();
  // Sends all grants that may be given now.
  void GiveGrants();
  void NotifyEnded(const LaunchEffects::End& end);

  const Uses uses_;
  LaunchEffects effects_;  // empty between calls
  Counter steps_done_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_SERVICE_H_
