//===- program_ends.h - Ends of programs ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_PROGRAM_ENDS_H_
#define RUNTIME_CONTROLLER_PROGRAM_ENDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_service.h"
#include "runtime/controller/load_service.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Ends programs, with their launches: because a client wants it, or because of
// a failure. One owner calls it.
class ProgramEnds {
 public:
  // All of these must outlive the object.
  struct Uses {
    const Topology& topology;
    const ClientTable& clients;
    const OpenLaunches& open;
    ProgramTable& programs;
    LaunchService& launches;
    LoadService& loads;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
  };

  explicit ProgramEnds(const Uses& uses) : uses_(uses) {}

  // Unloads a program without open launches for its client.
  void Unload(uint32_t client, const proto::UnloadRequest& request);
  // Ends the program's launches and unloads it, for a client that leaves.
  void Leave(uint32_t client, uint64_t handle);
  // Gives the program up, with its launches, because of `why`.
  void GiveUp(uint32_t program, const absl::Status& why);
  // Gives up the programs of a host that is gone, in this epoch. `gone`: text
  // for their clients.
  void HostGone(int32_t host, uint32_t epoch, const std::string& gone);
  // Gives up the programs on devices that a host has lost, because of `why`.
  // Returns false if the host has no such devices.
  bool WorkerLost(const proto::WorkerLost& lost, const absl::Status& why);
  // A host owes an answer and was silent for too long: ends the launches that
  // wait for it.
  void HostSilent(int32_t host);

 private:
  const Uses uses_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_PROGRAM_ENDS_H_
