//===- clients.cc - Clients that connect and leave ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <utility>
#include <vector>

#include "runtime/controller/controller.h"

namespace pathways {

void Controller::OnConnect(uint32_t client,
                           const proto::ConnectRequest& request) {
  const absl::StatusOr<ClientTerms> terms = ReadTerms(request);
  if (!terms.ok()) {
    return outbox_.Answer({client, request.request()}, terms.status());
  }
  // The number may have belonged to another client, whose device time must not
  // count. A client that is connected already keeps its own.
  if (clients_.NameOf(client) == nullptr) grants_.ForgetClient(client);
  std::vector<ClientAnswer> answers;
  clients_.Connect({client, request.request()}, request.name(), *terms,
                   &answers);
  outbox_.AnswerAll(answers);
}

void Controller::OnDisconnect(uint32_t client,
                              const proto::DisconnectRequest& request) {
  Leave({client, request.request()},
        absl::MakeConstSpan(request.objects().data(), request.objects_size()));
}

void Controller::OnClientGone(uint32_t client) {
  // A client that is gone waits for no answer.
  if (clients_.NameOf(client) != nullptr) {
    Leave({client, /*id=*/0}, objects_.HeldBy(client));
  }
  clients_.Forsake(client);
}

void Controller::Leave(ClientRequest request,
                       absl::Span<const uint64_t> objects) {
  const uint32_t client = request.client;
  // The client's waits are dropped before its programs are released. The end of
  // its last program can end the client, and whatever ends then, or is tried
  // again then, must not belong to a client that is no longer known.
  load_service_.Leave(client);
  drains_.Leave(client);
  load_requests_.Leave(client);
  fetches_.Leave(client);
  std::vector<ClientAnswer> answers;
  for (uint64_t handle : clients_.Leave(request, &answers)) {
    ends_.Leave(client, handle);
  }
  programs_.mutable_admission()->GiveBackAll(client);
  stores_.ReleaseHeld(objects);
  outbox_.AnswerAll(answers);
  load_service_.Retry();
}

}  // namespace pathways
