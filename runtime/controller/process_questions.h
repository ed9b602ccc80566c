//===- process_questions.h - Questions of clients to processes --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_PROCESS_QUESTIONS_H_
#define RUNTIME_CONTROLLER_PROCESS_QUESTIONS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/controller/handler_clock.h"
#include "runtime/controller/outbox.h"
#include "runtime/protocol/directory.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/resources/client_requests.h"

namespace pathways {

// Questions that clients put to all processes with hosts or the controller.
// Processes answer the clients directly. Invariants: (1) a client learns how
// many processes its question went to; (2) it is notified of each of them that
// goes, if the question is among the last kMax ones, whether the process has
// answered or not. One owner calls it.
class ProcessQuestions {
 public:
  // Largest number of remembered questions.
  static constexpr size_t kMax = 1024;

  // All arguments must outlive the object.
  ProcessQuestions(const Directory& directory, const HostEpochs& epochs,
                   Outbox* outbox, HandlerClock* clock)
      : directory_(directory),
        epochs_(epochs),
        outbox_(*outbox),
        clock_(*clock) {}

  // Passes the question on to all processes that are not gone.
  void Ask(uint32_t client, const proto::CollectRequest& request);
  // Notifies the clients with a question to this process that it is gone.
  void ProcessGone(uint32_t process);

 private:
  struct Question {
    ClientRequest request;
    std::vector<uint32_t> processes;
  };

  // Returns true if one of the hosts of the process is gone.
  bool IsGone(uint32_t process) const;

  const Directory& directory_;
  const HostEpochs& epochs_;
  Outbox& outbox_;
  HandlerClock& clock_;
  std::deque<Question> questions_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_PROCESS_QUESTIONS_H_
