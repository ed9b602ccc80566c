//===- client_requests.h - What a client asks, in its order -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_CLIENT_REQUESTS_H_
#define RUNTIME_CONTROLLER_CLIENT_REQUESTS_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "runtime/protocol/control_message.h"

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

// Puts what one client sent into the order of Control::sequence, each once: its
// threads and its actor send at their own times. What comes early is kept until
// those before it have come. One owner calls it.
class ClientRequests {
 public:
  // Calls `handle` for `control` and what has waited for it, if it is next.
  void Take(ControlRef control,
            absl::FunctionRef<void(proto::Control*)> handle);

 private:
  uint64_t taken_ = 0;  // number of the last one that was handled
  std::map<uint64_t, ControlRef> early_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CLIENT_REQUESTS_H_
