//===- process_reports.cc - Reports of processes to a client --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/process_reports.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/trace/measure.h"
#include "runtime/trace/trace_message.h"

namespace pathways {
namespace {

// Round trips to measure clocks; the shortest one counts.
constexpr int kClockRounds = 16;

}  // namespace

absl::StatusOr<std::shared_ptr<Request>> ProcessReports::Collect(
    proto::Question question) {
  auto request = std::make_shared<Request>();
  request->reports.emplace();
  channel_.Ask(
      [&](uint64_t id, proto::Control* control) {
        control->mutable_collect_request()->set_request(id);
        control->mutable_collect_request()->set_question(question);
      },
      request);
  absl::Status waited = channel_.WaitFor(request->done, [&] {
    return question == proto::TRACED ? "the trace"
           : question == proto::TIME ? "the time of other processes"
                                     : "the statistics";
  });
  if (waited.ok()) waited = request->TakeStatus();
  if (!waited.ok()) return waited;
  return request;
}

absl::StatusOr<ClusterStats> ProcessReports::Stats() {
  absl::StatusOr<std::shared_ptr<Request>> request = Collect(proto::COUNTS);
  if (!request.ok()) return request.status();
  std::vector<const proto::ProcessStats*> processes;
  for (const auto& parts : (*request)->reports->Parts()) {
    // A process that is gone has no counts.
    if (!parts.front()->has_stats()) continue;
    processes.push_back(&parts.front()->stats());
  }
  return JoinStats(processes);
}

absl::StatusOr<ProcessClocks> ProcessReports::ReadClocks() {
  ProcessClocks clocks;
  if (runtime_.directory.processes().size() == 1) return clocks;
  // In the controller's process both have the same clock, and the measurement
  // leaves out the trip to the controller.
  const bool is_near = runtime_.directory.place(-1).process == runtime_.process;
  for (int round = 0; round < kClockRounds; ++round) {
    const TimeNs asked = runtime_.world->Now();
    absl::StatusOr<std::shared_ptr<Request>> request = Collect(proto::TIME);
    if (!request.ok()) return request.status();
    const ReportCollection& reports = *(*request)->reports;
    for (const auto& parts : reports.Parts()) {
      const proto::Collected& said = *parts.front();
      const auto arrival = reports.arrivals().find(said.process());
      if (said.process() == runtime_.process ||
          arrival == reports.arrivals().end()) {
        continue;
      }
      clocks.Add(said.process(), is_near ? reports.asked() : asked,
                 said.time_ns(), arrival->second);
    }
  }
  return clocks;
}

absl::Status ProcessReports::ReadTrace(TraceLog* log, TraceFacts* facts) {
  if (!runtime_.traced) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nothing was traced: the cluster's options have no trace_events",
        Tag(ErrorId::kNotTraced)));
  }
  absl::StatusOr<std::shared_ptr<Request>> request = Collect(proto::TRACED);
  if (!request.ok()) return request.status();
  absl::StatusOr<ProcessClocks> clocks = ReadClocks();
  if (!clocks.ok()) return clocks.status();
  std::vector<ProcessLog> logs;
  for (const auto& parts : (*request)->reports->Parts()) {
    std::vector<const proto::ProcessTrace*> messages;
    for (const proto::Collected* part : parts) {
      messages.push_back(&part->trace());
    }
    absl::StatusOr<TraceLog> one = ReadTraceMessages(messages);
    if (!one.ok()) return one.status();
    logs.push_back({*std::move(one), clocks->Of(parts.front()->process())});
    const proto::ProcessTrace& first = *messages.front();
    facts->simulated = first.simulated();
    facts->seed = first.seed();
    facts->workers += static_cast<int>(first.workers());
  }
  facts->topology = FormatTopology(*runtime_.topology);
  // A process that joined a running cluster has a clock that began then.
  absl::StatusOr<TraceLog> joined =
      runtime_.trace == nullptr ? JoinTraceLogs(std::move(logs), /*since=*/0)
                                : JoinTraceLogs(std::move(logs));
  if (!joined.ok()) return joined.status();
  *log = *std::move(joined);
  return absl::OkStatus();
}

absl::Status ProcessReports::WriteTrace(std::ostream* out) {
  TraceLog log;
  TraceFacts facts;
  absl::Status read = ReadTrace(&log, &facts);
  if (!read.ok()) return read;
  WriteChromeTrace(log, facts, out);
  return absl::OkStatus();
}

absl::StatusOr<TraceSummary> ProcessReports::Summarize() {
  TraceLog log;
  TraceFacts facts;
  absl::Status read = ReadTrace(&log, &facts);
  if (!read.ok()) return read;
  return SummarizeTrace(log);
}

absl::StatusOr<proto::Profile> ProcessReports::Measure(
    const proto::Header& header) {
  TraceLog log;
  TraceFacts facts;
  absl::Status read = ReadTrace(&log, &facts);
  if (!read.ok()) return read;
  if (facts.simulated) {
    return absl::InvalidArgumentError(
        "a simulation cannot measure a profile: its virtual time is computed "
        "from costs");
  }
  return MeasureProfile(log, header);
}

}  // namespace pathways
