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
#include <deque>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/client_requests.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// The messages that change hosts' stores, until the hosts have them.
// Invariants: (1) each host handles its own in the order of their numbers, so
// when it has said that one is done, so are all before; (2) a message is kept
// until its host has done it, and one that a launch waits for until the host
// has answered that too, so that both can be sent again: a lost one would hold
// up all after it; (3) a request ends when all its hosts have come so far, or
// when one of them has not been heard for the timeout, which DeadlineExceeded
// names. One owner calls it; it sends nothing, and is told the time.
class StoreLog {
 public:
  struct Again {
    int32_t host = 0;
    ControlRef message;
  };
  struct Late {
    ClientRequest request;
    absl::Status status;
  };
  // What Tick finds.
  struct Findings {
    std::vector<Again> again;     // to be sent, in order
    std::vector<Late> late;       // to be answered
    std::vector<int32_t> silent;  // have not been heard, though they should
  };

  // `topology` outlives it.
  StoreLog(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // The number of the next message to a host. `drops`: it gives memory back.
  uint64_t Number(int32_t host, bool drops);
  // The message with the last number of `host`, to be sent again as it is.
  // `launch`: what it is for; 0: none. `asks`: that waits for the answer.
  void Keep(TimeNs now, int32_t host, uint64_t launch, bool asks,
            ControlRef message);
  // The number of the message for a launch that the host has not done, as far
  // as is known; 0: none.
  uint64_t Undone(int32_t host, uint64_t launch) const;
  // Whether there is such a message for any launch.
  bool HasUndone(int32_t host) const;
  // Hosts that were told to drop something and have not said that they have.
  std::vector<int32_t> Unsettled() const;
  // The request is over when these hosts have done all that was numbered.
  void Await(TimeNs now, ClientRequest request,
             const std::vector<int32_t>& hosts);
  // A host has done what was numbered up to `sequence`. Returns the requests
  // that are over, in the order in which they came.
  std::vector<ClientRequest> Settled(TimeNs now, int32_t host,
                                     uint64_t sequence);
  // A host has answered for the launch, so it has done what came before too.
  std::vector<ClientRequest> Answered(TimeNs now, int32_t host,
                                      uint64_t launch);
  // The launch awaits no answer of the host (any more).
  void Forget(int32_t host, uint64_t launch);
  // A host has nothing any more: nobody waits for it, and what it is sent from
  // now on is numbered from 1 again. Returns the requests that are over.
  std::vector<ClientRequest> HostGone(TimeNs now, int32_t host);
  // Looks for what takes too long. Hosts in `busy` are given all the time that
  // they need.
  Findings Tick(TimeNs now, const WaitSet& busy);
  // Whether a client waits for hosts none of which is in `busy`.
  bool HasRequest(const WaitSet& busy) const;
  // Whether the host has not said that it has all that it was sent.
  bool Owes(int32_t host) const;
  // Whether there is nothing for Tick to do.
  bool empty() const;

 private:
  struct Message {
    uint64_t sequence = 0;
    uint64_t launch = 0;
    bool asks = false;
    TimeNs sent = 0;
    ControlRef message;
  };
  struct Store {
    uint64_t sent = 0;     // the last message
    uint64_t dropped = 0;  // the last one that gave memory back
    uint64_t settled = 0;  // the last one that the host has done
    TimeNs heard = 0;      // when it was heard last
    TimeNs busy = 0;       // when Tick was told so last
    std::deque<Message> kept;
  };
  struct Waiting {
    ClientRequest request;
    TimeNs since = 0;                   // the last of its hosts came so far
    std::map<int32_t, uint64_t> hosts;  // and how far each must come
  };

  absl::Status NoAnswer(const Waiting& waiting) const;

  const Topology& topology_;
  const TimeNs timeout_ns_;
  TimeNs last_tick_ = 0;
  std::map<int32_t, Store> stores_;
  std::vector<Waiting> waiting_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STORE_LOG_H_
