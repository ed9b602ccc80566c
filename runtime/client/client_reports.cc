//===- client_reports.cc - What processes tell a client -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "runtime/client/client.h"
#include "runtime/trace/trace_message.h"

namespace pathways {

absl::StatusOr<std::shared_ptr<Request>> Client::Collect(bool trace) {
  auto request = std::make_shared<Request>();
  request->reports.emplace();
  Ask(
      [&](uint64_t id, proto::Control* control) {
        control->mutable_collect_request()->set_request(id);
        control->mutable_collect_request()->set_trace(trace);
      },
      request);
  absl::Status waited = WaitFor(
      request->done, [&] { return trace ? "the trace" : "the statistics"; });
  if (waited.ok()) waited = request->status;
  if (!waited.ok()) return waited;
  return request;
}

absl::StatusOr<ClusterStats> Client::Stats() {
  const TimeNs now = context_.runtime->world->Now();
  absl::Status released = AwaitReleases();
  if (!released.ok()) return released;
  absl::StatusOr<std::shared_ptr<Request>> request = Collect(/*trace=*/false);
  if (!request.ok()) return request.status();
  std::vector<const proto::ProcessStats*> processes;
  for (const auto& parts : (*request)->reports->Parts()) {
    processes.push_back(&parts.front()->stats());
  }
  ClusterStats stats = JoinStats(processes);
  stats.now_ns = now;
  MutexLock lock(&mutex_);
  stats.object_bytes += arrays_.bytes_used();
  return stats;
}

absl::Status Client::ReadTrace(TraceLog* log, TraceFacts* facts) {
  if (context_.runtime->trace == nullptr) {
    return absl::FailedPreconditionError(
        "nothing was traced: the cluster's options have no trace_events");
  }
  absl::StatusOr<std::shared_ptr<Request>> request = Collect(/*trace=*/true);
  if (!request.ok()) return request.status();
  std::vector<TraceLog> logs;
  for (const auto& parts : (*request)->reports->Parts()) {
    std::vector<const proto::ProcessTrace*> messages;
    for (const proto::Collected* part : parts) {
      messages.push_back(&part->trace());
    }
    absl::StatusOr<TraceLog> one = ReadTraceMessages(messages);
    if (!one.ok()) return one.status();
    logs.push_back(*std::move(one));
    const proto::ProcessTrace& first = *messages.front();
    facts->simulated = first.simulated();
    facts->seed = first.seed();
    facts->workers += static_cast<int>(first.workers());
  }
  facts->topology = FormatTopology(*context_.runtime->topology);
  *log = JoinTraceLogs(std::move(logs));
  return absl::OkStatus();
}

absl::Status Client::WriteTrace(std::ostream* out) {
  TraceLog log;
  TraceFacts facts;
  absl::Status read = ReadTrace(&log, &facts);
  if (!read.ok()) return read;
  WriteChromeTrace(log, facts, out);
  return absl::OkStatus();
}

absl::StatusOr<TraceSummary> Client::Summarize() {
  TraceLog log;
  TraceFacts facts;
  absl::Status read = ReadTrace(&log, &facts);
  if (!read.ok()) return read;
  return SummarizeTrace(log);
}

}  // namespace pathways
