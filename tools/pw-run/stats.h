//===- stats.h - What a run did, as a table or JSON -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_STATS_H_
#define TOOLS_PW_RUN_STATS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/client/cluster_stats.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/trace/summary.h"

namespace pathways::pw_run {

// Why there is no trace of a cluster that others have started.
inline constexpr char kUntraced[] =
    "the cluster traces nothing; its controller's --trace-events lets it";

struct RunFacts {
  int64_t plan_bytes = 0;  // of the plan as a file
  int64_t steps = 0;
  bool simulated = false;
  // From the call that launched the run to its end, by the clock of this
  // process: virtual in a simulation.
  TimeNs launch_ns = 0;
};

// For people: a table of counts, which are the same in every run; of several
// processes, what crossed the links of each; then where the time went, if the
// cluster traces. Step time and devices are of all that ran; the critical path
// and waits are of the part that the trace has kept, which is said.
std::string StatsTable(const proto::Plan& plan, const ClusterStats& stats,
                       const std::optional<TraceSummary>& summary,
                       const RunFacts& facts);

// What a run in virtual time says of the machines and links that it was given:
// step time, utilization, bubbles, and what bounds the step. As StatsTable, the
// first three are of all that ran.
std::string CostsText(const ClusterStats& stats, const TraceSummary& summary,
                      const RunFacts& facts);

// One line: an object with "plan", "run", "costs", "messages", "hosts",
// "devices", "processes" and "time". "costs" has times of all that ran, those
// of devices null unless the cluster traces; "time" those of the part that the
// trace has kept, or null.
std::string StatsJson(const proto::Plan& plan, const ClusterStats& stats,
                      const std::optional<TraceSummary>& summary,
                      const RunFacts& facts);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_STATS_H_
