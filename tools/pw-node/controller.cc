//===- controller.cc - The controller of a cluster ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/steady_time.h"
#include "runtime/base/temporary_file.h"
#include "runtime/node/host_options.h"
#include "runtime/node/metrics.h"
#include "runtime/node/process.h"
#include "runtime/transport/socket/http_text_server.h"
#include "tools/pw-node/commands.h"
#include "tools/pw-node/note.h"

namespace pathways::pw_node {
namespace {

// Writes the file atomically, since other processes wait for it.
absl::Status WriteAddress(const std::string& address, const std::string& path) {
  TemporaryFile file;
  int error = file.Create(path + ".", ".tmp", 0666);
  if (error == 0) error = WriteAll(file.fd(), address + "\n");
  if (error == 0) error = file.Commit(path);
  if (error == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--write-address: cannot write '", path,
                   "': ", std::generic_category().message(error)));
}

// Brings the cluster together and serves it.
absl::Status Serve(const ControllerCommand& command, const Topology& topology,
                   Process* process) {
  Coordinator coordinator(&topology, process, command.coordinator);
  absl::StatusOr<std::vector<proto::Member>> members =
      coordinator.AwaitHosts(SteadyTime::Never());
  if (!members.ok()) return members.status();
  absl::Status status =
      process->Start(kControllerProcess, coordinator.ClusterHere(),
                     command.cluster, *std::move(members));
  if (status.ok()) {
    status =
        coordinator.Begin(ToHostOptions(command.cluster), SteadyTime::Never());
  }
  // Declared last, so it is destroyed before the cluster.
  std::unique_ptr<TextPage> page;
  if (status.ok() && !command.metrics.empty()) {
    auto served = TextPage::Serve(command.metrics, "/metrics", [&] {
      const absl::StatusOr<proto::ControllerStatus> now =
          process->cluster().Describe(absl::Seconds(2));
      return now.ok() ? MetricsText(*now, topology)
                      : absl::StrCat("# ", now.status().message(), "\n");
    });
    if (!served.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--metrics: ", served.status().message()));
    }
    page = *std::move(served);
    Note(absl::StrCat("metrics on http://", page->address(), "/metrics"));
  }
  return status.ok() ? coordinator.Serve() : status;
}

}  // namespace

absl::Status RunController(ControllerCommand command, Stopper* stopper) {
  absl::StatusOr<Topology> topology = Topology::Read(command.topology);
  if (!topology.ok()) return topology.status();
  command.links.refused = [](absl::string_view from, const absl::Status& why) {
    Note(absl::StrCat("refused ", from, ": ", why.message()));
  };
  command.coordinator.on_note = Note;
  absl::StatusOr<TransportFactory> links = MakeLinks(command.links);
  if (!links.ok()) return links.status();
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Create(*links);
  if (!process.ok()) return process.status();
  absl::StatusOr<std::string> address =
      (*process)->transport().Listen(MakeNodeAddress(command.listen));
  if (!address.ok()) return address.status();
  Note(absl::StrCat("listening on ", *address, ", for ", topology->num_hosts(),
                    topology->num_hosts() == 1 ? " host" : " hosts"));
  if (!command.write_address.empty()) {
    absl::Status written = WriteAddress(*address, command.write_address);
    if (!written.ok()) return written;
  }
  stopper->Set([&inbox = (*process)->inbox()] {
    inbox.Fail(absl::AbortedError("the controller was stopped"));
  });
  absl::Status status = Serve(command, *topology, process->get());
  stopper->Set(nullptr);
  (*process)->Stop();
  return absl::IsAborted(status) ? absl::OkStatus() : status;
}

}  // namespace pathways::pw_node
