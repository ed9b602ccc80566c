//===- cluster_stats.h - Counts of all processes ----------------*- C++ -*-===//
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

// Counts of all processes of a cluster, each from when that process was asked.
struct ClusterStats {
  struct Device {
    std::string name;           // "island0/host1/device3"
    uint64_t memory_bytes = 0;  // bound of the arena
    uint64_t used_bytes = 0;    // held by loaded programs
    uint64_t peak_bytes = 0;    // most ever held
    uint64_t gangs_run = 0;     // gang entries
    uint64_t kernels_run = 0;   // segments, per shard
    // Bytes copied by feeds and fetches. `moved_bytes`: by sends, into buffers
    // of other devices of the host and to where the hosts send them from.
    uint64_t fed_bytes = 0, fetched_bytes = 0, moved_bytes = 0;
    // Traced clusters only; counts everything that ran, even if the trace had
    // no room for it. `busy_ns`: time in gangs, without their waits for other
    // devices, and in movements. `waiting_ns`: time in which the head of the
    // queue missed tokens, or other members of a collective.
    TimeNs busy_ns = 0, waiting_ns = 0;
    // Begin of the first gang, end of the last one of the same step, and end of
    // the last one of all, by the clock of the device's process. All are 0 if
    // no gang has run.
    TimeNs first_begin_ns = 0, first_end_ns = 0, last_end_ns = 0;
  };
  struct Host {
    std::string name;
    uint64_t own_shards = 0;     // shards of all slices of loaded programs
    uint64_t action_shards = 0;  // counters: own shards times their actions
    uint64_t queue_entries = 0;  // gangs of the devices' queues
    uint64_t edge_entries = 0;   // incoming edge ends of action shards
    uint64_t messages_sent = 0;  // to other hosts
    uint64_t bytes_sent = 0;
    uint64_t duplicates_dropped = 0;
    uint64_t stale_dropped = 0;
    uint64_t memory_used_bytes = 0;  // programs and object_bytes
    uint64_t object_bytes = 0;       // blocks of arrays and results
    uint64_t stored_bytes = 0;       // copied into these blocks, from clients
    // Bytes of other hosts' pieces that were copied into buffers, since they
    // were not received directly in place.
    uint64_t placed_bytes = 0;
    uint64_t spilled_bytes = 0;  // arrays that are in files now
  };
  struct Process {
    uint32_t process = 0;
    std::vector<std::string> hosts;
    LinkStats links;
    uint64_t plan_bytes_sent = 0, plan_bytes_received = 0;
  };
  std::vector<Device> devices;
  std::vector<Host> hosts;
  // Processes that have hosts or the controller, ascending.
  std::vector<Process> processes;
  // Messages sent so far, by kind, in a fixed order ("token", "piece", ...).
  std::vector<std::pair<std::string, uint64_t>> messages;
  // Messages that the controller received, except those that ask for these
  // counts and those about the end of releases.
  uint64_t controller_messages = 0;
  uint64_t controller_bytes = 0;  // of all messages to it
  // Bytes copied by clients: from values whose blocks are not contiguous, and
  // into arrays that they fetched.
  uint64_t gathered_bytes = 0, received_bytes = 0;
  // Bytes of plans to and from other processes. What processes with only
  // clients send is counted at the receiver.
  uint64_t plan_bytes_sent = 0, plan_bytes_received = 0;
  uint64_t firings = 0;     // of action shards
  uint64_t steps_done = 0;  // steps of all launches that ended
  // Bytes of arrays and results: on all hosts, and with the client that asks.
  uint64_t object_bytes = 0;
  uint64_t programs = 0;        // loaded
  uint64_t worker_wakeups = 0;  // threads only: of sleeping workers
  uint64_t events = 0;          // simulation only
  uint64_t event_hash = 0;      // simulation only
  TimeNs now_ns = 0;            // when asked: virtual, or real since creation
};

// Joins the counts of all processes of the cluster, each given once. Leaves out
// what a client holds itself, and the time.
ClusterStats JoinStats(
    const std::vector<const proto::ProcessStats*>& processes);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLUSTER_STATS_H_
