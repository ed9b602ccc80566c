//===- host_dispatcher.h - Dispatch of actions to devices -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_DISPATCHER_H_
#define RUNTIME_EXECUTOR_HOST_DISPATCHER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"
#include "runtime/world/world.h"

namespace pathways {

// Prepares the actions of programs whose entries wait for their host, and
// enqueues them on the devices. Invariants: (1) the host spends its time on one
// action at a time, in the order of the device queues; (2) an action is
// enqueued only for firings that are granted, in order. Not thread-safe.
class HostDispatcher {
 public:
  // All arguments must outlive the dispatcher.
  HostDispatcher(const RuntimeContext* context, int host,
                 const HostPrograms* programs, HostOutbox* outbox)
      : context_(*context),
        world_(*context->world),
        host_(host),
        programs_(*programs),
        outbox_(*outbox) {}

  // Prepares what a new grant allows. Does nothing if the program's entries do
  // not wait for the host.
  void PrepareGranted(HostProgram* program);
  // Drops the work for a program that stops.
  void Drop(const HostProgram& program) {
    work_.Drop(program.program, program.incarnation);
  }

  // Handlers of messages about the dispatcher's work.
  void OnHostWorkDone(const LocalMessage& message);
  void OnLongHostWork(const LocalMessage& message);
  // Returns why the host's devices are lost, because the work that `message` is
  // about never ends. Returns nullopt if the program was given up meanwhile.
  std::optional<std::string> OnHostWorkLimit(const LocalMessage& message);
  // Another host has enqueued an action that an action of this host follows.
  void OnEnqueued(int host, HostProgram* program, const WireMessage& message);
  void OnActionFired(HostProgram* program, const LocalMessage& message);

  // Reports what an entry that is not enqueued waits for.
  static void Report(const HostProgram& program, proto::StuckShard* stuck);

 private:
  // Adds an action to the host's work if it can be prepared.
  void Offer(HostProgram* program, uint32_t item);
  // Spends the host's time on its work.
  void Work();
  // Sends an action to its devices. `program`: null if it has stopped.
  void Enqueue(HostProgram* program, uint32_t item);
  // Returns the program, and sets `where`, of the host work that `message` is
  // about. Returns null if the host no longer does that work.
  HostProgram* FindHostWork(const LocalMessage& message,
                            WorkLocation* where) const;

  const RuntimeContext& context_;
  World& world_;
  const int host_;
  const HostPrograms& programs_;
  HostOutbox& outbox_;
  HostWork work_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_DISPATCHER_H_
