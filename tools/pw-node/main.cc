//===- main.cc - A process of a cluster -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `pw-node controller` brings a cluster together, `pw-node worker` is hosts of
// one, `pw-node status` says how it is, `pw-node drain` takes parts out of it
// and `pw-node undrain` takes them in again. None knows of the compiler: what
// runs comes as plans.
//
//===----------------------------------------------------------------------===//

#include <linux/close_range.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "runtime/node/child_processes.h"
#include "tools/pw-node/commands.h"
#include "tools/pw-node/rank.h"

namespace pathways::pw_node {
namespace {

// What the process returns; part of the tool's interface, see --help.
enum ExitCode { kSuccess = 0, kUsageError = 2, kRunError = 5 };

constexpr char kFooter[] =
    "ADDRESS is HOST:PORT, unix:/PATH or unix:@NAME; HOST:PORT needs --key, a "
    "file with the cluster's key (openssl rand -hex 32), which all processes "
    "of the cluster have.\n"
    "Exit status: 0 it was stopped by a signal, or the cluster has ended; 2 "
    "wrong options; 5 it could not be part of the cluster.";

void AddChaos(CLI::App* command, LinkOptions* links) {
  command
      ->add_option("--chaos", links->chaos,
                   "Do to what this process sends what a bad network would: "
                   "delay=0.3,duplicate=0.1,...; docs/clusters.md has all")
      ->type_name("FAULTS");
}

void AddLinkOptions(CLI::App* command, LinkOptions* links) {
  command
      ->add_option("--key", links->key_file,
                   "The cluster's key; nobody but you may read the file")
      ->type_name("FILE")
      ->envname("PATHWAYS_KEY");
  command->add_flag("--trust-loopback", links->trust_loopback,
                    "Use HOST:PORT on loopback without a key: every process of "
                    "this machine is a friend");
}

// Reads text when the options have been read.
struct DurationOption {
  std::string name, text;
  absl::Duration* value;
};

// Zero is no duration that can be given: there is none unless one is.
void AddDuration(CLI::App* command, const std::string& name,
                 const std::string& what, absl::Duration* value,
                 std::vector<DurationOption>* durations) {
  const bool is_some = *value != absl::ZeroDuration();
  durations->push_back(
      {name, is_some ? absl::FormatDuration(*value) : "", value});
  CLI::Option* option = command->add_option(name, durations->back().text, what)
                            ->type_name("DURATION");
  if (is_some) option->capture_default_str();
}

absl::Status ReadDurations(const std::vector<DurationOption>& durations) {
  for (const DurationOption& option : durations) {
    if (option.text.empty() && *option.value == absl::ZeroDuration()) continue;
    if (!absl::ParseDuration(option.text, option.value) ||
        *option.value < absl::Milliseconds(10) ||
        *option.value > absl::Hours(24 * 365)) {
      return absl::InvalidArgumentError(
          absl::StrCat(option.name,
                       ": expected a duration from 10ms to one year, such as "
                       "500ms or 2m, got '",
                       option.text, "'"));
    }
  }
  return absl::OkStatus();
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

// Tells what went wrong, if anything.
CLI::App* AddDrain(CLI::App* app, const char* name, const char* what,
                   DrainCommand* drain) {
  CLI::App* command = app->add_subcommand(name, what);
  command
      ->add_option("NAMES", drain->names,
                   "As messages call them: island1, host2, "
                   "island0/host2/device1")
      ->required();
  command
      ->add_option("--connect", drain->connect.address,
                   "Where the controller is")
      ->type_name("ADDRESS")
      ->envname("PATHWAYS_CONTROLLER")
      ->required();
  AddLinkOptions(command, &drain->connect.links);
  return command;
}

int Report(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  std::fprintf(stderr, "pw-node: error: %s\n",
               std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status) ||
                 absl::IsNotFound(status)
             ? kUsageError
             : kRunError;
}

// Nothing of this process is left to the next one but its arguments, standard
// streams and, if it is to end with its parent, what says so.
absl::Status StartAgain(char** argv, bool ends_with_parent) {
  close_range(ends_with_parent ? kParentFd + 1 : STDERR_FILENO + 1, UINT_MAX,
              CLOSE_RANGE_CLOEXEC);
  execv("/proc/self/exe", argv);
  return absl::ErrnoToStatus(errno, "the worker cannot start again");
}

int Main(int argc, char** argv) {
  CLI::App app("A process of a Pathways cluster.", "pw-node");
  app.footer(kFooter);
  app.set_version_flag("--version", "pw-node (Pathways) " PATHWAYS_VERSION,
                       "Print the version");
  app.require_subcommand(1);
  std::vector<DurationOption> durations;
  durations.reserve(9);

  ControllerCommand controller;
  CLI::App* be_controller = app.add_subcommand(
      "controller", "Be the controller of a cluster, until it is stopped");
  be_controller
      ->add_option("--topology", controller.topology,
                   "ISLANDSxHOSTSxDEVICES, or a .textproto file")
      ->required();
  be_controller
      ->add_option("--listen", controller.listen,
                   "Where workers and clients reach it; port 0: any")
      ->type_name("ADDRESS")
      ->required();
  be_controller
      ->add_option("--write-address", controller.write_address,
                   "Write where it listens, once it does, to be passed to "
                   "--connect")
      ->type_name("FILE");
  be_controller
      ->add_option("--metrics", controller.metrics,
                   "Serve figures for Prometheus at http://HOST:PORT/metrics, "
                   "to whoever can reach that")
      ->type_name("HOST:PORT");
  be_controller
      ->add_option("--min-hosts", controller.coordinator.min_hosts,
                   "Begin when so many hosts of the topology have come; the "
                   "others may come later; default: all")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  AddLinkOptions(be_controller, &controller.links);
  AddChaos(be_controller, &controller.links);
  absl::Duration stall = absl::Nanoseconds(controller.cluster.stall_timeout_ns);
  AddDuration(be_controller, "--slow-after",
              "Silence after which a process is slow",
              &controller.coordinator.liveness.slow, &durations);
  AddDuration(be_controller, "--lost-after",
              "Silence after which a process is lost",
              &controller.coordinator.liveness.lost, &durations);
  AddDuration(be_controller, "--stall-timeout",
              "Time without progress after which a run is stalled", &stall,
              &durations);
  be_controller
      ->add_option("--policy", controller.cluster.policy,
                   "Who of those that want the same devices is next: priority, "
                   "then fair shares by weight; fair; fifo; deadline")
      ->capture_default_str()
      ->check(CLI::IsMember({"priority", "fair", "fifo", "deadline"})
                  .description(""))
      ->type_name("NAME");
  absl::Duration kernel_timeout;
  AddDuration(be_controller, "--kernel-timeout",
              "End a run with a kernel that takes longer, and start its worker "
              "again; default: any may",
              &kernel_timeout, &durations);
  be_controller
      ->add_option("--trace-events", controller.cluster.trace_events,
                   "Keep the last N events of each thread for clients' --trace "
                   "and times in --stats; 0: none")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 28));
  be_controller
      ->add_option("--spill", controller.cluster.spill.folder,
                   "Folder, there on each machine of a worker, for arrays that "
                   "nobody uses right now when a host's memory runs out")
      ->type_name("FOLDER");
  be_controller
      ->add_option("--spill-bytes", controller.cluster.spill.bytes,
                   "Most bytes of each host in it; 0: eight times its memory")
      ->capture_default_str()
      ->type_name("BYTES")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 62));
  be_controller
      ->add_option("--workers", controller.cluster.workers,
                   "Threads of each process with hosts; 0: one for each core")
      ->check(CLI::Range(0, ThreadOptions::kMaxWorkers));

  WorkerCommand worker;
  worker.member.patience = absl::Seconds(60);
  CLI::App* be_worker =
      app.add_subcommand("worker", "Be hosts of a cluster, until it ends");
  be_worker
      ->add_option("--connect", worker.member.connect,
                   "Where the controller is")
      ->type_name("ADDRESS")
      ->envname("PATHWAYS_CONTROLLER")
      ->required();
  be_worker
      ->add_option("--listen", worker.member.listen,
                   "Where others reach this one; may be repeated: workers take "
                   "the first one, clients the first that is not "
                   "ucx:HOST:PORT, which needs UCX; default of the latter: a "
                   "free port")
      ->allow_extra_args(false)
      ->type_name("ADDRESS");
  CLI::Option* host =
      be_worker
          ->add_option(
              "--host", worker.member.hosts,
              "A host of the cluster, by name; may be repeated; %r is the rank "
              "that mpirun, srun or a Kubernetes Job has given")
          ->type_name("NAME")
          ->envname("PATHWAYS_HOST")
          ->allow_extra_args(false);
  std::string any_host_of;
  CLI::Option* any_host =
      be_worker
          ->add_option("--any-host", any_host_of,
                       "Be the first host that nobody is, or the first one of "
                       "an island; a spare while there is none")
          ->type_name("[ISLAND]")
          ->expected(0, 1)
          ->excludes(host);
  worker.links.ucx = "shm";
  be_worker
      ->add_option("--ucx", worker.links.ucx,
                   "What UCX goes over: shm, where both are on one machine, or "
                   "tcp")
      ->capture_default_str()
      ->type_name("NAME");
  AddLinkOptions(be_worker, &worker.links);
  AddChaos(be_worker, &worker.links);
  AddDuration(be_worker, "--wait",
              "How long the controller may not be there, at first, or when it "
              "was lost",
              &worker.member.patience, &durations);
  be_worker
      ->add_flag("--end-with-parent", worker.ends_with_controller,
                 "End when file descriptor 3, a pipe, does")
      ->group("");
  StatusCommand status_command;
  CLI::App* say_status = app.add_subcommand(
      "status", "Say what hosts, clients and programs a cluster has");
  say_status
      ->add_option("--connect", status_command.connect.address,
                   "Where the controller is")
      ->type_name("ADDRESS")
      ->envname("PATHWAYS_CONTROLLER")
      ->required();
  AddLinkOptions(say_status, &status_command.connect.links);
  say_status->add_flag("--json", status_command.json,
                       "As one line of JSON (runtime/proto/status.proto)");
  say_status->add_flag("--watch", status_command.watch,
                       "Again and again, until it is stopped");
  AddDuration(say_status, "--interval", "Between two times of --watch",
              &status_command.interval, &durations);
  DrainCommand drain;
  AddDuration(AddDrain(&app, "drain",
                       "Load no more programs on islands, hosts or devices, "
                       "and wait until nothing is there",
                       &drain),
              "--wait",
              "Longest wait, after which they stay drained; default: any",
              &drain.wait, &durations);
  CLI::App* undrain =
      AddDrain(&app, "undrain", "Let programs be loaded there again", &drain);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "pw-node: error: %s\n", error.what());
    return kUsageError;
  }
  absl::Status status = ReadDurations(durations);
  if (status.ok() && say_status->parsed()) {
    return Report(RunStatus(status_command));
  }
  if (status.ok() && !drain.names.empty()) {
    drain.undo = undrain->parsed();
    return Report(RunDrain(drain));
  }
  if (be_worker->parsed()) {
    if (host->empty() && any_host->empty()) {
      std::fprintf(stderr,
                   "pw-node: error: --host or --any-host is required\n");
      return kUsageError;
    }
    if (!any_host->empty()) worker.member.any_host_of = any_host_of;
    if (status.ok()) status = FillRanks(&worker.member.hosts);
  }
  // Its thread, and those that will be, have signals blocked.
  auto* stopper = new Stopper;
  stopper->CatchSignals();
  if (status.ok() && be_controller->parsed()) {
    controller.cluster.stall_timeout_ns = absl::ToInt64Nanoseconds(stall);
    controller.cluster.kernel_timeout_ns =
        absl::ToInt64Nanoseconds(kernel_timeout);
    status = RunController(std::move(controller), stopper);
  } else if (status.ok()) {
    const bool ends = worker.ends_with_controller;
    if (ends) EndWithParent();
    worker.start_again = [argv, ends] { return StartAgain(argv, ends); };
    status = RunWorker(std::move(worker), stopper);
    // A parent that is gone, or gave up, needs no word about it.
    if (ends && absl::IsCancelled(status)) {
      return kSuccess;
    }
  }
  return Report(status);
}

}  // namespace
}  // namespace pathways::pw_node

int main(int argc, char** argv) { return pathways::pw_node::Main(argc, argv); }
