//===- stats.cc - What a run did, as a table or JSON ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/stats.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {

std::string StatsTable(const proto::Plan& plan, const RuntimeStats& stats,
                       const RunFacts& facts) {
  RuntimeStats::Device most;
  uint64_t gangs = 0, kernels = 0;
  for (const RuntimeStats::Device& device : stats.devices) {
    gangs += device.gangs_run;
    kernels += device.kernels_run;
    if (most.name.empty() || device.peak_bytes > most.peak_bytes) most = device;
  }
  uint64_t sent = 0, bytes = 0, shards = 0;
  for (const RuntimeStats::Host& host : stats.hosts) {
    sent += host.messages_sent;
    bytes += host.bytes_sent;
    shards += host.own_shards;
  }
  std::vector<std::vector<std::string>> rows = {{"statistic", "value"}};
  auto add = [&](const std::string& name, auto value) {
    rows.push_back({name, absl::StrCat(value)});
  };
  add("plan: actions", plan.actions_size());
  add("plan: edges", plan.edges_size());
  add("plan: buffers", plan.buffers_size());
  add("plan: file bytes", facts.plan_bytes);
  add("shards", shards);
  add("steps", facts.steps);
  add("firings of action shards", stats.firings);
  add("gangs run, per device", gangs);
  add("kernels run, per shard", kernels);
  add("messages between hosts", sent);
  add("bytes between hosts", bytes);
  for (const auto& [kind, count] : stats.messages) {
    if (count > 0) add(absl::StrCat("messages: ", kind), count);
  }
  add("messages to the controller", stats.controller_messages);
  add(absl::StrCat("peak device bytes (", most.name, ")"), most.peak_bytes);
  if (facts.simulated) {
    add("events", stats.events);
    add("virtual time in ns", stats.now_ns);
  }
  return TableText(rows);
}

std::string StatsJson(const proto::Plan& plan, const RuntimeStats& stats,
                      const RunFacts& facts) {
  // Keeps the order in which keys are added.
  using Json = nlohmann::ordered_json;
  Json json;
  json["plan"] = {{"program", plan.header().program()},
                  {"slices", plan.slices_size()},
                  {"layouts", plan.layouts_size()},
                  {"kernels", plan.kernels_size()},
                  {"buffers", plan.buffers_size()},
                  {"actions", plan.actions_size()},
                  {"edges", plan.edges_size()},
                  {"bytes", facts.plan_bytes}};
  json["run"] = {{"steps", facts.steps},
                 {"firings", stats.firings},
                 {"controller_messages", stats.controller_messages}};
  if (facts.simulated) {
    json["run"]["events"] = stats.events;
    // As text: JSON numbers are doubles to many readers.
    json["run"]["event_hash"] = absl::StrFormat("%016x", stats.event_hash);
    json["run"]["virtual_ns"] = stats.now_ns;
  }
  json["messages"] = Json::object();
  for (const auto& [kind, count] : stats.messages) {
    json["messages"][kind] = count;
  }
  json["hosts"] = Json::array();
  for (const RuntimeStats::Host& host : stats.hosts) {
    json["hosts"].push_back({{"name", host.name},
                             {"own_shards", host.own_shards},
                             {"action_shards", host.action_shards},
                             {"queue_entries", host.queue_entries},
                             {"edge_entries", host.edge_entries},
                             {"messages_sent", host.messages_sent},
                             {"bytes_sent", host.bytes_sent}});
  }
  json["devices"] = Json::array();
  for (const RuntimeStats::Device& device : stats.devices) {
    json["devices"].push_back({{"name", device.name},
                               {"memory_bytes", device.memory_bytes},
                               {"peak_bytes", device.peak_bytes},
                               {"gangs_run", device.gangs_run},
                               {"kernels_run", device.kernels_run}});
  }
  // Names may be any bytes.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pathways::pw_run
