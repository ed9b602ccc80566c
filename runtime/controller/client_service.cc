//===- client_service.cc - Clients that connect and leave -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_service.h"

#include <vector>

#include "absl/status/statusor.h"

namespace pathways {

void ClientService::Connect(uint32_t client,
                            const proto::ConnectRequest& request) {
  const absl::StatusOr<ClientTerms> terms = ReadTerms(request);
  if (!terms.ok()) {
    return uses_.outbox.Answer({client, request.request()}, terms.status());
  }
  // The number may have belonged to another client, whose device time must not
  // count. A client that is connected already keeps its own.
  if (uses_.clients.NameOf(client) == nullptr) {
    uses_.grants.ForgetClient(client);
  }
  std::vector<ClientAnswer> answers;
  uses_.clients.Connect({client, request.request()}, request.name(), *terms,
                        &answers);
  uses_.outbox.AnswerAll(answers);
}

void ClientService::Disconnect(uint32_t client,
                               const proto::DisconnectRequest& request) {
  Leave({client, request.request()},
        absl::MakeConstSpan(request.objects().data(), request.objects_size()));
}

void ClientService::Gone(uint32_t client) {
  // A client that is gone waits for no answer.
  if (uses_.clients.NameOf(client) != nullptr) {
    Leave({client, /*id=*/0}, uses_.objects.HeldBy(client));
  }
  uses_.clients.Forsake(client);
}

void ClientService::Leave(ClientRequest request,
                          absl::Span<const uint64_t> objects) {
  const uint32_t client = request.client;
  // The client's waits are dropped before its programs are released. The end of
  // its last program can end the client, and whatever ends then, or is tried
  // again then, must not belong to a client that is no longer known.
  uses_.loads.Leave(client);
  uses_.drains.Leave(client);
  uses_.requests.Leave(client);
  uses_.fetches.Leave(client);
  std::vector<ClientAnswer> answers;
  for (uint64_t handle : uses_.clients.Leave(request, &answers)) {
    uses_.programs.Leave(client, handle);
  }
  uses_.admission.GiveBackAll(client);
  uses_.stores.ReleaseHeld(objects);
  uses_.outbox.AnswerAll(answers);
  uses_.loads.Retry();
}

}  // namespace pathways
