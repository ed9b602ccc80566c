//===- store_log.h - How far the hosts' stores have come --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_STORE_LOG_H_
#define RUNTIME_CONTROLLER_STORE_LOG_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/controller/client_requests.h"

namespace pathways {

// Numbers of the messages that change hosts' stores: each host handles its own
// in order, so when it has said that one is done, so are all before. One owner
// calls it; it sends nothing.
class StoreLog {
 public:
  // The number of the next message to a host. `drops`: it gives memory back.
  uint64_t Number(int32_t host, bool drops);
  // Hosts that were told to drop something and have not said that they have.
  std::vector<int32_t> Unsettled() const;
  // The request is over when these hosts have done all that was numbered.
  void Await(ClientRequest request, const std::vector<int32_t>& hosts);
  // A host has done what was numbered up to `sequence`. Returns the requests
  // that are over, in the order in which they came.
  std::vector<ClientRequest> Settled(int32_t host, uint64_t sequence);

 private:
  struct Store {
    uint64_t sent = 0;     // the last message
    uint64_t dropped = 0;  // the last one that gave memory back
    uint64_t settled = 0;  // the last one that the host has done
  };
  struct Waiting {
    ClientRequest request;
    std::map<int32_t, uint64_t> hosts;  // and how far each must come
  };
  std::map<int32_t, Store> stores_;
  std::vector<Waiting> waiting_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STORE_LOG_H_
