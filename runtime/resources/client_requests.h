//===- client_requests.h - What a client asks -------------------*- C++ -*-===//
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

// What a client waits for; it numbers what is to be answered from 1. 0: nobody
// waits.
struct ClientRequest {
  uint32_t client = 0;
  uint64_t id = 0;

  bool operator<(const ClientRequest& other) const {
    return std::tie(client, id) < std::tie(other.client, other.id);
  }
};

// Puts ids for the launches and objects that a client names by its numbers
// (runtime/protocol/client_id.h). False: one is none of its numbers.
bool NameByIds(proto::Control* control);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_CLIENT_REQUESTS_H_
