//===- host_grants.h - Grants of a host and their ends ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_GRANTS_H_
#define RUNTIME_EXECUTOR_HOST_GRANTS_H_

#include "runtime/executor/grant_sequencer.h"
#include "runtime/executor/host_dispatcher.h"
#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/host_launch.h"
#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_message.h"
#include "runtime/staging/launch_staging.h"
#include "runtime/staging/unfilled_launches.h"
#include "runtime/world/world.h"

namespace pathways {

// Passes the grants of a host on to its devices, and reports their ends to the
// scheduler. Invariants: (1) grants reach the devices in order of position,
// each after what was staged for its launch; (2) a feed waits until its
// argument is filled; (3) the results of each granted launch are filled, at its
// end or at its program's. Not thread-safe.
class HostGrants {
 public:
  // All arguments must outlive this object.
  HostGrants(const RuntimeContext* context, int host,
             const HostPrograms* programs, HostOutbox* outbox,
             LaunchStaging* staging, HostDispatcher* dispatcher)
      : context_(*context),
        world_(*context->world),
        host_(host),
        programs_(*programs),
        outbox_(*outbox),
        staging_(*staging),
        dispatcher_(*dispatcher) {}

  void OnGrant(ControlRef control);
  // Applies the grants whose launches have been staged. Must be called after
  // each call of the staging that may stage a launch.
  void Release();
  // A cohort of devices has ended a grant.
  void OnDeviceDone(HostProgram* program, const LocalMessage& message);
  // Notifies devices of launches whose arguments were filled, so that they
  // check their feeds again.
  void NotifyFilled();
  // Ends all launches and grants of a program as failed. No device may read the
  // launches' values any more.
  void End(HostProgram* program);

 private:
  void Apply(const proto::Grant& message);
  // Returns the launch that a grant is for, or null if it or a launch before it
  // was given up.
  HostLaunch* LaunchOf(HostProgram* program, const proto::Grant& grant);
  // Ends the program's first grant.
  void Finish(HostProgram* program);
  // Ends the program's first launch, and completes `done`.
  void FinishLaunch(HostProgram* program, proto::GrantDone* done);

  const RuntimeContext& context_;
  World& world_;
  const int host_;
  const HostPrograms& programs_;
  HostOutbox& outbox_;
  LaunchStaging& staging_;
  HostDispatcher& dispatcher_;
  GrantSequencer sequencer_;
  UnfilledLaunches unfilled_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_GRANTS_H_
