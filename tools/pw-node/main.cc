//===- main.cc - A process of a cluster -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `pw-node controller` brings a cluster together, `pw-node worker` runs hosts
// of one, `pw-node status` prints its state, and `pw-node drain` and `pw-node
// undrain` take parts out of it and back in. None of them needs the compiler:
// programs arrive as plans.
//
//===----------------------------------------------------------------------===//

#include <linux/close_range.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/node/child_processes.h"
#include "runtime/scheduler/policy.h"
#include "tools/flags/flag_table.h"
#include "tools/pw-node/commands.h"
#include "tools/pw-node/rank.h"

namespace pathways::pw_node {
namespace {

// Exit codes of the process; part of the tool's interface, see --help.
enum ExitCode { kSuccess = 0, kUsageError = 2, kRunError = 5 };

constexpr char kFooter[] =
    "ADDRESS is HOST:PORT, unix:/PATH or unix:@NAME; HOST:PORT needs --key, a "
    "file with the cluster's key (openssl rand -hex 32), which all processes "
    "of the cluster have.\n"
    "Exit status: 0 it was stopped by a signal, or the cluster has ended; 2 "
    "wrong options; 5 it could not be part of the cluster.";

using flags::CommandLine;
using flags::Duration;
using flags::Flag;
using flags::OptionalText;
using flags::Switch;
using flags::Text;
using flags::Texts;
using flags::Whole;

Duration AtLeast10Ms(std::variant<int64_t*, absl::Duration*> to,
                     bool has_default = true) {
  return {to, absl::Milliseconds(10), absl::Hours(24 * 365),
          "from 10ms to one year, such as 500ms or 2m", has_default};
}

Flag ConnectFlag(std::string* address) {
  return {.name = "--connect",
          .type = "ADDRESS",
          .help = "Address of the controller",
          .to = Text{address},
          .environment = "PATHWAYS_CONTROLLER",
          .is_required = true};
}

// Returns `flags` and those that every command has which opens a connection.
std::vector<Flag> WithLinkFlags(std::vector<Flag> flags, LinkOptions* links) {
  flags.push_back(
      {.name = "--key",
       .type = "FILE",
       .help =
           "File with the cluster's key, which only you may be able to read",
       .to = Text{&links->key_file},
       .environment = "PATHWAYS_KEY"});
  flags.push_back({"--trust-loopback", "",
                   "Use HOST:PORT on loopback without a key: every process of "
                   "this machine is trusted",
                   Switch{&links->trust_loopback}});
  return flags;
}

Flag ChaosFlag(LinkOptions* links) {
  return {"--chaos", "FAULTS",
          "Treat what this process sends as a bad network would: "
          "delay=0.3,duplicate=0.1,...; docs/clusters.md lists all",
          Text{&links->chaos}};
}

std::vector<Flag> ControllerFlags(ControllerCommand* controller) {
  ClusterOptions& cluster = controller->cluster;
  CoordinatorOptions& coordinator = controller->coordinator;
  std::vector<Flag> flags = {
      {.name = "--topology",
       .type = "SPEC",
       .help = "ISLANDSxHOSTSxDEVICES, or a .textproto file",
       .to = Text{&controller->topology},
       .is_required = true},
      {.name = "--listen",
       .type = "ADDRESS",
       .help = "Address at which workers and clients reach the controller; "
               "port 0: any free port",
       .to = Text{&controller->listen},
       .is_required = true},
      {"--write-address", "FILE",
       "Write the address to this file, for --connect, once the controller "
       "listens there",
       Text{&controller->write_address}},
      {"--metrics", "HOST:PORT",
       "Serve metrics for Prometheus at http://HOST:PORT/metrics, without a "
       "key",
       Text{&controller->metrics}},
      {.name = "--min-hosts",
       .type = "N",
       .help = "Begin when this many hosts of the topology have joined; the "
               "others may join later; default: all",
       .to = Whole<int>{&coordinator.min_hosts, 1, INT32_MAX},
       .shows_default = false},
      {"--slow-after", "DURATION", "Silence after which a process is slow",
       AtLeast10Ms(&coordinator.liveness.slow)},
      {"--lost-after", "DURATION", "Silence after which a process is lost",
       AtLeast10Ms(&coordinator.liveness.lost)},
      {"--stall-timeout", "DURATION",
       "Time without progress after which a run is stalled",
       AtLeast10Ms(&cluster.stall_timeout_ns)},
      {"--policy", "NAME",
       "Order of clients that want the same devices: priority, then fair "
       "shares by weight; fair; fifo; deadline",
       Text{&cluster.policy,
            {std::begin(kPolicyNames), std::end(kPolicyNames)}}},
      {"--kernel-timeout", "DURATION",
       "End a run with a kernel that takes longer, and restart its worker; "
       "default: no limit",
       AtLeast10Ms(&cluster.kernel_timeout_ns, /*has_default=*/false)},
      {"--trace-events", "N",
       "Keep the last N events of each thread, for --trace and for times in "
       "--stats of clients; 0: none",
       Whole<int64_t>{&cluster.trace_events, 0, int64_t{1} << 28}},
      {"--spill", "FOLDER",
       "Existing folder on each worker's machine, for arrays that no program "
       "uses when the memory of a host is full",
       Text{&cluster.spill.folder}},
      {"--spill-bytes", "BYTES",
       "Limit for the bytes of each host in that folder; 0: eight times the "
       "host's memory",
       Whole<uint64_t>{&cluster.spill.bytes, 0, int64_t{1} << 62}},
      {"--workers", "N",
       "Threads of each process with hosts; 0: one for each core",
       Whole<int>{&cluster.workers, 0, ThreadOptions::kMaxWorkers}},
      ChaosFlag(&controller->links),
  };
  return WithLinkFlags(std::move(flags), &controller->links);
}

std::vector<Flag> WorkerFlags(WorkerCommand* worker, std::string* any_host_of) {
  std::vector<Flag> flags = {
      ConnectFlag(&worker->member.connect),
      {"--listen", "ADDRESS",
       "Address at which other processes reach this worker; may be repeated: "
       "workers use the first one, clients the first that is not "
       "ucx:HOST:PORT, which needs UCX; default for clients: a free port",
       Texts{&worker->member.listen}},
      {.name = "--host",
       .type = "NAME",
       .help = "A host of the cluster, by name; may be repeated; %r is the "
               "rank that mpirun, srun or a Kubernetes Job has set",
       .to = Texts{&worker->member.hosts},
       .environment = "PATHWAYS_HOST"},
      {.name = "--any-host",
       .type = "[ISLAND]",
       .help = "Take the first host without a worker, of the cluster or of an "
               "island; wait as a spare while there is none",
       .to = OptionalText{any_host_of},
       .excludes = "--host"},
      {"--ucx", "NAME",
       "What UCX uses: shm, where both processes are on one machine, or tcp",
       Text{&worker->links.ucx}},
      {"--wait", "DURATION",
       "How long the controller may be unreachable, at the start or after it "
       "was lost",
       AtLeast10Ms(&worker->member.patience)},
      {.name = "--end-with-parent",
       .type = "",
       .help = "Exit when the pipe at file descriptor 3 is closed",
       .to = Switch{&worker->ends_with_controller},
       .is_hidden = true},
      ChaosFlag(&worker->links),
  };
  return WithLinkFlags(std::move(flags), &worker->links);
}

std::vector<Flag> StatusFlags(StatusCommand* status) {
  return WithLinkFlags(
      {ConnectFlag(&status->connect.address),
       {"--json", "", "Print one line of JSON (runtime/proto/status.proto)",
        Switch{&status->json}},
       {"--watch", "", "Repeat until stopped", Switch{&status->watch}},
       {"--interval", "DURATION", "Time between two reports of --watch",
        AtLeast10Ms(&status->interval)}},
      &status->connect.links);
}

std::vector<Flag> UndrainFlags(DrainCommand* drain) {
  return WithLinkFlags(
      {{.name = "NAMES",
        .type = "",
        .help = "Islands, hosts or devices, named as in messages: island1, "
                "host2, island0/host2/device1",
        .to = Texts{&drain->names},
        .is_required = true},
       ConnectFlag(&drain->connect.address)},
      &drain->connect.links);
}

std::vector<Flag> DrainFlags(DrainCommand* drain) {
  std::vector<Flag> flags = UndrainFlags(drain);
  flags.push_back({"--wait", "DURATION",
                   "Longest wait for programs to leave; the devices stay "
                   "drained after it; default: no limit",
                   AtLeast10Ms(&drain->wait, /*has_default=*/false)});
  return flags;
}

absl::Status FillRanks(std::vector<std::string>* hosts) {
  for (std::string& host : *hosts) {
    absl::StatusOr<std::string> filled =
        FillRank(host, [](const char* name) { return std::getenv(name); });
    if (!filled.ok()) return filled.status();
    host = *std::move(filled);
  }
  return absl::OkStatus();
}

// Prints the error, if there is one, and returns the exit status.
int Report(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  std::fprintf(stderr, "pw-node: error: %s\n",
               std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status) ||
                 absl::IsNotFound(status)
             ? kUsageError
             : kRunError;
}

// Starts this program again in the same process. The next one inherits only
// arguments, standard streams and, if it ends with its parent, the descriptor
// that reports the parent's end.
absl::Status StartAgain(char** argv, bool ends_with_parent) {
  close_range(ends_with_parent ? kParentFd + 1 : STDERR_FILENO + 1, UINT_MAX,
              CLOSE_RANGE_CLOEXEC);
  execv("/proc/self/exe", argv);
  return absl::ErrnoToStatus(errno, "the worker cannot restart");
}

int BeController(ControllerCommand command) {
  // Its thread, and all threads that it starts, have signals blocked.
  auto* stopper = new Stopper;
  stopper->CatchSignals();
  return Report(RunController(std::move(command), stopper));
}

int BeWorker(WorkerCommand command, char** argv) {
  if (absl::Status status = FillRanks(&command.member.hosts); !status.ok()) {
    return Report(status);
  }
  auto* stopper = new Stopper;
  stopper->CatchSignals();
  const bool ends = command.ends_with_controller;
  if (ends) EndWithParent();
  command.start_again = [argv, ends] { return StartAgain(argv, ends); };
  const absl::Status status = RunWorker(std::move(command), stopper);
  // A parent that is gone, or gave up, needs no message about it.
  return ends && absl::IsCancelled(status) ? kSuccess : Report(status);
}

int Main(int argc, char** argv) {
  CommandLine line("pw-node", "pw-node (Pathways) " PATHWAYS_VERSION,
                   "A process of a Pathways cluster.", kFooter);
  ControllerCommand controller;
  WorkerCommand worker;
  worker.member.patience = absl::Seconds(60);
  worker.links.ucx = "shm";
  std::string any_host_of;
  StatusCommand status;
  DrainCommand drain;
  line.AddCommand("controller",
                  "Run the controller of a cluster until it is stopped",
                  ControllerFlags(&controller));
  line.AddCommand("worker", "Run hosts of a cluster until the cluster ends",
                  WorkerFlags(&worker, &any_host_of));
  line.AddCommand("status",
                  "Print the hosts, clients and programs of a cluster",
                  StatusFlags(&status));
  line.AddCommand("drain",
                  "Load no more programs on islands, hosts or devices, and "
                  "wait until they are empty",
                  DrainFlags(&drain));
  line.AddCommand("undrain", "Allow programs to be loaded there again",
                  UndrainFlags(&drain));
  const absl::StatusOr<std::string> print = line.Parse(argc, argv);
  if (!print.ok()) return Report(print.status());
  if (!print->empty()) {
    std::fputs(print->c_str(), stdout);
    return kSuccess;
  }
  if (line.command() == "controller") {
    return BeController(std::move(controller));
  }
  if (line.command() == "status") return Report(RunStatus(status));
  if (line.command() != "worker") {
    drain.undo = line.command() == "undrain";
    return Report(RunDrain(drain));
  }
  if (line.IsGiven("--any-host")) {
    worker.member.any_host_of = any_host_of;
  } else if (!line.IsGiven("--host")) {
    return Report(
        absl::InvalidArgumentError("--host or --any-host is required"));
  }
  return BeWorker(std::move(worker), argv);
}

}  // namespace
}  // namespace pathways::pw_node

int main(int argc, char** argv) { return pathways::pw_node::Main(argc, argv); }
