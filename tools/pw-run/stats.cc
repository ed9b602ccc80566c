//===- stats.cc - Statistics of a run, as a table or JSON -----------------===//
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
#include "runtime/client/run_times.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

// Most rows of the tables about the use of time.
constexpr size_t kMaxDevices = 32;
constexpr size_t kMaxShares = 8;
constexpr size_t kMaxProcessRows = 32;

std::string Time(TimeNs ns) {
  if (ns < 1000) return absl::StrCat(ns, " ns");
  if (ns < 10'000'000) return absl::StrFormat("%.1f us", ns / 1e3);
  return absl::StrFormat("%.2f ms", ns / 1e6);
}

double Fraction(TimeNs part, TimeNs whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string Percent(TimeNs part, TimeNs whole) {
  return absl::StrFormat("%.1f%%", 100 * Fraction(part, whole));
}

// Returns text like "'x' (program.mlir:3:5)".
std::string Named(const std::string& action, const std::string& location) {
  return location.empty() ? absl::StrCat("'", action, "'")
                          : absl::StrCat("'", action, "' (", location, ")");
}

std::string WaitText(const TraceSummary::Wait& wait) {
  std::string what;
  if (wait.is_collective) {
    what = absl::StrCat("for others in ", wait.kind, " of ",
                        Named(wait.to, wait.to_location));
  } else {
    what = absl::StrCat("for edge ", wait.edge, " (", wait.kind, ") from ",
                        Named(wait.from, wait.from_location), " to ",
                        Named(wait.to, wait.to_location));
  }
  return absl::StrCat("  ", Time(wait.ns), " on ", wait.device, " ", what,
                      " in firing ", wait.firing, "; ",
                      CountText(wait.count, "such wait"), ", ",
                      Time(wait.total_ns), " in all\n");
}

// Returns a table of the traffic between several processes.
std::string ProcessesText(const ClusterStats& stats) {
  if (stats.processes.size() <= 1) return "";
  std::vector<std::vector<std::string>> rows = {
      {"process", "hosts", "sent", "frames", "bytes", "received", "frames",
       "bytes", "unlinked", "foreign", "plan bytes sent", "received"}};
  for (const ClusterStats::Process& process : stats.processes) {
    if (rows.size() > kMaxProcessRows) {
      rows.push_back({absl::StrCat(
          "and ", stats.processes.size() - kMaxProcessRows, " more")});
      break;
    }
    const LinkStats& links = process.links;
    std::vector<std::string> row = {absl::StrCat(process.process),
                                    absl::StrCat(process.hosts.size())};
    for (uint64_t count :
         {links.messages_sent, links.frames_sent, links.bytes_sent,
          links.messages_received, links.frames_received, links.bytes_received,
          links.unlinked, links.foreign, process.plan_bytes_sent,
          process.plan_bytes_received}) {
      row.push_back(absl::StrCat(count));
    }
    rows.push_back(std::move(row));
  }
  return absl::StrCat("\n", TableText(rows));
}

RunTimes TimesOf(const ClusterStats& stats, const RunFacts& facts) {
  return pathways::TimesOf(stats, facts.steps, facts.launch_ns);
}

// Returns how busy the devices were that ran or waited at all.
std::string DevicesText(const ClusterStats& stats, const RunFacts& facts) {
  std::vector<std::vector<std::string>> rows = {
      {"device", "busy", "waits", absl::StrCat("of ", Time(facts.launch_ns))}};
  size_t more = 0;
  for (const ClusterStats::Device& device : stats.devices) {
    if (device.busy_ns == 0 && device.waiting_ns == 0) continue;
    if (rows.size() > kMaxDevices) {
      ++more;
      continue;
    }
    rows.push_back({device.name, Time(device.busy_ns), Time(device.waiting_ns),
                    Percent(device.busy_ns, facts.launch_ns) + " busy"});
  }
  if (more > 0) rows.push_back({absl::StrCat("and ", more, " more")});
  return TableText(rows);
}

// Returns the critical path and waits.
std::string SummaryText(const TraceSummary& summary) {
  const TimeNs wall = summary.wall_ns();
  std::string text, whole = absl::StrCat("of ", Time(wall));
  if (summary.events_dropped > 0) {
    // Each table says so, since a reader may read only that one.
    whole = absl::StrCat("of the last ", Time(wall));
    absl::StrAppend(&text, "\nthe tables below are ", whole,
                    " only: ", CountText(summary.events_dropped, "older event"),
                    " dropped; a larger --trace-events keeps more\n");
  }
  std::vector<std::vector<std::string>> rows = {
      {"critical path", "firings", "time", whole}};
  TimeNs rest = 0;
  uint64_t rest_firings = 0;
  for (size_t i = 0; i < summary.path.size(); ++i) {
    const TraceSummary::Share& share = summary.path[i];
    if (i >= kMaxShares) {
      rest += share.ns;
      rest_firings += share.firings;
      continue;
    }
    rows.push_back({Named(share.action, share.location),
                    absl::StrCat(share.firings), Time(share.ns),
                    Percent(share.ns, wall)});
  }
  if (summary.path.size() > kMaxShares) {
    rows.push_back({absl::StrCat(summary.path.size() - kMaxShares, " more"),
                    absl::StrCat(rest_firings), Time(rest),
                    Percent(rest, wall)});
  }
  rows.push_back({"between them", "", Time(summary.path_between_ns),
                  Percent(summary.path_between_ns, wall)});
  absl::StrAppend(&text, "\n", TableText(rows));
  if (!summary.waits.empty()) absl::StrAppend(&text, "\nlongest waits:\n");
  for (const TraceSummary::Wait& wait : summary.waits) {
    absl::StrAppend(&text, WaitText(wait));
  }
  return text;
}

nlohmann::ordered_json SummaryJson(const TraceSummary& summary) {
  using Json = nlohmann::ordered_json;
  const TimeNs wall = summary.wall_ns();
  Json json = {{"wall_ns", wall}, {"events_dropped", summary.events_dropped}};
  json["devices"] = Json::array();
  for (const TraceSummary::Device& device : summary.devices) {
    json["devices"].push_back(
        {{"name", device.name},
         {"busy_ns", device.busy_ns},
         {"waiting_ns", device.waiting_ns},
         {"utilization", Fraction(device.busy_ns, wall)}});
  }
  json["critical_path"] = Json::array();
  for (const TraceSummary::Share& share : summary.path) {
    json["critical_path"].push_back({{"program", share.program},
                                     {"action", share.action},
                                     {"location", share.location},
                                     {"firings", share.firings},
                                     {"ns", share.ns},
                                     {"share", Fraction(share.ns, wall)}});
  }
  json["between_ns"] = summary.path_between_ns;
  json["longest_waits"] = Json::array();
  for (const TraceSummary::Wait& wait : summary.waits) {
    Json one = {{"kind", wait.kind}, {"program", wait.program}};
    if (!wait.is_collective) {
      one["edge"] = wait.edge;
      one["from"] = wait.from;
      one["from_location"] = wait.from_location;
    }
    one["to"] = wait.to;
    one["to_location"] = wait.to_location;
    one["device"] = wait.device;
    one["firing"] = wait.firing;
    one["ns"] = wait.ns;
    one["count"] = wait.count;
    one["total_ns"] = wait.total_ns;
    json["longest_waits"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string StatsTable(const proto::Plan& plan, const ClusterStats& stats,
                       const std::optional<TraceSummary>& summary,
                       const RunFacts& facts) {
  ClusterStats::Device most;
  uint64_t gangs = 0, kernels = 0, fed = 0, fetched = 0, moved = 0;
  for (const ClusterStats::Device& device : stats.devices) {
    gangs += device.gangs_run;
    kernels += device.kernels_run;
    fed += device.fed_bytes;
    fetched += device.fetched_bytes;
    moved += device.moved_bytes;
    if (most.name.empty() || device.peak_bytes > most.peak_bytes) most = device;
  }
  uint64_t sent = 0, bytes = 0, copies = 0, shards = 0;
  for (const ClusterStats::Host& host : stats.hosts) {
    sent += host.messages_sent;
    bytes += host.bytes_sent;
    copies += host.duplicates_dropped;
    shards += host.own_shards;
    moved += host.placed_bytes;
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
  add("bytes copied by feeds", fed);
  add("bytes copied by movements", moved);
  add("bytes copied by fetches", fetched);
  add("messages between hosts", sent);
  add("bytes between hosts", bytes);
  if (copies > 0) add("second copies dropped", copies);
  for (const auto& [kind, count] : stats.messages) {
    if (count > 0) add(absl::StrCat("messages: ", kind), count);
  }
  add("messages to the controller", stats.controller_messages);
  add("bytes to the controller", stats.controller_bytes);
  if (stats.processes.size() > 1) {
    add("plan bytes between processes", stats.plan_bytes_received);
  }
  add(absl::StrCat("peak device bytes (", most.name, ")"), most.peak_bytes);
  if (facts.simulated) {
    add("events", stats.events);
    add("virtual time in ns", stats.now_ns);
  }
  const std::string text =
      absl::StrCat(TableText(rows), ProcessesText(stats), "\n",
                   Time(TimesOf(stats, facts).step()), " a step, ",
                   Time(facts.launch_ns), " from the launch to its end\n\n");
  if (!summary.has_value()) {
    return absl::StrCat(text, "no times of devices: ", kUntraced, "\n");
  }
  return absl::StrCat(text, DevicesText(stats, facts), SummaryText(*summary));
}

std::string CostsText(const ClusterStats& stats, const TraceSummary& summary,
                      const RunFacts& facts) {
  const RunTimes times = TimesOf(stats, facts);
  const TimeNs wall = times.wall, all = wall * times.devices;
  TimeNs waiting = 0, most = 0, least = times.devices == 0 ? 0 : wall;
  for (const ClusterStats::Device& device : stats.devices) {
    if (device.busy_ns == 0 && device.waiting_ns == 0) continue;
    least = std::min(least, device.busy_ns);
    most = std::max(most, device.busy_ns);
    waiting += device.waiting_ns;
  }
  std::vector<std::vector<std::string>> rows = {{"costs", "value"}};
  rows.push_back({"step time", Time(times.step())});
  rows.push_back({"period", Time(times.period)});
  rows.push_back({"steps", absl::StrCat(facts.steps)});
  rows.push_back({"devices that do something", absl::StrCat(times.devices)});
  rows.push_back({"utilization", absl::StrCat(Percent(times.busy, all), ", ",
                                              Percent(least, wall), " to ",
                                              Percent(most, wall))});
  rows.push_back({"bubbles", Percent(all - times.busy, all)});
  rows.push_back({"of them at the head of a queue", Percent(waiting, all)});
  uint64_t sent = 0, bytes = 0;
  for (const ClusterStats::Host& host : stats.hosts) {
    sent += host.messages_sent;
    bytes += host.bytes_sent;
  }
  rows.push_back({"messages between hosts", absl::StrCat(sent)});
  rows.push_back({"bytes between hosts", absl::StrCat(bytes)});
  rows.push_back({"events", absl::StrCat(stats.events)});
  std::string text = absl::StrCat(
      TableText(rows), "\n", DevicesText(stats, facts), SummaryText(summary));
  if (summary.gaps.empty()) return text;
  // Like the critical path, this covers the part that the trace has kept.
  const TimeNs kept = summary.wall_ns();
  rows = {{"links on the critical path", "times", "time",
           absl::StrCat(summary.events_dropped > 0 ? "of the last " : "of ",
                        Time(kept))}};
  for (size_t i = 0; i < summary.gaps.size() && i < kMaxShares; ++i) {
    const TraceSummary::Gap& gap = summary.gaps[i];
    rows.push_back({absl::StrCat("'", gap.from, "' to '", gap.to, "'"),
                    absl::StrCat(gap.count), Time(gap.ns),
                    Percent(gap.ns, kept)});
  }
  return absl::StrCat(text, "\n", TableText(rows));
}

std::string StatsJson(const proto::Plan& plan, const ClusterStats& stats,
                      const std::optional<TraceSummary>& summary,
                      const RunFacts& facts) {
  // Keeps the order in which keys are added.
  using Json = nlohmann::ordered_json;
  Json json;
  json["plan"] = {
      {"program", plan.header().program()}, {"slices", plan.slices_size()},
      {"layouts", plan.layouts_size()},     {"kernels", plan.kernels_size()},
      {"buffers", plan.buffers_size()},     {"actions", plan.actions_size()},
      {"edges", plan.edges_size()},         {"bytes", facts.plan_bytes}};
  json["run"] = {{"steps", facts.steps},
                 {"firings", stats.firings},
                 {"controller_messages", stats.controller_messages},
                 {"controller_bytes", stats.controller_bytes}};
  if (facts.simulated) {
    json["run"]["events"] = stats.events;
    // Text, since many readers take JSON numbers as doubles.
    json["run"]["event_hash"] = absl::StrFormat("%016x", stats.event_hash);
    json["run"]["virtual_ns"] = stats.now_ns;
  }
  const RunTimes times = TimesOf(stats, facts);
  json["costs"] = {{"step_ns", times.step()},
                   {"period_ns", nullptr},
                   {"bubble", nullptr},
                   {"period_bubble", nullptr},
                   {"launch_ns", facts.launch_ns},
                   {"devices", Json::array()}};
  if (times.period > 0) {
    json["costs"]["period_ns"] = times.period;
    json["costs"]["bubble"] = times.Bubble(times.step());
    json["costs"]["period_bubble"] = times.Bubble(times.period);
  }
  for (const ClusterStats::Device& device : stats.devices) {
    Json one = {
        {"name", device.name}, {"busy_ns", nullptr}, {"wait_ns", nullptr}};
    if (summary.has_value()) {
      one["busy_ns"] = device.busy_ns;
      one["wait_ns"] = device.waiting_ns;
    }
    one["peak_bytes"] = device.peak_bytes;
    json["costs"]["devices"].push_back(std::move(one));
  }
  json["messages"] = Json::object();
  for (const auto& [kind, count] : stats.messages) {
    json["messages"][kind] = count;
  }
  json["hosts"] = Json::array();
  for (const ClusterStats::Host& host : stats.hosts) {
    json["hosts"].push_back({{"name", host.name},
                             {"own_shards", host.own_shards},
                             {"action_shards", host.action_shards},
                             {"queue_entries", host.queue_entries},
                             {"edge_entries", host.edge_entries},
                             {"messages_sent", host.messages_sent},
                             {"bytes_sent", host.bytes_sent},
                             {"duplicates_dropped", host.duplicates_dropped},
                             {"placed_bytes", host.placed_bytes},
                             {"spilled_bytes", host.spilled_bytes}});
  }
  json["devices"] = Json::array();
  for (const ClusterStats::Device& device : stats.devices) {
    json["devices"].push_back({{"name", device.name},
                               {"memory_bytes", device.memory_bytes},
                               {"peak_bytes", device.peak_bytes},
                               {"gangs_run", device.gangs_run},
                               {"kernels_run", device.kernels_run},
                               {"fed_bytes", device.fed_bytes},
                               {"moved_bytes", device.moved_bytes},
                               {"fetched_bytes", device.fetched_bytes}});
  }
  json["processes"] = Json::array();
  for (const ClusterStats::Process& process : stats.processes) {
    json["processes"].push_back(
        {{"process", process.process},
         {"hosts", process.hosts},
         {"messages_sent", process.links.messages_sent},
         {"frames_sent", process.links.frames_sent},
         {"bytes_sent", process.links.bytes_sent},
         {"messages_received", process.links.messages_received},
         {"frames_received", process.links.frames_received},
         {"bytes_received", process.links.bytes_received},
         {"unlinked", process.links.unlinked},
         {"foreign", process.links.foreign},
         {"plan_bytes_sent", process.plan_bytes_sent},
         {"plan_bytes_received", process.plan_bytes_received}});
  }
  json["time"] = summary.has_value() ? SummaryJson(*summary) : Json();
  // Names may have any bytes.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pathways::pw_run
