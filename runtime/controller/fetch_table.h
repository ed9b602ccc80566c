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
#include "runtime/controller/client_requests.h"
#include "runtime/controller/wait_set.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Bytes [offset, offset + bytes) of what a host holds of an object.
struct FetchRange {
  int32_t host = 0;
  uint64_t offset = 0, bytes = 0;
};

// Fetches that hosts have not answered. Invariants: (1) a fetch is here until
// each piece of each range has come once, or it is answered with an error; (2)
// a fetch of which nothing has come for the timeout ends with DeadlineExceeded,
// naming the hosts that did not answer; (3) one of which pieces come is not
// asked for again. One owner calls it; it sends nothing, and is told the time.
class FetchTable {
 public:
  struct Again {
    ClientRequest request;
    uint64_t object = 0;
    FetchRange range;
  };
  struct Late {
    ClientRequest request;
    absl::Status status;
  };

  // `topology` outlives it. Hosts send `piece_bytes` at a time.
  FetchTable(const Topology& topology, TimeNs timeout_ns, uint64_t piece_bytes)
      : topology_(topology),
        timeout_ns_(timeout_ns),
        piece_bytes_(piece_bytes) {}

  void Add(TimeNs now, ClientRequest request, uint64_t object,
           std::vector<FetchRange> ranges);
  // A piece has come.
  void Arrived(TimeNs now, ClientRequest request, int32_t host,
               uint64_t offset);
  // It was answered. Whether it was here.
  bool Remove(ClientRequest request) { return fetches_.erase(request) > 0; }
  // A host will not answer: these end.
  std::vector<ClientRequest> HostGone(int32_t host);
  // What is to be asked for again, and what ends. Hosts in `busy` are given all
  // the time that they need.
  void Tick(TimeNs now, const WaitSet& busy, std::vector<Again>* again,
            std::vector<Late>* late);
  // Whether a fetch waits for hosts none of which is in `busy`.
  bool HasRequest(const WaitSet& busy) const;
  bool empty() const { return fetches_.empty(); }

 private:
  struct Range {
    FetchRange range;
    WaitSet pieces;  // that have not come
  };
  struct Fetch {
    uint64_t object = 0;
    TimeNs came = 0;   // the last piece, or the request
    TimeNs since = 0;  // that, or one of its hosts was last seen busy
    std::vector<Range> ranges;
    size_t open = 0;  // ranges that miss pieces
  };

  static bool WaitsFor(const Fetch& fetch, const WaitSet& hosts);
  absl::Status NoAnswer(const Fetch& fetch) const;

  const Topology& topology_;
  const TimeNs timeout_ns_;
  const uint64_t piece_bytes_;
  TimeNs last_tick_ = 0;
  std::map<ClientRequest, Fetch> fetches_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FETCH_TABLE_H_
