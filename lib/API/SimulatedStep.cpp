//===- SimulatedStep.cpp - Costs of a step of a plan ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedStep.h"

#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/memory.h"
#include "runtime/binding/memory_uses.h"
#include "runtime/binding/plan_cost.h"
#include "runtime/client/run_times.h"
#include "runtime/plan/expand_loops.h"

#include <algorithm>
#include <map>

using namespace pathways;

const ScheduleDevice *ScheduleCosts::largest() const {
  auto most = std::max_element(
      devices.begin(), devices.end(),
      [](const auto &a, const auto &b) { return a.peak_bytes < b.peak_bytes; });
  return most == devices.end() ? nullptr : &*most;
}

const ScheduleDevice *ScheduleCosts::overfull() const {
  auto first =
      std::find_if(devices.begin(), devices.end(), [](const auto &device) {
        return device.peak_bytes > device.memory_bytes;
      });
  return first == devices.end() ? nullptr : &*first;
}

/// Fills what the tables say; they have no loops and fit the machines.
static void fillFromTables(const proto::Plan &tables, const Topology &topology,
                           ScheduleCosts &costs) {
  const PlanCost cost = CostOf(tables, topology);
  for (const auto &[island, bytes] : cost.ici_bytes)
    costs.ici_bytes += bytes;
  for (const auto &[islands, bytes] : cost.dcn_bytes)
    costs.dcn_bytes += bytes;
  const std::vector<MemoryUses> uses = MemoryUsesOf(tables);
  std::map<std::pair<uint32_t, int64_t>, MemoryUses> ofDevices;
  for (int s = 0; s < tables.slices_size(); ++s)
    for (const BoundDevice &bound : DevicesOf(tables.slices(s))) {
      MemoryUses &sum = ofDevices[{bound.island, bound.device}];
      sum.parameters += uses[s].parameters;
      sum.kept += uses[s].kept;
      sum.arriving += uses[s].arriving;
    }
  for (const auto &[place, device] : cost.devices) {
    const int island = static_cast<int>(place.first);
    const MemoryUses &use = ofDevices[place];
    costs.devices.push_back({.device = topology.GlobalDeviceName(
                                 topology.GlobalDevice(island, place.second)),
                             .peak_bytes = device.bytes,
                             .memory_bytes = DeviceMemoryBytes(
                                 topology.device(island, place.second)),
                             .parameter_bytes = use.parameters,
                             .kept_bytes = use.kept,
                             .arriving_bytes = use.arriving});
  }
}

/// Runs one step of `plan` in a simulation that computes no values, and returns
/// its times.
static absl::StatusOr<RunTimes> runStep(const Plan &plan,
                                        const proto::Cluster &machines,
                                        const std::vector<PortInfo> &ports) {
  ClusterOptions options;
  options.world = RunOptions::kSim;
  options.run_kernels = false;
  options.trace_events = 1; // devices then measure their times
  auto cluster = Cluster::Create(machines, options);
  if (!cluster.ok())
    return cluster.status();
  auto client = (*cluster)->Connect("simulation");
  if (!client.ok())
    return client.status();
  const PlanData &data = plan.getState()->data;
  auto program = (*client)->Load(data);
  if (!program.ok())
    return program.status();
  auto constants = ProgramConstants::Put(client->get(), data);
  if (!constants.ok())
    return constants.status();
  LaunchArguments arguments;
  for (const PortInfo &port : ports) {
    HostArray values{port.element, port.shape, {}};
    if (port.stepped)
      values.shape.insert(values.shape.begin(), 1);
    arguments.emplace_back(std::move(values));
  }
  const TimeNs begin = (*cluster)->Now();
  auto run =
      (*client)->Launch(*program, constants->Complete(std::move(arguments)), 1);
  if (!run.ok())
    return run.status();
  if (absl::Status status = (*client)->Await(*run); !status.ok())
    return status;
  const TimeNs launch = (*cluster)->Now() - begin;
  auto stats = (*client)->Stats();
  if (!stats.ok())
    return stats.status();
  return TimesOf(*stats, /*steps=*/1, launch);
}

/// Returns the machines with memory for any plan.
static proto::Cluster withMemory(proto::Cluster machines) {
  for (proto::Island &island : *machines.mutable_islands())
    for (proto::Host &host : *island.mutable_hosts())
      for (proto::Device &device : *host.mutable_devices())
        device.set_memory_bytes(kMaxMemoryBytes);
  return machines;
}

Status pathways::simulateStep(const Plan &plan, const Topology &topology,
                              ScheduleCosts &costs) {
  Result<std::vector<PortInfo>> ports = plan.arguments();
  if (!ports)
    return ports.error();
  // Loading checks the plan, so the tables obey all rules from here on.
  absl::StatusOr<RunTimes> times =
      runStep(plan, withMemory(topology.cluster()), *ports);
  if (!times.ok())
    return makeError(ErrorCode::kRunFailed, times.status());
  costs.step_ns = times->step();
  costs.period_ns = times->period;
  costs.bubble = times->Bubble(times->step());
  costs.period_bubble = times->Bubble(times->period);
  const proto::Plan *tables = &plan.getState()->data.tables;
  proto::Plan withoutLoops;
  if (!tables->loops().empty()) {
    withoutLoops = WithoutLoops(*tables);
    tables = &withoutLoops;
  }
  if (!HasMemoryFor([&] { fillFromTables(*tables, topology, costs); }))
    return makeMemoryError("plan '" + plan.name() + "'", "its costs");
  return {};
}
