//===- cluster.cc - The part of a cluster in one process ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/leak_on_purpose.h"
#include "runtime/base/steady_time.h"
#include "runtime/checkpoint/crc32.h"
#include "runtime/client/check_options.h"

namespace pathways {

Cluster::Cluster(Topology topology, const ClusterOptions& options,
                 const ProcessPart& part)
    : topology_(std::move(topology)), places_(part.places) {
  runtime_.topology = &topology_;
  runtime_.directory =
      part.directory.has_value() ? *part.directory : DirectoryOf(topology_);
  runtime_.process = part.process;
  runtime_.backends = options.backends;
  if (runtime_.backends == nullptr) {
    runtime_.backends = options.run_kernels ? &CpuBackends() : &NoBackends();
  }
  runtime_.dispatch.sequential =
      options.dispatch == ClusterOptions::kSequential;
  runtime_.dispatch.host_work_ns = options.host_work_ns;
  runtime_.limits.report_ns = options.stall_timeout_ns;
  runtime_.limits.limit_ns = options.kernel_timeout_ns;
  runtime_.limits.on_long = options.on_long_work;
  runtime_.spill = options.spill;
  clients_.runtime = &runtime_;
  clients_.on_long_work = options.on_long_work;
  runtime_.kernels =
      options.kernels != nullptr ? options.kernels : &plan_kernels_;
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    clients_.memory_bytes =
        AddBytes(clients_.memory_bytes, HostMemoryBytes(topology_.host(h)));
  }
}

Cluster::~Cluster() {
  Shutdown();
  // Kernels that did not return may still use memory of hosts and devices.
  if (has_lost_workers()) KeepValueForEver(std::move(actors_));
}

void Cluster::KeepPlans(std::vector<KeptPlan> plans) {
  for (KeptPlan& kept : plans) {
    runtime_.plans.Keep(kept.name, std::move(kept.plan),
                        std::move(kept.source));
  }
}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Create(
    const proto::Cluster& cluster, const ClusterOptions& options,
    const ProcessPart& part) {
  absl::Status checked = CheckOptions(options);
  if (!checked.ok()) return checked;
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  if (part.directory.has_value() &&
      (part.directory->num_islands() !=
           static_cast<uint32_t>(topology->num_islands()) ||
       part.directory->num_hosts() !=
           static_cast<uint32_t>(topology->num_hosts()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a directory of ", part.directory->num_islands(), " islands and ",
        part.directory->num_hosts(), " hosts, expected ",
        topology->num_islands(), " and ", topology->num_hosts()));
  }
  std::unique_ptr<Cluster> made(
      new Cluster(*std::move(topology), options, part));
  absl::Status started = made->Start(options, part);
  if (!started.ok()) return started;
  return made;
}

absl::Status Cluster::Start(const ClusterOptions& options,
                            const ProcessPart& part) {
  WorldListeners listeners;
  if (options.trace_events > 0) {
    listeners.on_crossing = [this](const SimCrossing& c) { TraceCrossing(c); };
  }
  listeners.on_long = [this](const KernelCall& call, TimeNs ns) {
    ReportKernel(call, ns);
  };
  listeners.victims = [this](const KernelCall& call) {
    const HostActors& actors = actors_->FindHost(call.host)->actors;
    std::vector<LocalId> lost;
    for (uint32_t device : CohortOf(actors, call.device)) {
      lost.push_back(actors.devices[device]);
    }
    return lost;
  };
  listeners.on_lost = [this](const KernelCall& call) {
    runtime_.world->SendLocal(kNobody,
                              actors_->FindHost(call.host)->actors.executor,
                              WorkerLostMessage(call));
  };
  absl::StatusOr<ProcessWorld> world =
      part.make_world ? part.make_world(std::move(listeners))
                      : MakeWorld(topology_, options, std::move(listeners));
  if (!world.ok()) return world.status();
  world_ = *std::move(world);
  runtime_.world = world_.world.get();
  if (runtime_.directory.place(-1).process != runtime_.process) {
    runtime_.limits.on_long =
        [this, here = options.on_long_work](const LongWork& work) {
          if (here) here(work);
          NotifyLongWork(work);
        };
  }
  runtime_.on_worker_lost = part.on_worker_lost;
  runtime_.traced = options.trace_events > 0;
  if (absl::Status opened = OpenSpillDisks(); !opened.ok()) return opened;
  // No message is sent before a client's first request, so all tables are
  // complete before an actor reads them.
  actors_ = std::make_unique<LocalActors>(&runtime_, options, places_);
  reporter_ = std::make_unique<ProcessReporter>(&runtime_, &world_,
                                                actors_.get(), options.seed);
  // A process with only clients gets no questions, so it needs no reporter.
  if (actors_->controller() == nullptr && actors_->hosts().empty()) {
    return absl::OkStatus();
  }
  runtime_.world->Register(reporter_.get(), ReporterPlacement(), "reporter",
                           runtime_.directory.reporter(runtime_.process));
  if (actors_->controller() != nullptr) {
    clients_.trace_actor = IndexOf(actors_->controller()->local_id());
  }
  if (!runtime_.traced) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Trace>> trace =
      Trace::Create(runtime_.world, options.trace_events);
  if (!trace.ok()) return trace.status();
  trace_ = *std::move(trace);
  runtime_.trace = trace_.get();
  actors_->StartTrace(trace_.get());
  return absl::OkStatus();
}

absl::Status Cluster::OpenSpillDisks() {
  if (runtime_.spill.folder.empty()) return absl::OkStatus();
  // Equal descriptions name the same cluster, whose hosts may have been killed
  // and left files there.
  const std::string cluster = absl::StrCat(absl::Hex(
      Crc32(0, topology_.cluster().SerializeAsString()), absl::kZeroPad8));
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    if (!runtime_.IsHere(h)) continue;
    const std::string name = topology_.HostName(h);
    std::unique_ptr<SpillDisk>& disk = runtime_.spill_disks[h];
    if (runtime_.world->simulated()) {
      auto made = std::make_unique<MemoryDisk>(absl::StrCat("disk of ", name));
      memory_disks_[h] = made.get();
      disk = std::move(made);
      continue;
    }
    absl::StatusOr<std::unique_ptr<SpillDisk>> opened =
        FolderDisk::Open(runtime_.spill.folder, cluster, name);
    if (!opened.ok()) return opened.status();
    disk = *std::move(opened);
  }
  return absl::OkStatus();
}

Placement Cluster::ReporterPlacement() const {
  if (actors_->controller() != nullptr) return {-1, 0, -1};
  const int host = actors_->hosts().front().number;
  return {host, 0, topology_.island_of_host(host),
          runtime_.directory.place(host).epoch};
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
    LongWork work = DescribeKernel(*plan, topology_, *where, ns);
    work.incarnation = call.incarnation;
    runtime_.limits.on_long(work);
  }
}

// Bypasses the workers of this world, since the worker that would send the
// message may be in a kernel that does not return.
void Cluster::NotifyLongWork(const LongWork& work) {
  if (!world_.send_control) return;
  proto::Control control;
  *control.mutable_long_work_seen() = ToProto(work);
  world_.send_control(runtime_.directory.reporter(runtime_.process),
                      runtime_.directory.controller(),
                      control.SerializeAsString());
}

absl::StatusOr<std::unique_ptr<Client>> Cluster::Connect(
    const std::string& name, const ClientOptions& options) {
  absl::Status checked = CheckClientOptions(options);
  if (!checked.ok()) return checked;
  // The new client's requests could overtake the message that the last client
  // of this name left.
  const auto leaving = actors_->LeavingClients(name);
  runtime_.world->RunUntil([&] {
    return clients_.stopping.load() ||
           std::none_of(leaving.begin(), leaving.end(),
                        [](const ClientActor* a) { return a->leaving(); });
  });
  ClientActor* actor = actors_->TakeClient(name);
  if (actor == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot add client '", name, "': the cluster already has ",
                     places_.count, " clients, which is the limit"));
  }
  std::unique_ptr<Client> client(new Client(&clients_, actor, name, options));
  absl::Status connected = client->Connect();
  if (!connected.ok()) return connected;
  return client;
}

void Cluster::ReportClientsGone(uint32_t process) {
  LocalMessage message;
  message.kind = kClientsGone;
  message.target = process * kMaxProcessClients;
  message.item = kMaxProcessClients;
  runtime_.world->SendLocal(kNobody, actors_->controller()->local_id(),
                            message);
}

void Cluster::LimitHostMemory(int32_t host, uint64_t bytes) {
  const LocalActors::Host* found = actors_->FindHost(host);
  if (found == nullptr) return;
  found->executor->LimitMemory(
      std::min(bytes, HostMemoryBytes(topology_.host(host))));
}

void Cluster::FailSpillDisk(int32_t host, bool writes, bool reads) {
  const auto found = memory_disks_.find(host);
  if (found == memory_disks_.end()) return;
  MemoryDisk* disk = found->second;
  disk->FailWrites(writes ? absl::ResourceExhaustedError(absl::StrCat(
                                disk->name(), ": No space left on device"))
                          : absl::OkStatus());
  disk->FailReads(reads ? absl::DataLossError(absl::StrCat(
                              disk->name(), ": Input/output error"))
                        : absl::OkStatus());
}

absl::StatusOr<proto::ControllerStatus> Cluster::Describe(
    absl::Duration timeout) {
  const auto query = std::make_shared<StatusQuery>();
  LocalMessage message;
  message.kind = kDescribe;
  message.payload = new std::shared_ptr<StatusQuery>(query);
  runtime_.world->SendLocal(kNobody, actors_->controller()->local_id(),
                            message);
  if (runtime_.world->simulated()) {
    runtime_.world->RunUntil([&] {
      MutexLock lock(&query->mutex);
      return query->status.has_value();
    });
  }
  const SteadyTime until = SteadyTime::Now() + timeout;
  MutexLock lock(&query->mutex);
  while (!query->status.has_value()) {
    if (WaitUntil(&query->answered, &query->mutex, until) ==
            std::cv_status::timeout &&
        !query->status.has_value()) {
      return absl::DeadlineExceededError(
          "the controller did not report its status in time");
    }
  }
  return *std::move(query->status);
}

void Cluster::Shutdown(absl::Status why) {
  {
    MutexLock lock(&shutdown_);
    if (!clients_.stopping.load()) {
      clients_.ended = std::move(why);
      clients_.stopping.store(true);
    }
  }
  CallAll(clients_.watchers.TakeAll(), clients_.ended);
  if (runtime_.world == nullptr) return;
  runtime_.world->Notify();
  runtime_.world->Stop();
  if (actors_ != nullptr) actors_->StopSpilling();
}

}  // namespace pathways
