//===- cluster.cc - What runs programs, in this process -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/keep_for_ever.h"

namespace pathways {

Cluster::Cluster(Topology topology, const ClusterOptions& options)
    : topology_(std::move(topology)) {
  runtime_.topology = &topology_;
  runtime_.directory = DirectoryOf(topology_);
  runtime_.run_kernels = options.run_kernels;
  runtime_.dispatch.sequential =
      options.dispatch == ClusterOptions::kSequential;
  runtime_.dispatch.host_work_ns = options.host_work_ns;
  runtime_.limits.report_ns = options.stall_timeout_ns;
  runtime_.limits.limit_ns = options.kernel_timeout_ns;
  runtime_.limits.on_long = options.on_long_work;
  clients_.runtime = &runtime_;
  clients_.kernels =
      options.kernels != nullptr ? options.kernels : &plan_kernels_;
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    clients_.memory_bytes +=
        std::min<uint64_t>(HostMemoryBytes(topology_.host(h)),
                           (uint64_t{1} << 62) - clients_.memory_bytes);
  }
}

Cluster::~Cluster() {
  Shutdown();
  // Kernels that did not return may still use what hosts and devices hold.
  if (world_.threads != nullptr && world_.threads->lost() > 0) {
    KeepValueForEver(std::move(actors_));
  }
}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Create(
    const proto::Cluster& cluster, const ClusterOptions& options) {
  absl::Status checked = CheckOptions(options);
  if (!checked.ok()) return checked;
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  std::unique_ptr<Cluster> made(new Cluster(*std::move(topology), options));
  absl::Status started = made->Start(options);
  if (!started.ok()) return started;
  return made;
}

absl::Status Cluster::Start(const ClusterOptions& options) {
  constexpr uint32_t kProcess = 0;
  WorldListeners listeners;
  if (options.trace_events > 0) {
    listeners.on_crossing = [this](const SimCrossing& c) { TraceCrossing(c); };
  }
  listeners.on_long = [this](const KernelCall& call, TimeNs ns) {
    ReportKernel(call, ns);
  };
  listeners.casualties = [this](const KernelCall& call) {
    const HostActors& actors = actors_->hosts()[call.host].actors;
    std::vector<LocalId> lost;
    for (uint32_t device : CohortOf(actors, call.device)) {
      lost.push_back(actors.devices[device]);
    }
    return lost;
  };
  listeners.on_lost = [this](const KernelCall& call) {
    runtime_.world->SendLocal(kNobody,
                              actors_->hosts()[call.host].actors.executor,
                              WorkerLostMessage(call));
  };
  absl::StatusOr<ProcessWorld> world =
      MakeWorld(topology_, options, std::move(listeners));
  if (!world.ok()) return world.status();
  world_ = *std::move(world);
  runtime_.world = world_.world.get();
  // No message is sent before a client asks for something, so all tables are
  // complete when anybody reads them.
  actors_ = std::make_unique<LocalActors>(&runtime_, options);
  reporter_ = std::make_unique<ProcessReporter>(
      &runtime_, &world_, actors_.get(), kProcess, options.seed);
  runtime_.world->Register(reporter_.get(), {-1, 0, -1}, "reporter",
                           runtime_.directory.reporter(kProcess));
  clients_.trace_actor = IndexOf(actors_->controller().local_id());
  if (options.trace_events == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Trace>> trace =
      Trace::Create(runtime_.world, options.trace_events);
  if (!trace.ok()) return trace.status();
  trace_ = *std::move(trace);
  runtime_.trace = trace_.get();
  actors_->StartTrace(trace_.get());
  return absl::OkStatus();
}

void Cluster::TraceCrossing(const SimCrossing& crossing) {
  auto clamp = [](uint64_t value, int bits) {
    return std::min(value, (uint64_t{1} << bits) - 1);
  };
  TraceEvent event =
      NewTraceEvent(TraceKind::kCrossed, IndexOf(crossing.from), crossing.sent);
  event.value = static_cast<uint64_t>(crossing.begin);
  event.target =
      static_cast<uint32_t>(clamp(crossing.end - crossing.begin, 32));
  event.firing = clamp(crossing.arrival - crossing.sent, 40);
  event.item = clamp(crossing.bytes, 24);
  event.program = static_cast<uint32_t>(crossing.sequence);
  event.other = IndexOf(crossing.to);
  trace_->ring(0)->Record(event);  // a simulation has one thread
}

void Cluster::ReportKernel(const KernelCall& call, TimeNs ns) {
  const std::shared_ptr<const PreparedPlan> plan =
      runtime_.loaded.Find(call.incarnation);
  if (plan == nullptr || !runtime_.limits.on_long) return;
  if (auto where = FindKernel(*plan, topology_, call)) {
    runtime_.limits.on_long(DescribeKernel(*plan, topology_, *where, ns));
  }
}

absl::StatusOr<std::unique_ptr<Client>> Cluster::Connect(
    const std::string& name) {
  // What it wants could overtake what says that the last one of its name left.
  const auto leaving = actors_->LeavingClients(name);
  runtime_.world->RunUntil([&] {
    return clients_.stopping.load() ||
           std::none_of(leaving.begin(), leaving.end(),
                        [](const ClientActor* a) { return a->leaving(); });
  });
  ClientActor* actor = actors_->TakeClient(name);
  if (actor == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no place for client '", name, "': there are ",
                     kMaxProcessClients, " clients"));
  }
  std::unique_ptr<Client> client(new Client(&clients_, actor, name));
  absl::Status connected = client->Connect();
  if (!connected.ok()) return connected;
  return client;
}

void Cluster::Shutdown() {
  clients_.stopping.store(true);
  if (runtime_.world == nullptr) return;
  runtime_.world->Notify();
  runtime_.world->Stop();
}

}  // namespace pathways
