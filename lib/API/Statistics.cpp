//===- Statistics.cpp - Counts of a cluster -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Statistics.h"

#include "Handles.h"
#include "PlanState.h"

using namespace pathways;

int64_t Session::now() const { return state ? state->cluster->Now() : 0; }

Result<Statistics> Session::statistics() {
  if (!state)
    return makeEmptyError("session");
  const absl::StatusOr<ClusterStats> counts = state->client->Stats();
  if (!counts.ok())
    return makeError(ErrorCode::kRunFailed, counts.status());
  Statistics statistics;
  for (const ClusterStats::Device &device : counts->devices)
    statistics.devices.push_back({.name = device.name,
                                  .used_bytes = device.used_bytes,
                                  .peak_bytes = device.peak_bytes,
                                  .kernels_run = device.kernels_run,
                                  .gangs_run = device.gangs_run,
                                  .fed_bytes = device.fed_bytes,
                                  .fetched_bytes = device.fetched_bytes,
                                  .moved_bytes = device.moved_bytes,
                                  .busy_ns = device.busy_ns,
                                  .waiting_ns = device.waiting_ns});
  for (const ClusterStats::Host &host : counts->hosts)
    statistics.hosts.push_back({.name = host.name,
                                .messages_sent = host.messages_sent,
                                .bytes_sent = host.bytes_sent,
                                .memory_used_bytes = host.memory_used_bytes,
                                .array_bytes = host.object_bytes,
                                .spilled_bytes = host.spilled_bytes});
  statistics.programs = counts->programs;
  statistics.steps_done = counts->steps_done;
  statistics.firings = counts->firings;
  statistics.array_bytes = counts->object_bytes;
  statistics.gathered_bytes = counts->gathered_bytes;
  statistics.received_bytes = counts->received_bytes;
  statistics.controller_messages = counts->controller_messages;
  statistics.plan_bytes_sent = counts->plan_bytes_sent;
  statistics.events = counts->events;
  statistics.now_ns = counts->now_ns;
  return statistics;
}
