//===- cluster_status.cc - Status of a running cluster --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/cluster_status.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/process.h"
#include "runtime/node/refusal.h"

namespace pathways {
namespace {

// Formats columns that are as wide as their widest cell.
std::string TableText(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : "  ", row[i]);
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size(), ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace

absl::StatusOr<proto::ClusterStatus> AskStatus(const ConnectOptions& options) {
  absl::StatusOr<TransportFactory> links = MakeLinks(options.links);
  if (!links.ok()) return links.status();
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Create(*links);
  if (!process.ok()) return process.status();
  const SteadyTime until = SteadyTime::Now() + options.timeout;
  absl::StatusOr<PeerId> controller = (*process)->links().Dial(
      MakeNodeAddress(options.address), options.timeout);
  if (!controller.ok()) {
    return NobodyThere(options.address, controller.status());
  }
  proto::Membership message;
  message.mutable_status_request();
  (*process)->Send(*controller, message);
  while (true) {
    absl::StatusOr<std::optional<MembershipEvent>> next =
        (*process)->inbox().Next(until);
    if (!next.ok()) return next.status();
    if (!next->has_value()) {
      return absl::DeadlineExceededError(absl::StrCat(
          "the controller at '", options.address, "' did not answer within ",
          absl::FormatDuration(options.timeout)));
    }
    MembershipEvent& event = **next;
    if (event.what == MembershipEvent::kGone) {
      return Coded(ErrorId::kControllerGone,
                   absl::UnavailableError(
                       absl::StrCat("the controller at '", options.address,
                                    "' is gone: ", event.why.message())));
    }
    if (event.said.has_refusal()) {
      return ReadRefusalOfController(event.said.refusal());
    }
    if (event.said.has_status()) return std::move(*event.said.mutable_status());
  }
}

std::string StatusText(const proto::ClusterStatus& status) {
  std::vector<std::vector<std::string>> processes = {
      {"PROCESS", "HOSTS", "STATE", "SILENT", "LIFE", "EPOCH", "ADDRESS"}};
  std::vector<std::vector<std::string>> hosts = {
      {"HOST", "MEMORY USED", "SPILLED"}};
  for (const proto::ProcessStatus& process : status.processes()) {
    std::vector<std::string> names;
    for (const proto::HostStatus& host : process.hosts()) {
      names.push_back(host.name());
      hosts.push_back({host.name(), absl::StrCat(host.used_bytes()),
                       absl::StrCat(host.spilled_bytes())});
    }
    processes.push_back(
        {absl::StrCat(process.process()),
         names.empty() ? "(clients)" : absl::StrJoin(names, ","),
         process.state(), absl::StrCat(process.silence_ms(), "ms"),
         names.empty() ? "-" : absl::StrCat(process.life()),
         process.epoch().substr(0, 8),
         process.addresses().empty()
             ? "-"
             : absl::StrJoin(process.addresses(), ",")});
  }
  std::string text = TableText(processes);
  if (status.spares() > 0) {
    absl::StrAppend(&text, status.spares(), " spare ",
                    status.spares() == 1 ? "worker" : "workers", "\n");
  }
  if (!status.missing_hosts().empty()) {
    absl::StrAppend(&text, "waiting for ",
                    absl::StrJoin(status.missing_hosts(), ", "), "\n");
    return text;
  }
  const proto::ControllerStatus& controller = status.controller();
  std::vector<std::vector<std::string>> clients = {
      {"CLIENT", "PROCESS", "PROGRAMS", "ARRAYS", "BYTES", "WEIGHT", "PRIORITY",
       "QUOTA", "LAUNCHES", "WAITING", "DEVICE SECONDS"}};
  for (const proto::ClientStatus& client : controller.clients()) {
    clients.push_back(
        {client.name(), absl::StrCat(client.process()),
         absl::StrCat(client.programs()), absl::StrCat(client.arrays()),
         absl::StrCat(client.array_bytes()), absl::StrCat(client.weight()),
         absl::StrCat(client.priority()),
         client.quota_bytes() == 0 ? "-" : absl::StrCat(client.quota_bytes()),
         absl::StrCat(client.launches()), absl::StrCat(client.waiting()),
         absl::StrFormat("%.3f",
                         static_cast<double>(client.device_time_ns()) / 1e9)});
  }
  std::vector<std::vector<std::string>> programs = {
      {"PROGRAM", "CLIENT", "STATE", "LAUNCHES", "DEVICE BYTES"}};
  for (const proto::ProgramStatus& program : controller.programs()) {
    programs.push_back({program.name(),
                        program.client().empty() ? "-" : program.client(),
                        program.state(), absl::StrCat(program.launches()),
                        absl::StrCat(program.device_bytes())});
  }
  std::vector<std::vector<std::string>> slices = {
      {"SLICE", "CLIENT", "DEVICES", "DEVICE BYTES", "OF PROGRAMS"}};
  for (const proto::SliceStatus& slice : controller.slices()) {
    slices.push_back(
        {slice.name(), slice.client(), absl::StrCat(slice.devices()),
         absl::StrCat(slice.device_bytes()), absl::StrCat(slice.lent_bytes())});
  }
  std::vector<std::vector<std::string>> away = {{"AWAY", "DEVICES", "WHY"}};
  for (const proto::AwayStatus& one : controller.away()) {
    away.push_back({one.name(), absl::StrCat(one.devices()), one.why()});
  }
  absl::StrAppend(&text, "\n", TableText(hosts));
  if (away.size() > 1) absl::StrAppend(&text, "\n", TableText(away));
  if (clients.size() > 1) absl::StrAppend(&text, "\n", TableText(clients));
  if (programs.size() > 1) absl::StrAppend(&text, "\n", TableText(programs));
  if (slices.size() > 1) absl::StrAppend(&text, "\n", TableText(slices));
  for (const proto::WaitingLoad& load : controller.waiting_loads()) {
    absl::StrAppend(&text, "\nclient '", load.client(), "' has waited for ",
                    load.since_ms(), "ms: ", load.why(), "\n");
  }
  absl::StrAppend(&text, "\n", controller.launches(), " launches open, ",
                  controller.steps(), " steps done, ", controller.messages(),
                  " messages of ", controller.message_bytes(),
                  " bytes to the controller\n");
  return text;
}

std::string StatusJson(const proto::ClusterStatus& status) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // A message without Any cannot fail.
  (void)google::protobuf::util::MessageToJsonString(status, &text, options);
  return absl::StrCat(text, "\n");
}

}  // namespace pathways
