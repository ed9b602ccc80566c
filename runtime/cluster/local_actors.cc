//===- local_actors.cc - The actors of a process --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/local_actors.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace pathways {

LocalActors::LocalActors(RuntimeContext* context, const ClusterOptions& options,
                         ClientPlaces places)
    : context_(*context) {
  World& world = *context_.world;
  const Directory& directory = context_.directory;
  if (directory.place(-1).process == context_.process) AddController(options);
  int worker = 0;
  for (int h = 0; h < context_.topology->num_hosts(); ++h) {
    if (directory.place(h).process != context_.process) continue;
    AddHost(h, worker, options);
    worker += context_.topology->num_host_devices(h);
  }
  // Clients share the controller's worker, so that an answer needs no other
  // thread.
  for (uint32_t c = places.first; c < places.first + places.count; ++c) {
    clients_.emplace_back(&world, &directory, &context_.controls, c);
    world.Register(&clients_.back(), {places.host, 0, -1},
                   absl::StrCat("client", c), directory.client(c));
    world.peers().WatchPeers(clients_.back().local_id());
  }
}

void LocalActors::AddController(const ClusterOptions& options) {
  World& world = *context_.world;
  const Topology& topology = *context_.topology;
  const Directory& directory = context_.directory;
  ControllerOptions how;
  how.stall_timeout_ns = options.stall_timeout_ns;
  how.answer_timeout_ns = options.answer_timeout_ns > 0
                              ? options.answer_timeout_ns
                              : options.stall_timeout_ns;
  // CheckOptions has checked the name.
  how.policy = *MakePolicy(options.policy);
  controller_ = std::make_unique<Controller>(&context_, std::move(how));
  world.Register(controller_.get(), {-1, 0, -1}, "controller",
                 directory.controller());
  world.peers().WatchPeers(controller_->local_id());
  for (int i = 0; i < topology.num_islands(); ++i) {
    schedulers_.push_back(std::make_unique<IslandScheduler>(
        &world, &directory, &context_.controls, i, options.ticket_order));
    // A scheduler is placed on its island if that is in this process.
    const int first = topology.first_host(i);
    const bool is_near = directory.place(first).process == context_.process;
    world.Register(schedulers_.back().get(), {is_near ? first : -1, i, i},
                   topology.IslandName(i) + "/scheduler",
                   directory.scheduler(i));
  }
}

void LocalActors::AddHost(int h, int worker, const ClusterOptions& options) {
  World& world = *context_.world;
  const Topology& topology = *context_.topology;
  const int island = topology.island_of_host(h);
  const uint32_t epoch = context_.directory.place(h).epoch;
  Host& host = hosts_.emplace_back();
  host.number = h;
  host.executor = std::make_unique<HostExecutor>(&context_, &host.actors, h);
  host.actors.executor = world.Register(
      host.executor.get(), {h, worker, island, epoch},
      topology.HostName(h) + "/executor", context_.directory.executor(h));
  world.peers().WatchPeers(host.actors.executor);
  // A cohort has the devices of the host that share a worker. In a simulation
  // with the default workers, each device is a cohort, so that more events may
  // interleave.
  const bool alone = world.simulated() && options.workers == 0;
  std::map<int, uint32_t> cohort_of;
  for (int d = 0; d < topology.num_host_devices(h); ++d, ++worker) {
    const int64_t device = topology.first_device(h) + d;
    const auto [cohort, fresh] = cohort_of.try_emplace(
        alone ? d : worker % world.num_workers(), cohort_of.size());
    if (fresh) {
      host.cohorts.emplace_back(world.kernels().kernel_gate(worker),
                                world.spins());
    }
    host.actors.cohorts.push_back(cohort->second);
    host.devices.push_back(std::make_unique<Device>(
        &world, &host.actors, &host.cohorts[cohort->second], h, d,
        topology.GlobalDevice({h, d}), *context_.backends, &context_.limits));
    host.actors.devices.push_back(
        world.Register(host.devices.back().get(), {h, worker, island, epoch},
                       topology.DeviceName(island, device)));
  }
}

void LocalActors::StopSpilling() {
  for (const Host& host : hosts_) host.executor->StopSpilling();
}

void LocalActors::StartTrace(Trace* trace) {
  const Topology& topology = *context_.topology;
  if (controller_ != nullptr) {
    trace->AddActor(controller_->local_id(),
                    {TraceActor::kController, -1, -1, -1, "controller"});
  }
  for (int i = 0; i < static_cast<int>(schedulers_.size()); ++i) {
    trace->AddActor(schedulers_[i]->local_id(),
                    {TraceActor::kScheduler, i, topology.first_host(i), -1,
                     topology.IslandName(i)});
    schedulers_[i]->StartTrace(trace->ring(i));
  }
  int worker = 0;
  for (const Host& host : hosts_) {
    const int h = host.number;
    const int island = topology.island_of_host(h);
    trace->AddActor(host.executor->local_id(), {TraceActor::kExecutor, island,
                                                h, -1, topology.HostName(h)});
    host.executor->StartTrace(trace->ring(worker));
    for (size_t d = 0; d < host.devices.size(); ++d, ++worker) {
      const int64_t device = topology.first_device(h) + d;
      trace->AddActor(host.devices[d]->local_id(),
                      {TraceActor::kDevice, island, h, device,
                       topology.DeviceName(island, device)});
      host.devices[d]->StartTrace(trace->ring(worker));
    }
  }
}

const LocalActors::Host* LocalActors::FindHost(int number) const {
  auto host = std::lower_bound(
      hosts_.begin(), hosts_.end(), number,
      [](const Host& one, int wanted) { return one.number < wanted; });
  return host != hosts_.end() && host->number == number ? &*host : nullptr;
}

ClientActor* LocalActors::TakeClient(const std::string& name) {
  for (ClientActor& client : clients_) {
    if (client.Attach(name)) return &client;
  }
  return nullptr;
}

std::vector<const ClientActor*> LocalActors::LeavingClients(
    const std::string& name) {
  std::vector<const ClientActor*> leaving;
  for (ClientActor& client : clients_) {
    if (client.leaving(name)) leaving.push_back(&client);
  }
  return leaving;
}

}  // namespace pathways
