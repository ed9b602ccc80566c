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
#include <string>

#include "runtime/client/cluster_stats.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/trace/summary.h"

namespace pathways::pw_run {

struct RunFacts {
  int64_t plan_bytes = 0;  // of the plan as a file
  int64_t steps = 0;
  bool simulated = false;
};

// For people: a table of counts, which are the same in every run, then where
// the time went.
std::string StatsTable(const proto::Plan& plan, const ClusterStats& stats,
                       const TraceSummary& summary, const RunFacts& facts);

// One line: an object with "plan", "run", "messages", "hosts", "devices" and
// "time", which has what the table says of time.
std::string StatsJson(const proto::Plan& plan, const ClusterStats& stats,
                      const TraceSummary& summary, const RunFacts& facts);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_STATS_H_
