//===- program_rounds.h - Rounds of messages about programs -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_PROGRAM_ROUNDS_H_
#define RUNTIME_CONTROLLER_PROGRAM_ROUNDS_H_

#include <cstdint>

#include "runtime/controller/answer_timer.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/protocol/host_epochs.h"

namespace pathways {

// Asks hosts to load, stop or free a program. One owner calls it; it changes
// nothing.
class ProgramRounds {
 public:
  // All arguments must outlive the object.
  ProgramRounds(const HostEpochs& epochs, const ProgramTable& programs,
                Outbox* outbox, AnswerTimer* timer)
      : epochs_(epochs),
        programs_(programs),
        outbox_(*outbox),
        timer_(*timer) {}

  // Sends the hosts that have not answered in this round the message of the
  // program's state. Does nothing if there is no such program any more.
  void Send(uint32_t program);

 private:
  // Adds those hosts of the plan that were replaced, with their epochs.
  void NameEpochs(const PreparedPlan& plan, proto::LoadProgram* load) const;

  const HostEpochs& epochs_;
  const ProgramTable& programs_;
  Outbox& outbox_;
  AnswerTimer& timer_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_PROGRAM_ROUNDS_H_
