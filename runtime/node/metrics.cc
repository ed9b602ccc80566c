//===- metrics.cc - Figures of a controller for Prometheus ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/metrics.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace pathways {
namespace {

// Returns a label value in quotes.
std::string Quoted(const std::string& text) {
  return absl::StrCat(
      "\"",
      absl::StrReplaceAll(text,
                          {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
      "\"");
}

class Writer {
 public:
  // Begins a figure; `kind` is counter or gauge.
  void Begin(const char* name, const char* kind, const char* help) {
    name_ = absl::StrCat("pathways_", name);
    absl::StrAppend(&text_, "# HELP ", name_, " ", help, "\n# TYPE ", name_,
                    " ", kind, "\n");
  }
  template <typename T>
  void Add(T value,
           std::initializer_list<std::pair<const char*, std::string>> labels) {
    std::string of;
    for (const auto& [label, text] : labels) {
      absl::StrAppend(&of, of.empty() ? "{" : ",", label, "=", Quoted(text));
    }
    absl::StrAppend(&text_, name_, of, of.empty() ? " " : "} ", value, "\n");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string name_, text_;
};

}  // namespace

std::string MetricsText(const proto::ControllerStatus& status,
                        const Topology& topology) {
  Writer out;
  auto of_controller = [&](const char* name, const char* kind, const char* help,
                           uint64_t value) {
    out.Begin(name, kind, help);
    out.Add(value, {});
  };
  of_controller("messages_total", "counter",
                "Messages that the controller received.", status.messages());
  of_controller("message_bytes_total", "counter",
                "Bytes of messages that the controller received.",
                status.message_bytes());
  of_controller("steps_total", "counter", "Steps of launches that have ended.",
                status.steps());
  of_controller("launches", "gauge", "Launches that have not ended.",
                status.launches());
  of_controller("waiting_loads", "gauge", "Loads that wait for memory.",
                static_cast<uint64_t>(status.waiting_loads_size()));
  out.Begin("host_used_bytes", "gauge",
            "Bytes of a host that programs and arrays have.");
  for (int h = 0; h < status.host_bytes_size(); ++h) {
    out.Add(status.host_bytes(h), {{"host", topology.HostName(h)}});
  }
  out.Begin("host_spilled_bytes", "gauge",
            "Bytes of arrays that are in files of the host's spill folder.");
  for (int h = 0; h < status.host_spilled_bytes_size(); ++h) {
    out.Add(status.host_spilled_bytes(h), {{"host", topology.HostName(h)}});
  }
  out.Begin("away_devices", "gauge",
            "Devices on which no program can be loaded now, and why.");
  for (const proto::AwayStatus& away : status.away()) {
    out.Add(static_cast<double>(away.devices()),
            {{"name", away.name()}, {"why", away.why()}});
  }
  auto of_clients =
      [&](const char* name, const char* kind, const char* help,
          const std::function<double(const proto::ClientStatus&)>& value) {
        out.Begin(name, kind, help);
        for (const proto::ClientStatus& client : status.clients()) {
          out.Add(value(client), {{"client", client.name()}});
        }
      };
  using Client = proto::ClientStatus;
  of_clients(
      "client_device_seconds_total", "counter",
      "Device time of the client's programs, summed over all device groups.",
      [](const Client& c) { return double(c.device_time_ns()) / 1e9; });
  of_clients("client_weight", "gauge",
             "Weight of the client's share of device time.",
             [](const Client& c) { return c.weight(); });
  of_clients("client_priority", "gauge", "Priority of the client.",
             [](const Client& c) { return c.priority(); });
  of_clients("client_launches", "gauge",
             "Launches of the client that have not ended.",
             [](const Client& c) { return double(c.launches()); });
  of_clients("client_waiting_programs", "gauge",
             "Programs of the client that wait for devices.",
             [](const Client& c) { return double(c.waiting()); });
  of_clients("client_device_bytes", "gauge",
             "Device memory of the client's programs.",
             [](const Client& c) { return double(c.device_bytes()); });
  of_clients("client_array_bytes", "gauge",
             "Host memory of the client's arrays.",
             [](const Client& c) { return double(c.array_bytes()); });
  of_clients("client_quota_bytes", "gauge",
             "Memory quota of the client; 0: no limit.",
             [](const Client& c) { return double(c.quota_bytes()); });
  out.Begin("load_wait_seconds", "gauge",
            "How long a load has waited for memory, and why.");
  for (const proto::WaitingLoad& load : status.waiting_loads()) {
    out.Add(double(load.since_ms()) / 1e3, {{"client", load.client()},
                                            {"program", load.program()},
                                            {"why", load.why()}});
  }
  return out.Take();
}

}  // namespace pathways
