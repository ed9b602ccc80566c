//===- firing_cost.cc - Estimated time of a firing ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/firing_cost.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace pathways {
namespace {

double GangNs(const proto::Action& action) {
  constexpr double kUnknownNs = 1000;
  if (action.kind() != proto::GANG) return 0;
  return action.cost_ns() > 0 ? static_cast<double>(action.cost_ns())
                              : kUnknownNs;
}

}  // namespace

FiringCost CostOf(const PreparedPlan& plan) {
  const int count = plan.plan().actions_size();
  FiringCost cost;
  cost.total_ns = 0;
  std::vector<double> of_slice(plan.slices().size());
  // The earliest end of each action; the actions that it waits for come first.
  std::vector<double> over(static_cast<size_t>(count));
  double path_ns = 0;
  for (int a = 0; a < count; ++a) {
    const proto::Action& action = plan.plan().actions(a);
    double begin = 0;
    for (uint32_t e : plan.in_edges(static_cast<uint32_t>(a))) {
      const PreparedEdge& edge = plan.edges()[e];
      if (edge.tokens == 0) begin = std::max(begin, over[edge.from]);
    }
    over[static_cast<size_t>(a)] = begin + GangNs(action);
    path_ns = std::max(path_ns, over[static_cast<size_t>(a)]);
    if (action.kind() != proto::GANG) continue;
    cost.total_ns += GangNs(action);
    of_slice[action.slice()] += GangNs(action);
  }
  // The times of slices that share a device add up on that device.
  absl::flat_hash_map<int32_t, double> of_device;
  cost.bottleneck_ns = 1;
  for (size_t s = 0; s < of_slice.size(); ++s) {
    int32_t last = -1;
    for (const auto& [device, shard] :
         plan.bound(static_cast<uint32_t>(s)).by_device) {
      if (std::exchange(last, device) == device) continue;
      double& sum = of_device[device];
      sum += of_slice[s];
      cost.bottleneck_ns = std::max(cost.bottleneck_ns, sum);
    }
  }
  cost.total_ns = std::max(1.0, cost.total_ns);
  cost.fill_ns = std::max(0.0, path_ns - cost.bottleneck_ns);
  return cost;
}

}  // namespace pathways
