//===- runtime.cc - Start and stop, programs, statistics ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/runtime.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/runtime_impl.h"
#include "runtime/plan/verify.h"
#include "runtime/protocol/control_check.h"
#include "runtime/topology/discovery.h"
#include "runtime/trace/chrome_trace.h"

namespace pathways {
namespace {

absl::Status ShutDown() {
  return absl::CancelledError("the runtime was shut down");
}

absl::Status NotTraced() {
  return absl::FailedPreconditionError(
      "nothing was traced: the runtime's options have no trace_events");
}

// The cluster's numbers where it has them; others stay.
void Apply(const proto::Link& link, LinkModel* model) {
  if (link.latency_seconds() > 0) {
    model->latency_ns = static_cast<TimeNs>(link.latency_seconds() * 1e9);
  }
  if (link.bytes_per_second() > 0) {
    model->bytes_per_second = link.bytes_per_second();
  }
}

absl::Status CheckOptions(const RuntimeOptions& options) {
  if (options.workers < 0 || options.workers > ThreadOptions::kMaxWorkers) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of workers is ", options.workers,
                     ", expected 0 to ", ThreadOptions::kMaxWorkers));
  }
  if (options.trace_events < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a trace of ", options.trace_events, " events, expected at least 0"));
  }
  if (options.stall_timeout_ns <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the stall timeout is ",
                                                   options.stall_timeout_ns,
                                                   " ns, expected at least 1"));
  }
  if (options.answer_timeout_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the answer timeout is ",
                                                   options.answer_timeout_ns,
                                                   " ns, expected at least 0"));
  }
  constexpr TimeNs kMaxHostWorkNs = 3'600'000'000'000;
  if (options.host_work_ns < 0 || options.host_work_ns > kMaxHostWorkNs) {
    return absl::InvalidArgumentError(
        absl::StrCat("the host work is ", options.host_work_ns,
                     " ns, expected 0 to ", kMaxHostWorkNs));
  }
  if (options.world == RuntimeOptions::kThreads &&
      (!options.run_kernels || options.duplicate_probability != 0 ||
       options.reorder_probability != 0 || options.drop_probability != 0 ||
       !options.host_stops.empty())) {
    return absl::InvalidArgumentError(
        "runs without kernels, and links with faults, need a simulation");
  }
  return absl::OkStatus();
}

}  // namespace

Runtime::Impl::Impl(Topology topology, const RuntimeOptions& options,
                    uint64_t client_memory)
    : options_(options),
      topology_(std::move(topology)),
      client_memory_("the clients' memory", client_memory, /*backed=*/false) {
  context_.topology = &topology_;
  context_.run_kernels = options_.run_kernels;
  context_.dispatch.sequential =
      options_.dispatch == RuntimeOptions::kSequential;
  context_.dispatch.host_work_ns = options_.host_work_ns;
  context_.limits.report_ns = options_.stall_timeout_ns;
  context_.limits.on_long = options_.on_long_work;
}

void Runtime::Impl::Shutdown() {
  stopping_.store(true);
  if (world_ == nullptr) return;
  world_->Notify();
  world_->Stop();
}

Runtime::Impl::~Impl() {
  Shutdown();
  MutexLock lock(&mutex_);
  while (calls_ != 0) calls_ended_.wait(mutex_);
}

absl::StatusOr<std::unique_ptr<Runtime::Impl>> Runtime::Impl::Create(
    const proto::Cluster& cluster, const RuntimeOptions& options) {
  absl::Status checked = CheckOptions(options);
  if (!checked.ok()) return checked;
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  uint64_t memory = 0;
  for (int h = 0; h < topology->num_hosts(); ++h) {
    memory += std::min<uint64_t>(HostMemoryBytes(topology->host(h)),
                                 (uint64_t{1} << 62) - memory);
  }
  std::unique_ptr<Impl> impl(new Impl(*std::move(topology), options, memory));
  absl::Status started = impl->StartWorld();
  if (!started.ok()) return started;
  return impl;
}

absl::Status Runtime::Impl::StartWorld() {
  if (options_.world == RuntimeOptions::kSim) {
    SimOptions sim;
    sim.seed = options_.seed;
    sim.workers = std::max(1, options_.workers);
    for (int i = 0; i < topology_.num_islands(); ++i) {
      sim.ici_of.push_back(sim.ici);
      Apply(topology_.island(i).ici(), &sim.ici_of.back());
    }
    Apply(topology_.cluster().dcn(), &sim.dcn);
    sim.faults.duplicate = options_.duplicate_probability;
    sim.faults.reorder = options_.reorder_probability;
    sim.control_faults = sim.faults;
    sim.control_faults.drop = options_.drop_probability;
    sim.host_stops = options_.host_stops;
    sim.fault_hook = options_.fault_hook;
    sim.control_fault_hook = options_.control_fault_hook;
    if (options_.trace_events > 0) {
      sim.on_crossing = [this](const SimCrossing& c) { TraceCrossing(c); };
    }
    absl::StatusOr<std::unique_ptr<SimWorld>> world =
        SimWorld::Create(std::move(sim));
    if (!world.ok()) return world.status();
    sim_ = world->get();
    world_ = *std::move(world);
  } else {
    ThreadOptions threads;
    threads.workers =
        options_.workers > 0
            ? options_.workers
            : std::clamp(NumPhysicalCores(), 1, ThreadOptions::kMaxWorkers);
    threads.seed = options_.seed;
    threads.fault_hook = options_.fault_hook;
    threads.control_fault_hook = options_.control_fault_hook;
    threads.clock = options_.clock;
    threads.watch.report_ns = context_.limits.report_ns;
    threads.watch.on_long = [this](const KernelCall& call, TimeNs ns) {
      ReportKernel(call, ns);
    };
    if (options_.link_costs) {
      threads.links.emplace();
      for (int i = 0; i < topology_.num_islands(); ++i) {
        Apply(topology_.island(i).ici(), &threads.links->ici_of.emplace_back());
      }
      Apply(topology_.cluster().dcn(), &threads.links->dcn);
    }
    if (options_.bind_workers) {
      threads.on_worker_start = [](int worker) {
        // Without the right to bind, the worker runs anywhere.
        (void)BindThisThreadToCore(worker % std::max(1, NumPhysicalCores()));
      };
    }
    absl::StatusOr<std::unique_ptr<ThreadWorld>> world =
        ThreadWorld::Create(std::move(threads));
    if (!world.ok()) return world.status();
    threads_ = world->get();
    world_ = *std::move(world);
  }
  context_.world = world_.get();
  RegisterActors();
  if (options_.trace_events > 0) return StartTrace();
  return absl::OkStatus();
}

absl::Status Runtime::Impl::StartTrace() {
  absl::StatusOr<std::unique_ptr<Trace>> trace =
      Trace::Create(world_.get(), options_.trace_events);
  if (!trace.ok()) return trace.status();
  trace_ = *std::move(trace);
  context_.trace = trace_.get();
  trace_->AddActor(controller_->local_id(),
                   {TraceActor::kController, -1, -1, -1, "controller"});
  for (int i = 0; i < topology_.num_islands(); ++i) {
    trace_->AddActor(schedulers_[i]->local_id(),
                     {TraceActor::kScheduler, i, topology_.first_host(i), -1,
                      topology_.IslandName(i)});
    schedulers_[i]->StartTrace(trace_->ring(i));
  }
  int worker = 0;
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    const int island = topology_.island_of_host(h);
    trace_->AddActor(executors_[h]->local_id(), {TraceActor::kExecutor, island,
                                                 h, -1, topology_.HostName(h)});
    executors_[h]->StartTrace(trace_->ring(worker));
    for (size_t d = 0; d < devices_[h].size(); ++d, ++worker) {
      const int64_t device = topology_.first_device(h) + d;
      trace_->AddActor(devices_[h][d]->local_id(),
                       {TraceActor::kDevice, island, h, device,
                        topology_.DeviceName(island, device)});
      devices_[h][d]->StartTrace(trace_->ring(worker));
    }
  }
  return absl::OkStatus();
}

void Runtime::Impl::TraceCrossing(const SimCrossing& crossing) {
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

void Runtime::Impl::ReportKernel(const KernelCall& call, TimeNs ns) {
  const std::shared_ptr<const PreparedPlan> plan =
      context_.loaded.Find(call.incarnation);
  if (plan == nullptr || !context_.limits.on_long) return;
  if (auto where = FindKernel(*plan, topology_, call)) {
    context_.limits.on_long(DescribeKernel(*plan, topology_, *where, ns));
  }
}

void Runtime::Impl::RegisterActors() {
  // No message is sent before a client asks for something, so all tables are
  // complete when anybody reads them.
  context_.directory = DirectoryOf(topology_);
  const Directory& directory = context_.directory;
  ControllerOptions timeouts;
  timeouts.stall_timeout_ns = options_.stall_timeout_ns;
  timeouts.answer_timeout_ns = options_.answer_timeout_ns > 0
                                   ? options_.answer_timeout_ns
                                   : options_.stall_timeout_ns;
  controller_ = std::make_unique<Controller>(&context_, timeouts);
  world_->Register(controller_.get(), {-1, 0, -1}, "controller",
                   directory.controller());
  world_->WatchPeers(controller_->local_id());
  // On the controller's worker, so that an answer takes no other thread.
  world_->Register(this, {-1, 0, -1}, "client", directory.client(kClient));
  for (int i = 0; i < topology_.num_islands(); ++i) {
    schedulers_.push_back(std::make_unique<IslandScheduler>(
        world_.get(), &directory, i, options_.ticket_order));
    world_->Register(schedulers_.back().get(), {topology_.first_host(i), i, i},
                     topology_.IslandName(i) + "/scheduler",
                     directory.scheduler(i));
  }
  int worker = 0;
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    RegisterHost(h, worker);
    worker += topology_.num_host_devices(h);
  }
}

void Runtime::Impl::RegisterHost(int h, int worker) {
  const int island = topology_.island_of_host(h);
  HostActors& actors = host_actors_.emplace_back();
  executors_.push_back(std::make_unique<HostExecutor>(&context_, &actors, h));
  actors.executor = world_->Register(
      executors_.back().get(), {h, worker, island},
      topology_.HostName(h) + "/executor", context_.directory.executor(h));
  devices_.emplace_back();
  // Devices of the host that share a worker. In a simulation whose workers
  // nobody asked for each has its own, so that more may come between them.
  const bool alone = sim_ != nullptr && options_.workers == 0;
  std::map<int, uint32_t> cohort_of;
  const size_t first_cohort = cohorts_.size();
  for (int d = 0; d < topology_.num_host_devices(h); ++d, ++worker) {
    const int64_t device = topology_.first_device(h) + d;
    const auto [cohort, fresh] = cohort_of.try_emplace(
        alone ? d : worker % world_->num_workers(), cohort_of.size());
    if (fresh) cohorts_.emplace_back(world_->kernel_gate(worker));
    actors.cohorts.push_back(cohort->second);
    devices_[h].push_back(std::make_unique<Device>(
        world_.get(), &actors, &cohorts_[first_cohort + cohort->second], h, d,
        device, options_.run_kernels, &context_.limits));
    actors.devices.push_back(
        world_->Register(devices_[h].back().get(), {h, worker, island},
                         topology_.DeviceName(island, device)));
  }
}

void Runtime::Impl::OnControl(ActorId from, std::string_view bytes) {
  const std::optional<proto::Control> read = ReadControl(
      context_.directory, from, context_.directory.client(kClient), bytes);
  if (!read.has_value()) return;
  const proto::Control& control = *read;
  switch (control.kind_case()) {
    case proto::Control::kAnswer:
      return Answer(
          control.answer().request(),
          absl::Status(static_cast<absl::StatusCode>(control.answer().code()),
                       control.answer().message()),
          control.answer().program());
    case proto::Control::kLaunchEnded:
      return LaunchEnded(control.launch_ended());
    case proto::Control::kPartData:
      return Deliver(control.part_data());
    default:
      return;
  }
}

void Runtime::Impl::Answer(uint64_t id, absl::Status status, uint64_t program) {
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    auto found = requests_.find(id);
    if (found == requests_.end()) return;
    request = std::move(found->second);
    requests_.erase(found);
  }
  request->status = std::move(status);
  request->program = program;
  if (request->done.Set()) world_->Notify();
}

absl::Status Runtime::Impl::WaitFor(Completion& done, const std::string& what) {
  done.Await();
  auto over = [&] {
    return done.load() || stopping_.load(std::memory_order_relaxed);
  };
  // So many diagnoses end at least one launch, if there is one.
  int64_t diagnoses = 0;
  while (!world_->RunUntil(over)) {
    if (stopping_.load() || sim_ == nullptr) break;
    // What this waits for may wait for a launch that another thread has not
    // sent yet.
    {
      MutexLock launching(&launch_mutex_);
    }
    if (world_->RunUntil(over)) break;
    int64_t limit;
    {
      MutexLock lock(&mutex_);
      limit = StallDetector::kAsks * (3 + static_cast<int64_t>(runs_.size()));
    }
    if (++diagnoses > limit) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, " got no answer, and nothing is left to happen"));
    }
    std::shared_ptr<Request> diagnosis =
        Ask([](uint64_t id, proto::Control* control) {
          control->mutable_diagnose_request()->set_request(id);
        });
    diagnosis->done.Await();
    world_->RunUntil([&] { return diagnosis->done.load() || over(); });
  }
  if (done.load()) return absl::OkStatus();
  return ShutDown();
}

absl::StatusOr<ProgramHandle> Runtime::Impl::Load(PlanData plan,
                                                  const std::string& client) {
  Call call(this);
  TracedCall traced(this, TraceCall::kLoad);
  absl::Status checked = CheckPlan(plan);
  if (!checked.ok()) return checked;
  // What was released makes room.
  checked = AwaitReleases();
  if (!checked.ok()) return checked;
  const std::string name = plan.tables.header().program();
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
      PreparedPlan::Create(
          std::move(plan), topology_,
          options_.kernels != nullptr ? options_.kernels : &plan_kernels_,
          options_.run_kernels);
  if (!prepared.ok()) return prepared.status();
  const uint64_t plan_id = context_.plans.Add(*prepared);
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_load_request()->set_request(id);
        control->mutable_load_request()->set_plan(plan_id);
        control->mutable_load_request()->set_client(client);
      });
  absl::Status waited =
      WaitFor(request->done, absl::StrCat("the load of program '", name, "'"));
  if (!waited.ok()) return waited;
  if (!request->status.ok()) return request->status;
  Program program{*prepared, client, {}, {}};
  if (options_.run_kernels) {
    const proto::Plan& tables = (*prepared)->plan();
    for (const proto::Argument& argument : tables.interface().arguments()) {
      program.arguments.push_back(MakeArrayPlacement(
          **prepared, topology_, tables.actions(argument.action()).results(0),
          argument.stepped()));
    }
    for (const proto::Result& result : tables.interface().results()) {
      program.results.push_back(MakeArrayPlacement(
          **prepared, topology_, tables.actions(result.action()).operands(0),
          result.stepped()));
    }
  }
  MutexLock lock(&mutex_);
  programs_[request->program] = std::move(program);
  return ProgramHandle{request->program};
}

absl::Status Runtime::Impl::Unload(uint64_t program) {
  Call call(this);
  {
    MutexLock lock(&mutex_);
    if (programs_.count(program) == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("program ", program, " is not loaded"));
    }
  }
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_unload_request()->set_request(id);
        control->mutable_unload_request()->set_program(program);
      });
  absl::Status waited =
      WaitFor(request->done, absl::StrCat("the unload of program ", program));
  if (!waited.ok()) return waited;
  if (request->status.ok()) {
    MutexLock lock(&mutex_);
    programs_.erase(program);
  }
  return request->status;
}

absl::Status Runtime::Impl::ReleaseClient(const std::string& client) {
  std::vector<uint64_t> programs, runs, arrays;
  {
    MutexLock lock(&mutex_);
    for (const auto& [id, run] : runs_) {
      if (run->client != client) continue;
      if (!run->done.load()) {
        return absl::FailedPreconditionError(
            absl::StrCat("client '", client, "' still runs program '",
                         run->plan->name(), "'"));
      }
      runs.push_back(id);
    }
    for (const auto& [id, program] : programs_) {
      if (program.client == client) programs.push_back(id);
    }
    for (const auto& [id, array] : arrays_) {
      if (array.client == client) arrays.push_back(id);
    }
  }
  for (uint64_t run : runs) {
    absl::Status released = ReleaseRun(run);
    if (!released.ok()) return released;
  }
  for (uint64_t program : programs) {
    absl::Status unloaded = Unload(program);
    if (!unloaded.ok()) return unloaded;
  }
  for (uint64_t array : arrays) {
    absl::Status released = Release(array);
    if (!released.ok() && !absl::IsNotFound(released)) return released;
  }
  return absl::OkStatus();
}

RuntimeStats Runtime::Impl::Stats() {
  Call call(this);
  (void)AwaitReleases();  // shut down: what is left goes with the runtime
  RuntimeStats stats;
  uint64_t sent[kNumMessageKinds] = {};
  for (int h = 0; h < topology_.num_hosts(); ++h) {
    const HostCounters& host = executors_[h]->counters();
    RuntimeStats::Host out;
    out.name = topology_.HostName(h);
    out.own_shards = host.own_shards.get();
    out.action_shards = host.entries.get();
    out.queue_entries = host.queue_entries.get();
    out.edge_entries = host.in_edges.get();
    out.messages_sent = host.messages.get();
    out.bytes_sent = host.bytes.get();
    out.duplicates_dropped = host.duplicates.get();
    out.stale_dropped = host.stale.get();
    out.memory_used_bytes = executors_[h]->host_arena().used();
    // Read at two times: programs may come between.
    const uint64_t programs = host.program_bytes.get();
    out.object_bytes =
        out.memory_used_bytes - std::min(out.memory_used_bytes, programs);
    stats.object_bytes += out.object_bytes;
    for (int k = 0; k < kNumMessageKinds; ++k) sent[k] += host.sent[k].get();
    stats.hosts.push_back(std::move(out));
    for (size_t d = 0; d < devices_[h].size(); ++d) {
      const DeviceCounters& device = devices_[h][d]->counters();
      const Arena& arena = executors_[h]->arena(static_cast<int>(d));
      RuntimeStats::Device one;
      one.name = arena.name();
      one.memory_bytes = arena.bound();
      one.used_bytes = arena.used();
      one.peak_bytes = arena.peak();
      one.gangs_run = device.gangs.get();
      one.kernels_run = device.kernels.get();
      one.fed_bytes = device.fed_bytes.get();
      one.fetched_bytes = device.fetched_bytes.get();
      stats.firings += device.firings.get();
      for (int k = 0; k < kNumMessageKinds; ++k) {
        sent[k] += device.sent[k].get();
      }
      stats.devices.push_back(std::move(one));
    }
  }
  for (int k = 1; k < kNumMessageKinds; ++k) {
    stats.messages.emplace_back(MessageKindName(k), sent[k]);
  }
  stats.controller_messages = controller_->messages_received();
  stats.steps_done = controller_->steps_done();
  stats.programs = controller_->programs();
  {
    MutexLock lock(&mutex_);
    stats.object_bytes += client_memory_.used();
  }
  for (int w = 0; threads_ != nullptr && w < threads_->num_workers(); ++w) {
    stats.worker_wakeups += threads_->stats(w).sleeps;
  }
  if (sim_ != nullptr) {
    stats.events = sim_->events();
    stats.event_hash = sim_->event_hash();
  }
  stats.now_ns = world_->Now();
  return stats;
}

absl::Status Runtime::Impl::WriteTrace(std::ostream* out) {
  Call call(this);
  if (trace_ == nullptr) return NotTraced();
  TraceFacts facts;
  facts.simulated = sim_ != nullptr;
  facts.seed = options_.seed;
  facts.workers = world_->num_workers();
  facts.topology = FormatTopology(topology_);
  WriteChromeTrace(trace_->Read(), facts, out);
  return absl::OkStatus();
}

absl::StatusOr<TraceSummary> Runtime::Impl::Summarize() {
  Call call(this);
  if (trace_ == nullptr) return NotTraced();
  return SummarizeTrace(trace_->Read());
}

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runtime::~Runtime() = default;

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(
    const proto::Cluster& cluster, const RuntimeOptions& options) {
  absl::StatusOr<std::unique_ptr<Impl>> impl = Impl::Create(cluster, options);
  if (!impl.ok()) return impl.status();
  return std::unique_ptr<Runtime>(new Runtime(*std::move(impl)));
}

absl::StatusOr<ProgramHandle> Runtime::Load(PlanData plan,
                                            const std::string& client) {
  return impl_->Load(std::move(plan), client);
}
absl::Status Runtime::Unload(ProgramHandle program) {
  return impl_->Unload(program.id);
}
absl::StatusOr<RunHandle> Runtime::Launch(ProgramHandle program,
                                          std::vector<LaunchArgument> arguments,
                                          int64_t steps) {
  return impl_->Launch(program.id, std::move(arguments), steps);
}
absl::Status Runtime::Await(RunHandle run) { return impl_->Await(run.id); }
absl::StatusOr<HostArray> Runtime::Fetch(RunHandle run, int64_t result) {
  return impl_->Fetch(run.id, result);
}
absl::StatusOr<HostArray> Runtime::Fetch(RunHandle run,
                                         const std::string& result) {
  absl::StatusOr<int64_t> index = impl_->ResultIndex(run.id, result);
  if (!index.ok()) return index.status();
  return impl_->Fetch(run.id, *index);
}
absl::StatusOr<ArrayHandle> Runtime::Keep(RunHandle run, int64_t result,
                                          const std::string& client) {
  return impl_->Keep(run.id, result, client);
}
absl::Status Runtime::ReleaseRun(RunHandle run) {
  return impl_->ReleaseRun(run.id);
}
absl::StatusOr<ArrayHandle> Runtime::Put(HostArray array,
                                         const std::string& client) {
  return impl_->Put(std::move(array), client);
}
absl::StatusOr<HostArray> Runtime::Get(ArrayHandle array) {
  return impl_->Get(array.id);
}
absl::Status Runtime::Release(ArrayHandle array) {
  return impl_->Release(array.id);
}
absl::Status Runtime::ReleaseClient(const std::string& client) {
  return impl_->ReleaseClient(client);
}
RuntimeStats Runtime::Stats() { return impl_->Stats(); }
absl::Status Runtime::WriteTrace(std::ostream* out) {
  return impl_->WriteTrace(out);
}
absl::StatusOr<TraceSummary> Runtime::Summarize() { return impl_->Summarize(); }
void Runtime::Shutdown() { impl_->Shutdown(); }

}  // namespace pathways
