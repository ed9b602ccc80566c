//===- cluster_stats.h - What all processes count ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLUSTER_STATS_H_
#define RUNTIME_CLIENT_CLUSTER_STATS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/proto/process.pb.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/world.h"

namespace pathways {

// Of all processes of a cluster, each at the time when it was asked.
struct ClusterStats {
  struct Device {
    std::string name;           // "island0/host1/device3"
    uint64_t memory_bytes = 0;  // bound of the arena
    uint64_t used_bytes = 0;    // held by loaded programs
    uint64_t peak_bytes = 0;    // most ever held
    uint64_t gangs_run = 0;     // gang entries
    uint64_t kernels_run = 0;   // segments, per shard
    // Copied by feeds and fetches; by sends, into the buffers of other devices
    // of the host and to where hosts take them from.
    uint64_t fed_bytes = 0, fetched_bytes = 0, moved_bytes = 0;
    // Traced clusters, all that ran, whatever the trace has room for: in gangs,
    // less their waits for others, and in movements; and while the head of the
    // queue missed tokens, or others in a collective.
    TimeNs busy_ns = 0, waiting_ns = 0;
  };
  struct Host {
    std::string name;
    uint64_t own_shards = 0;     // of all slices of loaded programs
    uint64_t action_shards = 0;  // counters: own shards times their actions
    uint64_t queue_entries = 0;  // gangs of the devices' queues
    uint64_t edge_entries = 0;   // incoming edge ends of action shards
    uint64_t messages_sent = 0;  // to other hosts
    uint64_t bytes_sent = 0;
    uint64_t duplicates_dropped = 0;
    uint64_t stale_dropped = 0;
    uint64_t memory_used_bytes = 0;  // by programs and by what follows
    uint64_t object_bytes = 0;       // its parts of arrays and results
    uint64_t stored_bytes = 0;       // copied into those, from clients
    // Of pieces of other hosts, copied into buffers: those that did not come
    // right there.
    uint64_t placed_bytes = 0;
    uint64_t spilled_bytes = 0;  // of arrays that are in files now
  };
  struct Process {
    uint32_t process = 0;
    std::vector<std::string> hosts;
    LinkStats links;
    uint64_t plan_bytes_sent = 0, plan_bytes_received = 0;
  };
  std::vector<Device> devices;
  std::vector<Host> hosts;
  // That have hosts or the controller, ascending.
  std::vector<Process> processes;
  // Sent so far, by kind of message, in a fixed order ("token", "piece", ...).
  std::vector<std::pair<std::string, uint64_t>> messages;
  // Received by the controller, but for what asks for this and for the end of
  // releases.
  uint64_t controller_messages = 0;
  uint64_t controller_bytes = 0;  // of all that it received
  // Copied by clients: out of values whose blocks are no neighbours, and into
  // arrays that they fetched.
  uint64_t gathered_bytes = 0, received_bytes = 0;
  // Of plans, to and from other processes; what processes that have clients
  // alone send is counted where it comes.
  uint64_t plan_bytes_sent = 0, plan_bytes_received = 0;
  uint64_t firings = 0;     // of action shards
  uint64_t steps_done = 0;  // of all launches that ended
  // Arrays and results: on all hosts, and with the client that asks.
  uint64_t object_bytes = 0;
  uint64_t programs = 0;        // loaded
  uint64_t worker_wakeups = 0;  // threads: of workers that slept
  uint64_t events = 0;          // simulation
  uint64_t event_hash = 0;      // simulation
  TimeNs now_ns = 0;            // when asked: virtual or real, since creation
};

// `processes`: of all processes of the cluster, each once. What a client holds
// itself, and the time, are left out.
ClusterStats JoinStats(
    const std::vector<const proto::ProcessStats*>& processes);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLUSTER_STATS_H_
