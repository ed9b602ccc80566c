//===- fetches.h - Fetches of values by clients -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_FETCHES_H_
#define RUNTIME_CONTROLLER_FETCHES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/fetch_table.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/store_messages.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/object_table.h"

namespace pathways {

// Passes the fetches of clients on to hosts, and ends them. Invariants: (1) an
// object is not dropped while it is fetched, even if its client releases it;
// (2) when a fetch is over, its hosts are notified. One owner calls it.
class Fetches {
 public:
  // All of these must outlive the object.
  struct Uses {
    ObjectTable& objects;
    FetchTable& table;
    StoreMessages& stores;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
  };

  // Hosts have the numbers below `num_hosts`.
  Fetches(uint32_t num_hosts, const Uses& uses)
      : num_hosts_(num_hosts), uses_(uses) {}

  void Begin(uint32_t client, const proto::FetchRequest& fetch);
  // Ends a fetch, or keeps its object until the client says so.
  void Take(uint32_t client, const proto::FetchEnd& end);
  // Takes the report of a host; `client`: the client that it sends to.
  void Take(uint32_t client, const proto::FetchReport& report);
  // Ends the fetches of a client that leaves.
  void Leave(uint32_t client);
  // The host will not answer, because of `why`.
  void HostGone(int32_t host, const absl::Status& why);
  // Asks again, and answers the fetches that took too long. Time does not count
  // for fetches with a host in `busy`.
  void Tick(const WaitSet& busy);

 private:
  // Ends a fetch, and notifies its hosts.
  void End(ClientRequest request);
  // `again`: the host may have the message already, so it gets no new number.
  // `views`: as in FetchRequest.
  void Send(ClientRequest request, uint64_t object, const FetchSource& source,
            bool again, bool views);

  const uint32_t num_hosts_;
  const Uses uses_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FETCHES_H_
