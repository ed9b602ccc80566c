//===- cluster_stats.cc - Counts of all processes -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/cluster_stats.h"

#include <algorithm>
#include <map>

namespace pathways {
namespace {

ClusterStats::Device FromProto(const proto::DeviceStats& device) {
  ClusterStats::Device out;
  out.name = device.name();
  out.memory_bytes = device.memory_bytes();
  out.used_bytes = device.used_bytes();
  out.peak_bytes = device.peak_bytes();
  out.gangs_run = device.gangs_run();
  out.kernels_run = device.kernels_run();
  out.fed_bytes = device.fed_bytes();
  out.fetched_bytes = device.fetched_bytes();
  out.moved_bytes = device.moved_bytes();
  out.busy_ns = static_cast<TimeNs>(device.busy_ns());
  out.waiting_ns = static_cast<TimeNs>(device.waiting_ns());
  out.first_begin_ns = static_cast<TimeNs>(device.first_begin_ns());
  out.first_end_ns = static_cast<TimeNs>(device.first_end_ns());
  out.last_end_ns = static_cast<TimeNs>(device.last_end_ns());
  return out;
}

ClusterStats::Host FromProto(const proto::HostStats& host) {
  ClusterStats::Host out;
  out.name = host.name();
  out.own_shards = host.own_shards();
  out.action_shards = host.action_shards();
  out.queue_entries = host.queue_entries();
  out.edge_entries = host.edge_entries();
  out.messages_sent = host.messages_sent();
  out.bytes_sent = host.bytes_sent();
  out.duplicates_dropped = host.duplicates_dropped();
  out.stale_dropped = host.stale_dropped();
  out.memory_used_bytes = host.memory_used_bytes();
  out.object_bytes = host.object_bytes();
  out.stored_bytes = host.stored_bytes();
  out.placed_bytes = host.placed_bytes();
  out.spilled_bytes = host.spilled_bytes();
  return out;
}

ClusterStats::Process FromProto(const proto::ProcessStats& process) {
  ClusterStats::Process out;
  out.process = process.process();
  for (const proto::HostStats& host : process.hosts()) {
    out.hosts.push_back(host.name());
  }
  const proto::LinkCounts& links = process.links();
  out.links = {links.messages_sent(),     links.bytes_sent(),
               links.messages_received(), links.bytes_received(),
               links.unlinked(),          links.foreign(),
               links.frames_sent(),       links.frames_received()};
  out.plan_bytes_sent = process.plan_bytes_sent();
  out.plan_bytes_received = process.plan_bytes_received();
  return out;
}

}  // namespace

ClusterStats JoinStats(
    const std::vector<const proto::ProcessStats*>& processes) {
  ClusterStats all;
  std::map<uint32_t, const proto::HostStats*> hosts;
  for (const proto::ProcessStats* process : processes) {
    all.processes.push_back(FromProto(*process));
    for (const proto::HostStats& host : process->hosts()) {
      hosts[host.host()] = &host;
    }
    for (int i = 0; i < process->messages_size(); ++i) {
      const proto::MessageCount& count = process->messages(i);
      if (i == static_cast<int>(all.messages.size())) {
        all.messages.emplace_back(count.kind(), 0);
      }
      all.messages[i].second += count.sent();
    }
    all.controller_messages += process->controller_messages();
    all.controller_bytes += process->controller_bytes();
    all.gathered_bytes += process->gathered_bytes();
    all.received_bytes += process->received_bytes();
    all.plan_bytes_sent += process->plan_bytes_sent();
    all.plan_bytes_received += process->plan_bytes_received();
    all.firings += process->firings();
    all.steps_done += process->steps_done();
    all.programs += process->programs();
    all.worker_wakeups += process->worker_wakeups();
    all.events += process->events();
    all.event_hash ^= process->event_hash();
  }
  std::sort(all.processes.begin(), all.processes.end(),
            [](const auto& a, const auto& b) { return a.process < b.process; });
  for (const auto& [number, host] : hosts) {
    all.hosts.push_back(FromProto(*host));
    all.object_bytes += host->object_bytes();
    for (const proto::DeviceStats& device : host->devices()) {
      all.devices.push_back(FromProto(device));
    }
  }
  return all;
}

}  // namespace pathways
