//===- client_service.h - Clients that connect and leave --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_CLIENT_SERVICE_H_
#define RUNTIME_CONTROLLER_CLIENT_SERVICE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/fetches.h"
#include "runtime/controller/load_requests.h"
#include "runtime/controller/load_service.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_ends.h"
#include "runtime/controller/store_messages.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/grant_order.h"

namespace pathways {

// Connects clients, and releases all that a client has when it leaves or its
// process is gone. Invariant: nothing of a client that leaves is granted,
// answered or tried again after its name is free. One owner calls it.
class ClientService {
 public:
  // All of these must outlive the service.
  struct Uses {
    const ObjectTable& objects;
    ClientTable& clients;
    GrantOrder& grants;
    Admission& admission;
    LoadRequests& requests;
    LoadService& loads;
    Drains& drains;
    Fetches& fetches;
    ProgramEnds& programs;
    StoreMessages& stores;
    Outbox& outbox;
  };

  explicit ClientService(const Uses& uses) : uses_(uses) {}

  void Connect(uint32_t client, const proto::ConnectRequest& request);
  void Disconnect(uint32_t client, const proto::DisconnectRequest& request);
  // The client's process is gone.
  void Gone(uint32_t client);

 private:
  // Releases all that a client has, and its references to `objects`.
  void Leave(ClientRequest request, absl::Span<const uint64_t> objects);

  const Uses uses_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CLIENT_SERVICE_H_
