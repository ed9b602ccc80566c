//===- outbox.cc - Messages that the controller sends ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/outbox.h"

namespace pathways {

void Outbox::SendToHost(int32_t host, ControlRef control) {
  if (epochs_.IsGone(host)) return;
  control->set_restarts(epochs_.restarts(host));
  Send(directory_.executor(host), std::move(control));
}

void Outbox::SendAgain(int32_t host, const ControlRef& control) {
  if (epochs_.IsGone(host)) return;
  Send(directory_.executor(host), control);
}

void Outbox::SendToHosts(const std::vector<int32_t>& hosts,
                         absl::FunctionRef<void(proto::Control*)> fill) {
  for (int32_t host : hosts) {
    ControlRef control = New();
    fill(&*control);
    SendToHost(host, std::move(control));
  }
}

void Outbox::SendToClient(ControlRef control) {
  const ActorId client = directory_.client(control->client());
  Send(client, std::move(control));
}

void Outbox::Answer(ClientRequest request, const absl::Status& status,
                    uint64_t handle) {
  if (request.id == 0) return;
  ControlRef control = New();
  control->set_client(request.client);
  proto::Answer* answer = control->mutable_answer();
  answer->set_request(request.id);
  answer->set_code(static_cast<int>(status.code()));
  answer->set_message(status.message().data(), status.message().size());
  answer->set_program(handle);
  SendToClient(std::move(control));
}

void Outbox::AnswerAll(const std::vector<ClientAnswer>& answers) {
  for (const ClientAnswer& answer : answers) {
    Answer(answer.request, answer.status);
  }
}

}  // namespace pathways
