//===- drains.h - Drains of devices -----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_DRAINS_H_
#define RUNTIME_CONTROLLER_DRAINS_H_

#include <cstdint>
#include <set>
#include <vector>

#include "runtime/controller/client_table.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/resources/client_requests.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/policy.h"
#include "runtime/topology/topology.h"

namespace pathways {

// The drains that clients wait for. Invariants: (1) when a drain begins, each
// client with a program or an array on the drained devices is notified once;
// (2) each drain is answered once: with OK when no program or array is left
// there, with Cancelled when one of its devices is in use again, or with
// DeadlineExceeded, which names what is left; (3) a client that leaves gets no
// answer. One owner calls it.
class Drains {
 public:
  // All arguments must outlive the object.
  Drains(const Topology& topology, const HostEpochs& epochs,
         const ObjectTable& objects, const ClientTable& clients,
         ProgramTable* programs, Outbox* outbox, HandlerClock* clock)
      : topology_(topology),
        epochs_(epochs),
        objects_(objects),
        clients_(clients),
        programs_(*programs),
        outbox_(*outbox),
        clock_(*clock) {}

  // Begins or ends the drain of devices. Returns false, and has answered with
  // InvalidArgument, if a device does not exist.
  bool Take(uint32_t client, const proto::DrainRequest& drain);
  // Answers with the devices that accept no programs now.
  void AnswerAway(ClientRequest request);
  // Answers the drains that are complete. Called when a program or an array is
  // gone.
  void AnswerComplete();
  // Answers the drains whose deadline has passed.
  void Expire();
  // Drops the drains of a client that leaves.
  void Leave(uint32_t client);

  bool empty() const { return waiting_.empty(); }
  // Returns the next deadline, or kNoDeadline if there is none.
  TimeNs NextDeadline() const;

 private:
  struct Waiting {
    ClientRequest request;
    std::vector<bool> devices;  // true: drained
    TimeNs deadline = kNoDeadline;
  };

  // Ends the drains that wait for one of the marked devices.
  void Undo(const std::vector<bool>& devices);
  void NotifyClients(const std::vector<bool>& devices);
  std::vector<uint32_t> ProgramsOn(const std::vector<bool>& devices) const;
  // Returns the clients with arrays on hosts all of whose devices are marked.
  std::set<uint32_t> ArraysOn(const std::vector<bool>& devices) const;

  const Topology& topology_;
  const HostEpochs& epochs_;
  const ObjectTable& objects_;
  const ClientTable& clients_;
  ProgramTable& programs_;
  Outbox& outbox_;
  HandlerClock& clock_;
  std::vector<Waiting> waiting_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_DRAINS_H_
