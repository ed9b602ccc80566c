//===- store_log.h - Log of messages to the hosts' stores -------*- C++ -*-===//
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

// The messages that change the stores of hosts, until the hosts have done them.
// Invariants: (1) a host handles its messages in the order of their numbers, so
// a report that one is done covers all earlier ones; (2) a message is kept
// until its host has done it, and a message that a launch waits for until the
// host has answered that too, so that both can be sent again: a lost message
// would block all later ones; (3) a request ends when all its hosts have
// reached its numbers, or when one of them was silent for the timeout: then
// with DeadlineExceeded, which names that host. One owner calls it; it sends
// nothing, and is told the time.
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
  // Results of Tick.
  struct Findings {
    std::vector<Again> again;     // to be sent, in order
    std::vector<Late> late;       // to be answered
    std::vector<int32_t> silent;  // owe an answer and were silent for too long
  };

  // `topology` must outlive the log.
  StoreLog(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // Returns the number of the next message to a host. `drops`: true if it gives
  // memory back.
  uint64_t Number(int32_t host, bool drops);
  // Keeps the message with the host's last number, to be sent again unchanged.
  // `launch`: the launch that it is for; 0: none. `asks`: true if the launch
  // waits for the answer.
  void Keep(TimeNs now, int32_t host, uint64_t launch, bool asks,
            ControlRef message);
  // Returns the number of the launch's message that the host has not done, as
  // far as is known; 0: none.
  uint64_t Undone(int32_t host, uint64_t launch) const;
  // Returns true if the host has not done a message for some launch.
  bool HasUndone(int32_t host) const;
  // Returns the hosts that were told to drop something and have not confirmed
  // it.
  std::vector<int32_t> Unsettled() const;
  // Adds a request that ends when these hosts have done all messages so far.
  void Await(TimeNs now, ClientRequest request,
             const std::vector<int32_t>& hosts);
  // Records that a host has done all messages up to `sequence`. Returns the
  // requests that have ended, in the order of Await.
  std::vector<ClientRequest> Settled(TimeNs now, int32_t host,
                                     uint64_t sequence);
  // Records that a host has answered for the launch, so it has done all
  // messages up to that one.
  std::vector<ClientRequest> Answered(TimeNs now, int32_t host,
                                      uint64_t launch);
  // The launch does not await an answer of the host, or not any more.
  void Forget(int32_t host, uint64_t launch);
  // A host is gone: no request waits for it, and messages to it are numbered
  // from 1 again. Returns the requests that have ended.
  std::vector<ClientRequest> HostGone(TimeNs now, int32_t host);
  // Finds what takes too long. Time does not count for hosts in `busy`.
  Findings Tick(TimeNs now, const WaitSet& busy);
  // Returns true if a client waits for hosts none of which is in `busy`.
  bool HasRequest(const WaitSet& busy) const;
  // Returns true if a launch has waited for less than the timeout for a host to
  // do a message, or to answer it.
  bool HasRecent(TimeNs now) const;
  // Returns true if the host has not confirmed all its messages.
  bool Owes(int32_t host) const;
  // Returns true if Tick has nothing to do.
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
    TimeNs heard = 0;      // time of the last answer
    TimeNs busy = 0;       // last time that Tick saw it busy
    std::deque<Message> kept;
  };
  struct Waiting {
    ClientRequest request;
    TimeNs since = 0;  // last time that a host reached its number
    std::map<int32_t, uint64_t> hosts;  // the number that each host must reach
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
