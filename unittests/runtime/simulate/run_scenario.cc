//===- run_scenario.cc - Runs a scenario once -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/run_scenario.h"

#include <cstdio>
#include <deque>

#include "absl/strings/str_cat.h"
#include "runtime/cluster/sim_cluster.h"
#include "runtime/faults/fault_schedule.h"
#include "runtime/proto/control.pb.h"
#include "unittests/runtime/simulate/fibers.h"
#include "unittests/runtime/simulate/gang_order.h"
#include "unittests/runtime/simulate/planted_bugs.h"
#include "unittests/runtime/simulate/programs.h"
#include "unittests/runtime/simulate/protocol_state.h"

namespace pathways::simulate {
namespace {

constexpr TimeNs kSettleNs = 60'000'000'000;

// Long enough that what was sent before has come.
constexpr TimeNs kLinkEndsNs = 1'000'000;

// Wakes those that sleep, and calls what is to be called later.
class Alarm final : public Actor {
 public:
  explicit Alarm(World* world) : world_(*world) {
    world_.Register(this, {-1, 0, -1}, "alarm");
  }
  void Set(TimeNs delay, std::function<void()> call = [] {}) {
    calls_.push_back(std::move(call));
    LocalMessage message;
    message.item = static_cast<uint32_t>(calls_.size()) - 1;
    world_.SendAfter(kNobody, local_id(), delay, message);
  }
  void OnLocal(const LocalMessage& message) override { calls_[message.item](); }

 private:
  World& world_;
  std::deque<std::function<void()>> calls_;
};

ClusterOptions OptionsOf(const Scenario& scenario, MixKernels* kernels) {
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  options.seed = scenario.seed();
  options.workers = scenario.workers();
  options.kernels = kernels;
  if (scenario.spill_above() > 0) {
    options.spill.folder = "disk";
    options.spill.begin = options.spill.end = scenario.spill_above();
  }
  if (scenario.sequential()) options.dispatch = ClusterOptions::kSequential;
  return options;
}

// One run: the cluster, a process for each tenant, and the calls of all.
class Running {
 public:
  Running(const Scenario& scenario, const Prepared& prepared)
      : scenario_(scenario), prepared_(prepared), bugs_(scenario.bug()) {}

  RunRecord Run() {
    if (!Open()) return std::move(record_);
    record_.ended = fibers_->Run([&] { return IsOver(); });
    if (!record_.ended) End();
    Settle();
    Note();
    return std::move(record_);
  }

 private:
  struct Member {
    const Tenant* tenant = nullptr;
    std::shared_ptr<FiberWorld> world;
    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<Client> client;
    std::unique_ptr<TenantRun> run;
    Report::Span at;  // the call that is under way; of NOTHING: none
    bool left = false;
  };

  bool Break(const std::string& what) {
    record_.broken.push_back(what);
    return false;
  }

  void Observe(const SimEvent& event) {
    order_.Observe(event);
    if (cluster_ != nullptr) {
      // Each fault begins in an event of its own, and this comes next.
      while (states_.size() < cluster_->faults().events().size()) {
        states_.push_back(StateOf(last_control_));
      }
    }
    if (event.control != nullptr) last_control_ = *event.control;
    if (log_messages) Log(event);
  }

  void Log(const SimEvent& event) const {
    const SimWorld& world = cluster_->world();
    const auto name = [&](LocalId actor) {
      return actor == kNobody ? std::string("-") : world.name(actor);
    };
    std::string what;
    if (event.control != nullptr) {
      proto::Control control;
      control.ParseFromString(*event.control);
      what = control.ShortDebugString();
    } else if (event.peer != nullptr) {
      what = absl::StrCat("host ", event.peer->peer.host, " life ",
                          event.peer->peer.epoch,
                          event.peer->is_up ? " up" : " down");
    } else {
      return;
    }
    std::printf("%lld %s -> %s: %s\n", static_cast<long long>(event.time),
                name(event.from).c_str(), name(event.to).c_str(), what.c_str());
  }

  bool IsOver() const {
    const SimWorld& world = cluster_->world();
    return world.events() > kMaxEvents || cluster_->world().Now() > kMaxTimeNs;
  }

  bool Open() {
    SimCluster::Parts parts;
    parts.faults = scenario_.faults();
    parts.apart = scenario_.apart();
    parts.clients_apart = scenario_.clients_apart();
    parts.on_client_death = [this](const std::string& name,
                                   const absl::Status& why) { Die(name, why); };
    ClusterOptions options = OptionsOf(scenario_, &kernels_);
    options.ticket_order = scenario_.bug() != kTicketOrderBug;
    options.edit_simulation = [this](SimOptions* sim) {
      sim->observer = [this](const SimEvent& event) { Observe(event); };
      if (!scenario_.bug().empty()) {
        sim->mutation = [this](SimDelivery& delivery) {
          return bugs_.Change(delivery);
        };
      }
    };
    absl::StatusOr<std::unique_ptr<SimCluster>> made =
        SimCluster::Create(prepared_.cluster, options, std::move(parts));
    if (!made.ok()) return Break(made.status().ToString());
    cluster_ = *std::move(made);
    SimWorld& world = cluster_->world();
    order_.Start(&world);
    bugs_.Start(&world, &prepared_.topology);
    alarm_ = std::make_unique<Alarm>(&world);
    fibers_ = std::make_unique<Fibers>(&world, Mix(scenario_.seed(), 5));
    for (int t = 0; t < scenario_.tenants_size(); ++t) {
      Member& member = members_.emplace_back();
      member.tenant = &scenario_.tenants(t);
      absl::StatusOr<std::unique_ptr<Cluster>> process =
          cluster_->OpenClients(static_cast<uint32_t>(t), member.tenant->name(),
                                [&](std::shared_ptr<World> shared) {
                                  member.world = std::make_shared<FiberWorld>(
                                      std::move(shared), fibers_.get());
                                  return member.world;
                                });
      if (!process.ok()) return Break(process.status().ToString());
      member.cluster = *std::move(process);
      fibers_->Add([this, &member] { Call(member); });
    }
    return true;
  }

  void Sleep(uint64_t ns) {
    SimWorld& world = cluster_->world();
    const TimeNs until = Later(world.Now(), static_cast<TimeNs>(ns));
    alarm_->Set(static_cast<TimeNs>(ns));
    fibers_->Wait([&] { return world.Now() >= until; });
  }

  void Call(Member& member) {
    const std::string& name = member.tenant->name();
    absl::StatusOr<std::unique_ptr<Client>> client = member.cluster->Connect(
        name,
        {.weight = member.tenant->weight() == 0 ? 1 : member.tenant->weight(),
         .priority = member.tenant->priority()});
    if (!client.ok()) {
      if (record_.dead.count(name) == 0 && !stopping_) {
        Break(absl::StrCat(name,
                           " is not connected: ", client.status().ToString()));
      }
      member.left = true;
      return;
    }
    member.client = *std::move(client);
    member.run = std::make_unique<TenantRun>(
        member.client.get(), *member.tenant, scenario_.undisturbed(),
        prepared_.plans, prepared_.vague, [this](uint64_t ns) { Sleep(ns); });
    member.run->Run(
        [&](const simulate::Call& call) { EndSpan(member, call.kind()); });
    EndSpan(member, NOTHING);
    member.left = true;
    record_.outcomes[name] = member.run->outcomes();
    member.run.reset();
    member.client.reset();
  }

  // The call that was under way is over, and one of this kind begins.
  void EndSpan(Member& member, Kind next) {
    const uint64_t controls = cluster_->world().stats().controls;
    member.at.set_end(controls);
    if (member.at.kind() != NOTHING) record_.spans.push_back(member.at);
    member.at.Clear();
    member.at.set_tenant(member.tenant->name());
    member.at.set_kind(next);
    member.at.set_begin(controls);
  }

  // In a handler.
  void Die(const std::string& name, const absl::Status& why) {
    for (size_t m = 0; m < members_.size(); ++m) {
      Member& member = members_[m];
      if (member.tenant->name() != name || member.left) continue;
      if (!record_.dead.try_emplace(name, why).second) continue;
      member.at.set_died(true);
      member.cluster->Shutdown(why);
      member.world->RetireAll();
      // No message of a process comes after the end of its link.
      alarm_->Set(kLinkEndsNs, [this, m] {
        cluster_->EndClients(static_cast<uint32_t>(m));
      });
    }
  }

  // Nobody gets an answer any more.
  void End() {
    stopping_ = true;
    for (Member& member : members_) {
      member.cluster->Shutdown(absl::CancelledError("the run is over"));
    }
    fibers_->Run([] { return false; });
  }

  // All that still happens by itself.
  void Settle() {
    SimWorld& world = cluster_->world();
    cluster_->faults().Stop();
    world.RunUntil([&] { return IsOver(); });
    if (IsOver()) {
      record_.ended = false;
      return;
    }
    // Lost messages are requested again.
    world.RunFor(kSettleNs);
    absl::StatusOr<std::unique_ptr<Client>> last =
        cluster_->front().Connect("the last one");
    if (!last.ok()) {
      Break(absl::StrCat("nobody can connect at the end: ",
                         last.status().ToString()));
      return;
    }
    absl::StatusOr<ClusterStats> stats = (*last)->Stats();
    record_.counted = stats.status();
    if (stats.ok()) record_.stats = *std::move(stats);
    last->reset();
    world.RunUntil([&] { return IsOver(); });
    absl::StatusOr<proto::ControllerStatus> status =
        cluster_->front().Describe(absl::Seconds(1));
    if (status.ok()) record_.controller = *std::move(status);
  }

  void Note() {
    const SimWorld& world = cluster_->world();
    for (const FaultDriver::Event& event : cluster_->faults().events()) {
      Hit hit;
      hit.fault = *event.fault;
      hit.hosts.insert(event.hosts.begin(), event.hosts.end());
      hit.during = record_.hits.size() < states_.size()
                       ? states_[record_.hits.size()]
                       : "idle";
      record_.hits.push_back(std::move(hit));
    }
    for (const std::string& wrong : order_.wrong()) Break(wrong);
    record_.events = world.events();
    record_.hash = world.event_hash();
    record_.now_ns = cluster_->world().Now();
  }

  const Scenario& scenario_;
  const Prepared& prepared_;
  RunRecord record_;
  bool stopping_ = false;
  std::string last_control_;
  std::vector<std::string> states_;  // by fault
  MixKernels kernels_;
  GangOrder order_;
  PlantedBugs bugs_;
  std::unique_ptr<SimCluster> cluster_;
  std::unique_ptr<Alarm> alarm_;
  std::unique_ptr<Fibers> fibers_;
  std::deque<Member> members_;
};

}  // namespace

std::string NameOf(const proto::Fault& fault) {
  const google::protobuf::OneofDescriptor* what =
      fault.GetDescriptor()->FindOneofByName("what");
  const google::protobuf::FieldDescriptor* field =
      fault.GetReflection()->GetOneofFieldDescriptor(fault, what);
  return field == nullptr ? "nothing" : field->name();
}

absl::StatusOr<Prepared> Prepare(const Scenario& scenario) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(scenario.cluster());
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<Topology> topology = Topology::Create(*cluster);
  if (!topology.ok()) return topology.status();
  if (absl::Status s = CheckFaults(scenario.faults(), "faults", *topology);
      !s.ok()) {
    return s;
  }
  Prepared prepared{*std::move(topology), *std::move(cluster), {}, {}, {}};
  for (const Program& program : scenario.programs()) {
    prepared.plans.push_back(PlanOf(program, prepared.topology));
    prepared.vague.push_back(
        VagueResults(prepared.plans.back(), program.even()));
    prepared.hosts.push_back(HostsOf(prepared.plans.back(), prepared.topology));
  }
  return prepared;
}

RunRecord RunScenario(const Scenario& scenario, const Prepared& prepared) {
  return Running(scenario, prepared).Run();
}

RunRecord RunAlone(const Scenario& scenario, const Prepared& prepared) {
  RunRecord all;
  all.ended = true;
  for (const Tenant& tenant : scenario.tenants()) {
    Scenario alone = scenario;
    alone.set_seed(1);
    alone.set_apart(false);
    alone.set_clients_apart(false);
    alone.set_workers(0);
    alone.clear_faults();
    alone.clear_bug();
    alone.set_undisturbed(true);
    alone.clear_tenants();
    *alone.add_tenants() = tenant;
    RunRecord one = RunScenario(alone, prepared);
    all.ended &= one.ended;
    all.outcomes.merge(one.outcomes);
    for (std::string& wrong : one.broken) all.broken.push_back(wrong);
    all.stats.firings += one.stats.firings;
    all.stats.steps_done += one.stats.steps_done;
  }
  return all;
}

}  // namespace pathways::simulate
