//===- stats.h - Statistics of a run, as a table or JSON --------*- C++ -*-===//
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

// Reason why a cluster that others have started has no trace.
inline constexpr char kUntraced[] =
    "the cluster records no events; start its controller with --trace-events";

struct RunFacts {
  int64_t plan_bytes = 0;  // size of the plan as a file
  int64_t steps = 0;
  bool simulated = false;
  // Time from the call that launched the run to its end, by the clock of this
  // process; virtual in a simulation.
  TimeNs launch_ns = 0;
};

// Returns text for people: a table of counts, which are the same in every run;
// for several processes, traffic on the links of each; then the use of time, if
// the cluster traces. Step time and devices cover the whole run; the critical
// path and waits cover the part that the trace has kept, and the text says so.
std::string StatsTable(const proto::Plan& plan, const ClusterStats& stats,
                       const std::optional<TraceSummary>& summary,
                       const RunFacts& facts);

// Returns what a run in virtual time says about the given machines and links:
// step time, utilization, bubbles, and what bounds the step. As in StatsTable,
// the first three cover the whole run.
std::string CostsText(const ClusterStats& stats, const TraceSummary& summary,
                      const RunFacts& facts);

// Returns one line: an object with "plan", "run", "costs", "messages", "hosts",
// "devices", "processes" and "time". "costs" has times of the whole run, those
// of devices null unless the cluster traces; "time" has those of the part that
// the trace has kept, or is null.
std::string StatsJson(const proto::Plan& plan, const ClusterStats& stats,
                      const std::optional<TraceSummary>& summary,
                      const RunFacts& facts);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_STATS_H_
