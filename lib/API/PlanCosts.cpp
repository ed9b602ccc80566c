//===- PlanCosts.cpp - Costs of compiled programs -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/PlanCosts.h"

#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/memory.h"
#include "runtime/binding/plan_cost.h"
#include "runtime/plan/expand_loops.h"
#include "runtime/plan/verify.h"
#include "runtime/topology/topology.h"

using namespace pathways;

static DeviceCosts toDeviceCosts(const PlanCost::Device &cost,
                                 std::string name) {
  const MemoryNeed &need = cost.need;
  return {.device = std::move(name),
          .peak_bytes = cost.bytes,
          .memory = {need.least, need.credits, need.kept, need.alignment,
                     need.packing, need.scratch},
          .shards = cost.shards,
          .gangs = cost.gang_entries,
          .busy_ns = cost.ns};
}

static PlanCosts toPlanCosts(const PlanCost &cost, const Topology &topology) {
  PlanCosts costs;
  for (const auto &[place, device] : cost.devices) {
    const int64_t global =
        topology.GlobalDevice(static_cast<int>(place.first), place.second);
    costs.devices.push_back(
        toDeviceCosts(device, topology.GlobalDeviceName(global)));
    costs.peak_bytes = std::max(costs.peak_bytes, device.bytes);
    costs.total_bytes += device.bytes;
  }
  const auto nameOf = [&](uint32_t island) {
    return topology.IslandName(static_cast<int>(island));
  };
  for (const auto &[island, bytes] : cost.ici_bytes) {
    costs.ici_bytes += bytes;
    costs.links.push_back({nameOf(island), nameOf(island), bytes});
  }
  for (const auto &[islands, bytes] : cost.dcn_bytes) {
    costs.dcn_bytes += bytes;
    costs.links.push_back(
        {nameOf(islands.first), nameOf(islands.second), bytes});
  }
  for (const auto &[argument, bytes] : cost.copied)
    costs.copied.push_back({argument, bytes});
  costs.not_counted = cost.not_counted;
  return costs;
}

/// Returns the time of a launch in a session that only costs, by step.
static Result<int64_t>
simulateSteps(const Plan &plan, const std::string &topology, int64_t steps) {
  SessionOptions options;
  options.topology = topology;
  options.run.world = RunOptions::kSim;
  options.run.run_kernels = false;
  Result<Session> session = Session::open(options);
  if (!session)
    return session.error();
  Result<Executable> executable = session->load(plan);
  if (!executable)
    return executable.error();
  Result<std::vector<PortInfo>> ports = plan.arguments();
  if (!ports)
    return ports.error();
  std::vector<Argument> arguments;
  for (const PortInfo &port : *ports) {
    HostArray values{port.element, port.shape, {}};
    if (port.stepped)
      values.shape.insert(values.shape.begin(), steps);
    arguments.emplace_back(std::move(values));
  }
  const int64_t begin = session->now();
  Result<Run> run = executable->launchPositional(std::move(arguments), steps);
  if (!run)
    return run.error();
  if (Status status = run->await(); !status)
    return status.error();
  return (session->now() - begin) / steps;
}

Result<PlanCosts> Plan::costs(const CostOptions &options) const {
  if (!state)
    return makeEmptyError("plan");
  if (options.steps < 0)
    return Error{ErrorCode::kInvalidArgument,
                 "the number of steps is " + std::to_string(options.steps) +
                     ", expected at least 0"};
  const absl::StatusOr<Topology> topology = Topology::Read(options.topology);
  if (!topology.ok())
    return makeError(ErrorCode::kInvalidArgument, topology.status());
  if (absl::Status status = CheckPlan(state->data); !status.ok())
    return makeError(ErrorCode::kInvalidArgument, status);
  proto::Plan withoutLoops;
  if (!state->data.tables.loops().empty())
    withoutLoops = WithoutLoops(state->data.tables);
  const proto::Plan &tables =
      state->data.tables.loops().empty() ? state->data.tables : withoutLoops;
  if (absl::Status status = CheckFits(tables, *topology); !status.ok())
    return makeError(ErrorCode::kRefused, status);
  PlanCosts costs;
  if (!HasMemoryFor(
          [&] { costs = toPlanCosts(CostOf(tables, *topology), *topology); }))
    return makeMemoryError("plan '" + name() + "'", "its costs");
  if (options.steps == 0)
    return costs;
  Result<int64_t> time = simulateSteps(*this, options.topology, options.steps);
  if (!time)
    return time.error();
  costs.step_ns = *time;
  return costs;
}
