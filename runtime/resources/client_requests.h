//===- client_requests.h - Requests of clients ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_CLIENT_REQUESTS_H_
#define RUNTIME_RESOURCES_CLIENT_REQUESTS_H_

#include <cstdint>
#include <tuple>

#include "runtime/proto/control.pb.h"

namespace pathways {

// A request of a client that expects an answer. The client numbers its requests
// from 1; 0: no answer is expected.
struct ClientRequest {
  uint32_t client = 0;
  uint64_t id = 0;

  bool operator<(const ClientRequest& other) const {
    return std::tie(client, id) < std::tie(other.client, other.id);
  }
};

// Replaces the numbers by which a client names its launches and objects by ids
// (runtime/protocol/client_id.h). Returns false if one is out of range.
bool NameByIds(proto::Control* control);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_CLIENT_REQUESTS_H_
