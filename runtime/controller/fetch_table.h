//===- fetch_table.h - Fetches of values ------------------------*- C++ -*-===//
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

// A host that a client fetches from, and the first piece to send.
struct FetchSource {
  int32_t host = 0;
  uint32_t first_piece = 0;
};

// Open fetches. Values go from hosts to clients directly, so the table knows
// only what both report. Invariants: (1) a fetch stays until its client has
// said that it is over, or is gone; then its hosts must be notified; (2) a
// fetch without progress for the timeout is answered with DeadlineExceeded,
// naming the hosts that did not answer. One owner calls it; it sends nothing,
// and is told the time.
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

  // `topology` must outlive the table.
  FetchTable(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // Adds a fetch. Returns false if it is a duplicate, or has no sources.
  bool Add(TimeNs now, ClientRequest request, uint64_t object,
           const std::vector<FetchSource>& sources);
  // Returns the object that is fetched, or 0 if there is no such fetch.
  uint64_t ObjectOf(ClientRequest request) const;
  // Records how many pieces a host has sent to the client.
  void Sent(TimeNs now, ClientRequest request, int32_t host, uint64_t pieces);
  // Records that the client awaits nothing more, and that the hosts must keep
  // the object until End.
  void Keep(ClientRequest request);
  // Removes a fetch that is over, and returns its hosts.
  std::vector<int32_t> End(ClientRequest request);
  // Returns the fetches of a client that leaves, which must be ended.
  std::vector<ClientRequest> OfClient(uint32_t client) const;
  // Records that a host will not answer. Returns the fetches that must be
  // answered.
  std::vector<ClientRequest> HostGone(int32_t host);
  // Appends to `again` what must be requested again, and to `late` the fetches
  // that end. Time does not count for fetches with a host in `busy`.
  void Tick(TimeNs now, const WaitSet& busy, std::vector<Again>* again,
            std::vector<Late>* late);
  // Returns true if a fetch waits for hosts none of which is in `busy`.
  bool HasRequest(const WaitSet& busy) const;
  // Returns true if a fetch that began less than the timeout ago waits for an
  // answer.
  bool HasRecent(TimeNs now) const;
  // Returns true if no fetch waits for an answer.
  bool empty() const { return waiting_ == 0; }

 private:
  struct Source {
    uint32_t first_piece = 0;
    uint64_t pieces = 0;  // pieces sent, as last reported
    TimeNs heard = -1;    // time of the last report; -1: none
  };
  struct Fetch {
    uint64_t object = 0;
    TimeNs began = 0;
    TimeNs since = 0;       // last progress, or last time a host was busy
    bool answered = false;  // with an error, or kept
    std::map<int32_t, Source> hosts;
  };

  static bool WaitsFor(const Fetch& fetch, const WaitSet& hosts);
  absl::Status NoAnswer(const Fetch& fetch) const;

  const Topology& topology_;
  const TimeNs timeout_ns_;
  TimeNs last_tick_ = 0;
  std::map<ClientRequest, Fetch> fetches_;
  size_t waiting_ = 0;  // number of fetches that are not answered
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FETCH_TABLE_H_
