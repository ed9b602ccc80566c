//===- fetch_table.h - Values that are asked for ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_FETCH_TABLE_H_
#define RUNTIME_CONTROLLER_FETCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/client_requests.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// A host that a client fetches from, and the piece with which it begins.
struct FetchSource {
  int32_t host = 0;
  uint32_t first_piece = 0;
};

// Fetches that are not over: their values go from hosts to clients directly, so
// all that is known of them is what both say. Invariants: (1) a fetch is here
// until its client has said that it is over, or is gone, and then its hosts are
// to be told; (2) a fetch of which nothing is heard to go on for the timeout is
// answered with DeadlineExceeded, naming the hosts that did not answer.
// One owner calls it; it sends nothing, and is told the time.
class FetchTable {
 public:
  struct Again {
    ClientRequest request;
    uint64_t object = 0;
    FetchSource source;
  };
  struct Late {
    ClientRequest request;
    absl::Status status;
  };

  // `topology` outlives it.
  FetchTable(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // False: it is here, or waits for nobody.
  bool Add(TimeNs now, ClientRequest request, uint64_t object,
           const std::vector<FetchSource>& sources);
  // What it fetches; 0: it is not here.
  uint64_t ObjectOf(ClientRequest request) const;
  // A host has sent the client so many pieces.
  void Sent(TimeNs now, ClientRequest request, int32_t host, uint64_t pieces);
  // It is over. Returns the hosts that took part.
  std::vector<int32_t> End(ClientRequest request);
  // A client asks for nothing any more: its fetches, which are to be ended.
  std::vector<ClientRequest> OfClient(uint32_t client) const;
  // A host will not answer: these are to be answered.
  std::vector<ClientRequest> HostGone(int32_t host);
  // What is to be asked for again, and what ends. Hosts in `busy` are given all
  // the time that they need.
  void Tick(TimeNs now, const WaitSet& busy, std::vector<Again>* again,
            std::vector<Late>* late);
  // Whether a fetch waits for hosts none of which is in `busy`.
  bool HasRequest(const WaitSet& busy) const;
  // Whether none waits for anything.
  bool empty() const { return waiting_ == 0; }

 private:
  struct Source {
    uint32_t first_piece = 0;
    uint64_t pieces = 0;  // sent, as was heard last
    TimeNs heard = -1;    // when that was; -1: never
  };
  struct Fetch {
    uint64_t object = 0;
    TimeNs began = 0;
    TimeNs since = 0;  // it went on, or one of its hosts was last seen busy
    bool answered = false;  // with an error
    std::map<int32_t, Source> hosts;
  };

  static bool WaitsFor(const Fetch& fetch, const WaitSet& hosts);
  absl::Status NoAnswer(const Fetch& fetch) const;

  const Topology& topology_;
  const TimeNs timeout_ns_;
  TimeNs last_tick_ = 0;
  std::map<ClientRequest, Fetch> fetches_;
  size_t waiting_ = 0;  // of these, not answered
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FETCH_TABLE_H_
