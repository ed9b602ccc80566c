//===- run_scenario.h - Runs a scenario once --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_RUN_SCENARIO_H_
#define UNITTESTS_RUNTIME_SIMULATE_RUN_SCENARIO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/client/cluster_stats.h"
#include "runtime/proto/status.pb.h"
#include "runtime/topology/topology.h"
#include "unittests/runtime/simulate/scenario.pb.h"
#include "unittests/runtime/simulate/tenant.h"

namespace pathways::simulate {

// A run that needs more than this does not end.
inline constexpr uint64_t kMaxEvents = 3'000'000;
// Calls wait for ten minutes each, one after the other, when a host is silent.
inline constexpr TimeNs kMaxTimeNs = 4 * 3'600'000'000'000;

// A fault that happened, and the places that it hit (Placement::host); none:
// any may be.
struct Hit {
  proto::Fault fault;
  std::set<int32_t> hosts;
  std::string during;  // what the cluster was at
};
// Returns the name of a fault in a schedule.
std::string NameOf(const proto::Fault& fault);

struct RunRecord {
  std::map<std::string, std::map<uint32_t, Outcome>> outcomes;  // by tenant
  std::vector<Hit> hits;
  std::map<std::string, absl::Status> dead;  // tenants, and why
  std::vector<Report::Span> spans;           // by the time of their ends
  bool ended = false;                        // all calls did, within the bounds
  std::vector<std::string> broken;           // rules, found while it ran
  // At the end, when all clients are gone.
  absl::Status counted;  // error of the statistics
  ClusterStats stats;
  proto::ControllerStatus controller;
  uint64_t events = 0, hash = 0;
  TimeNs now_ns = 0;
};

// Objects that all runs of a scenario share.
struct Prepared {
  Topology topology;
  proto::Cluster cluster;
  std::vector<proto::Plan> plans;        // by program
  std::vector<std::set<int32_t>> hosts;  // by program
  std::vector<std::set<int>> vague;      // results, by program
};
// InvalidArgument: the scenario makes no sense.
absl::StatusOr<Prepared> Prepare(const Scenario& scenario);

RunRecord RunScenario(const Scenario& scenario, const Prepared& prepared);
// Has it print what is said by control messages, and what happens to peers.
inline bool log_messages = false;
// Each tenant alone, without a fault.
RunRecord RunAlone(const Scenario& scenario, const Prepared& prepared);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_RUN_SCENARIO_H_
