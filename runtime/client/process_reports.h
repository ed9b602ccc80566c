//===- process_reports.h - Reports of processes to a client -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PROCESS_REPORTS_H_
#define RUNTIME_CLIENT_PROCESS_REPORTS_H_

#include <memory>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/client/cluster_stats.h"
#include "runtime/client/control_channel.h"
#include "runtime/proto/control.pb.h"
#include "runtime/proto/profile.pb.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/summary.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Asks all processes of the cluster for their counters and traces, and joins
// what they report. Any thread may call it. All functions wait, and return the
// reason if the channel ends.
class ProcessReports {
 public:
  // The arguments outlive the reports.
  ProcessReports(ControlChannel* channel, const RuntimeContext* runtime)
      : channel_(*channel), runtime_(*runtime) {}

  // Returns the counts of all processes. `now_ns` is not set.
  absl::StatusOr<ClusterStats> Stats();
  // The next three read what was traced so far, and return FailedPrecondition
  // if nothing is traced. Client describes them.
  absl::Status WriteTrace(std::ostream* out);
  absl::StatusOr<TraceSummary> Summarize();
  absl::StatusOr<proto::Profile> Measure(const proto::Header& header);

 private:
  absl::StatusOr<std::shared_ptr<Request>> Collect(proto::Question question);
  // Returns the clocks of the other processes, relative to this one.
  absl::StatusOr<ProcessClocks> ReadClocks();
  absl::Status ReadTrace(TraceLog* log, TraceFacts* facts);

  ControlChannel& channel_;
  const RuntimeContext& runtime_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PROCESS_REPORTS_H_
