//===- process_questions.cc - Questions of clients to processes -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/process_questions.h"

#include <utility>

namespace pathways {

bool ProcessQuestions::IsGone(uint32_t process) const {
  // A process goes with all its hosts.
  for (uint32_t h = 0; h < directory_.num_hosts(); ++h) {
    const int32_t host = static_cast<int32_t>(h);
    if (directory_.place(host).process == process && epochs_.IsGone(host)) {
      return true;
    }
  }
  return false;
}

void ProcessQuestions::Ask(uint32_t client,
                           const proto::CollectRequest& request) {
  const TimeNs asked = clock_.Now();
  ControlRef control = outbox_.New();
  control->set_client(client);
  control->mutable_collect()->set_request(request.request());
  control->mutable_collect()->set_question(request.question());
  std::vector<uint32_t> processes = directory_.processes();
  std::erase_if(processes,
                [this](uint32_t process) { return IsGone(process); });
  for (uint32_t process : processes) {
    outbox_.Send(directory_.reporter(process), control);
  }
  ControlRef answer = outbox_.New();
  answer->set_client(client);
  answer->mutable_answer()->set_request(request.request());
  answer->mutable_answer()->set_processes(
      static_cast<uint32_t>(processes.size()));
  answer->mutable_answer()->set_asked_ns(asked);
  outbox_.SendToClient(std::move(answer));
  if (questions_.size() == kMax) questions_.pop_front();
  questions_.push_back({{client, request.request()}, std::move(processes)});
}

void ProcessQuestions::ProcessGone(uint32_t process) {
  for (Question& question : questions_) {
    if (std::erase(question.processes, process) == 0) continue;
    ControlRef control = outbox_.New();
    control->set_client(question.request.client);
    control->mutable_collected()->set_request(question.request.id);
    control->mutable_collected()->set_process(process);
    outbox_.SendToClient(std::move(control));
  }
}

}  // namespace pathways
