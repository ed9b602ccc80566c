//===- stall_rounds.h - Queries about stalled programs ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_STALL_ROUNDS_H_
#define RUNTIME_CONTROLLER_STALL_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/stall_detector.h"
#include "runtime/resources/client_requests.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Asks hosts why programs do not advance, and gives up those that are stalled.
// Invariants: (1) there is one round at a time; (2) each diagnosis is answered
// once, after the verdicts of its round were carried out. One owner calls it.
class StallRounds {
 public:
  // Gives up a program, with its launches, because of `why`.
  using GiveUp = std::function<void(uint32_t program, const absl::Status& why)>;

  // All arguments must outlive the object. A program is stalled if it has made
  // no progress for `timeout_ns`.
  StallRounds(const Topology& topology, TimeNs timeout_ns,
              const ProgramTable& programs, const OpenLaunches& open,
              Outbox* outbox, HandlerClock* clock, GiveUp give_up)
      : stalls_(topology, timeout_ns),
        programs_(programs),
        open_(open),
        outbox_(*outbox),
        clock_(*clock),
        give_up_(std::move(give_up)) {}

  // Ends the round, if there is one, and starts another one if there are
  // launches.
  void Tick();
  // Takes the report of a host. Ends the round if it was the last one.
  void Take(const proto::Report& report);
  // Answers the request after a round in which nothing more is expected to
  // happen.
  void Diagnose(ClientRequest request);

 private:
  void Start();
  void Finish();
  // Asks the hosts that have not answered in this round.
  void Ask(absl::Span<const StallDetector::Subject> subjects);

  StallDetector stalls_;
  const ProgramTable& programs_;
  const OpenLaunches& open_;
  Outbox& outbox_;
  HandlerClock& clock_;
  const GiveUp give_up_;
  std::vector<ClientRequest> diagnoses_;  // answered after the round
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STALL_ROUNDS_H_
