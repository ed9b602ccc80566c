//===- local_workers.cc - Local clusters of several processes -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/local_workers.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/steady_time.h"
#include "runtime/cluster/sim_cluster.h"
#include "runtime/node/host_options.h"
#include "runtime/node/node_transport.h"
#include "runtime/topology/discovery.h"

namespace pathways {
namespace {

// Returns the hosts of worker `worker` of `workers`: consecutive, and as even
// as possible.
std::vector<std::string> HostsOf(const Topology& topology, int worker,
                                 int workers) {
  const int64_t hosts = topology.num_hosts();
  std::vector<std::string> names;
  for (int64_t h = hosts * worker / workers; h < hosts * (worker + 1) / workers;
       ++h) {
    names.push_back(topology.HostName(static_cast<int>(h)));
  }
  return names;
}

// Returns an abstract socket name that no other process has. It is in no file
// system, so nothing remains of it when this process ends.
std::string NewAddress() {
  absl::BitGen random;
  return absl::StrCat("unix:@pathways-", absl::Hex(random(), absl::kZeroPad16));
}

// Returns the number of descriptors that are open in this process.
uint64_t OpenDescriptors() {
  std::error_code error;
  uint64_t open = 0;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    ++open;
  }
  return open;
}

// Checks that this process and its workers, which inherit the limit, may open
// enough descriptors. Returns ResourceExhausted, with both numbers, if not.
absl::Status CheckDescriptors(int processes, RunOptions::WorkerLinks links) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::OkStatus();
  // A process has a connection to each other process, two while connecting, and
  // descriptors of its own, also of UCX.
  constexpr uint64_t kOwn = 16, kOfUcx = 24;
  const uint64_t connections = 2 * static_cast<uint64_t>(processes);
  const uint64_t here = OpenDescriptors() + kOwn + connections;
  const uint64_t in_worker =
      kOwn + connections + (links == RunOptions::kSockets ? 0 : kOfUcx);
  const uint64_t needed = std::max(here, in_worker);
  if (needed <= limit.rlim_cur) return absl::OkStatus();
  std::string how = absl::StrCat("raise it with 'ulimit -n ", needed, "'");
  if (limit.rlim_max < needed) {
    absl::StrAppend(&how, " after an administrator has raised the hard limit, ",
                    "which is ", limit.rlim_max);
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "the system lets a process open ", limit.rlim_cur, " files, and ",
      processes,
      processes == 1 ? " process needs up to " : " processes need up to ",
      needed, " each: ", how, Tag(ErrorId::kTooFewDescriptors)));
}

}  // namespace

std::string FindNodeProgram() {
  std::vector<std::filesystem::path> folders;
  Dl_info info;
  link_map* library = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&FindNodeProgram), &info,
              reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) != 0 &&
      library != nullptr && library->l_name[0] != '\0') {  // "": the program
    const std::filesystem::path path = library->l_name;
    folders.push_back(path.parent_path());
    folders.push_back(path.parent_path().parent_path() / "bin");
  }
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(self.parent_path());
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path program = folder / "pw-node";
    if (std::filesystem::exists(program, error)) return program.string();
  }
  return "pw-node";
}

absl::StatusOr<std::unique_ptr<LocalWorkers>> LocalWorkers::Start(
    const proto::Cluster& cluster, const ClusterOptions& options,
    const LocalOptions& local) {
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  if (local.processes < 1 || local.processes > topology->num_hosts()) {
    return absl::InvalidArgumentError(absl::StrCat(
        local.processes, " processes were requested, expected 1 to ",
        topology->num_hosts(), ", the number of hosts",
        Tag(ErrorId::kProcesses)));
  }
  absl::Status descriptors =
      CheckDescriptors(local.processes, options.worker_links);
  if (!descriptors.ok()) return descriptors;
  const SteadyTime until = SteadyTime::Now() + local.start_timeout;
  LinkOptions link_options;
  link_options.chaos = options.chaos;
  absl::StatusOr<TransportFactory> links = MakeLinks(link_options);
  if (!links.ok()) return links.status();
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Create(*links);
  if (!process.ok()) return process.status();
  std::unique_ptr<LocalWorkers> made(new LocalWorkers(
      *std::move(topology), options.bind_workers ? local.processes : 0));
  made->process_ = *std::move(process);
  Process& self = *made->process_;
  absl::StatusOr<std::string> address = self.transport().Listen(NewAddress());
  if (!address.ok()) return address.status();

  LocalWorkers& all = *made;
  absl::StatusOr<std::unique_ptr<ChildProcesses>> children =
      ChildProcesses::Create(
          [&all](int child, const std::string& how, bool killed) {
            all.OnExit(child, how, killed);
          });
  if (!children.ok()) return children.status();
  made->children_ = *std::move(children);
  const std::string program =
      local.pw_node.empty() ? FindNodeProgram() : local.pw_node;
  for (int number = 0; number < local.processes; ++number) {
    Worker worker;
    worker.hosts = HostsOf(made->topology_, number, local.processes);
    worker.command = {program, "worker", "--end-with-parent",
                      absl::StrCat("--connect=", *address)};
    for (std::string& argument : WorkerLinkArguments(
             options.worker_links, absl::StrCat(*address, ".", number))) {
      worker.command.push_back(std::move(argument));
    }
    if (!options.chaos.empty()) {
      worker.command.push_back(absl::StrCat("--chaos=", options.chaos));
    }
    for (const std::string& host : worker.hosts) {
      worker.command.push_back(absl::StrCat("--host=", host));
    }
    MutexLock lock(&all.mutex_);
    all.workers_.push_back(std::move(worker));
    absl::Status started = all.StartWorker(number);
    if (!started.ok()) return started;
  }
  CoordinatorOptions coordinator_options;
  coordinator_options.on_worker = [&all](uint32_t process) {
    MutexLock lock(&all.mutex_);
    all.workers_[process - 1].in_vain = 0;
  };
  made->coordinator_ = std::make_unique<Coordinator>(
      &made->topology_, &self, std::move(coordinator_options));
  Coordinator& coordinator = *made->coordinator_;
  absl::StatusOr<std::vector<proto::Member>> members =
      coordinator.AwaitHosts(until);
  if (!members.ok()) return members.status();
  absl::Status begun =
      self.Start(kControllerProcess, cluster, options, *std::move(members));
  all.Enter(kLinking);
  if (begun.ok()) begun = coordinator.Begin(ToHostOptions(options), until);
  if (!begun.ok()) return begun;
  all.Enter(kRunning);
  made->server_ = std::thread([&coordinator] { (void)coordinator.Serve(); });
  return made;
}

absl::StatusOr<std::shared_ptr<Cluster>> OpenCluster(
    const proto::Cluster& cluster, const ClusterOptions& options) {
  if (!options.faults.empty() &&
      (options.processes != 0 || options.world != ClusterOptions::kSim)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "faults '", options.faults, "' can only be injected in a simulation"));
  }
  if (options.processes == 0) {
    if (!options.faults.empty()) return OpenSimulation(cluster, options);
    if (options.chaos.empty()) return Cluster::Create(cluster, options);
    return absl::InvalidArgumentError(
        absl::StrCat("chaos '", options.chaos,
                     "' needs links between processes, but there "
                     "is only one process"));
  }
  if (options.world == ClusterOptions::kSim || options.link_costs) {
    return absl::InvalidArgumentError(
        "several processes communicate over real links: they can neither be "
        "simulated nor use the link costs of the topology");
  }
  LocalOptions local;
  local.processes = options.processes;
  if (options.processes < 0) {
    absl::StatusOr<Topology> topology = Topology::Create(cluster);
    if (!topology.ok()) return topology.status();
    local.processes = topology->num_hosts();
  }
  absl::StatusOr<std::unique_ptr<LocalWorkers>> started =
      LocalWorkers::Start(cluster, options, local);
  if (!started.ok()) return started.status();
  const std::shared_ptr<LocalWorkers> workers = *std::move(started);
  return std::shared_ptr<Cluster>(workers, &workers->cluster());
}

absl::Status LocalWorkers::StartWorker(size_t worker) {
  std::optional<ShareOfCores> share;
  if (core_shares_ > 0) share.emplace(worker, core_shares_);
  absl::StatusOr<int> child = children_->Start(workers_[worker].command);
  if (!child.ok()) return child.status();
  worker_of_.resize(*child + 1);
  worker_of_[*child] = worker;
  return absl::OkStatus();
}

void LocalWorkers::OnExit(int child, const std::string& how, bool killed) {
  MutexLock lock(&mutex_);
  if (phase_ == kClosing) return;
  Worker& worker = workers_[worker_of_[child]];
  // A worker that exits by itself would do so again, unless it was refused for
  // the sake of its predecessor, whose end is not known yet.
  if (phase_ == kComing && !killed && worker.in_vain == 0) {
    return GiveUp(worker, how);
  }
  if (++worker.in_vain > kMostInVain) {
    // Its hosts are gone, and their users are notified.
    if (phase_ < kRunning) {
      GiveUp(worker, absl::StrCat(how, ", after ", kMostInVain, " restarts"));
    }
    return;
  }
  if (absl::Status again = StartWorker(worker_of_[child]);
      !again.ok() && phase_ < kRunning) {
    GiveUp(worker,
           absl::StrCat(how, ", and cannot be restarted: ", again.message()));
  }
}

void LocalWorkers::GiveUp(const Worker& worker, const std::string& how) {
  process_->inbox().Fail(absl::UnavailableError(absl::StrCat(
      "the worker of host '", worker.hosts.front(), "' ended: ", how)));
}

void LocalWorkers::Enter(Phase phase) {
  MutexLock lock(&mutex_);
  phase_ = phase;
}

LocalWorkers::~LocalWorkers() {
  Enter(kClosing);
  if (server_.joinable()) {
    process_->inbox().Fail(absl::AbortedError("the cluster was closed"));
    server_.join();
  }
  if (process_ != nullptr) process_->Stop();
  children_.reset();
}

}  // namespace pathways
