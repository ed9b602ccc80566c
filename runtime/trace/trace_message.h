//===- trace_message.h - A trace as messages, and back ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_TRACE_MESSAGE_H_
#define RUNTIME_TRACE_TRACE_MESSAGE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/proto/process.pb.h"
#include "runtime/trace/trace.h"

namespace pathways {

// What was traced in one process, as messages with at most `most_bytes` of
// events each, of which there is at least one.
std::vector<proto::ProcessTrace> WriteTraceMessages(const TraceLog& log,
                                                    uint64_t most_bytes);
// The reverse; `messages` are all, in order. InvalidArgument: they are none, or
// have a plan that could not run.
absl::StatusOr<TraceLog> ReadTraceMessages(
    const std::vector<const proto::ProcessTrace*>& messages);

// What one process traced, and its clock, seen from who joins.
struct ProcessLog {
  TraceLog log;
  ProcessClock clock;
};

// One log of those of several processes, by the clock of who joins, from where
// all are complete on; no time is negative. What ended before `since` of that
// clock is left out, and not counted as dropped. Its actors have new numbers,
// in the order of `logs`; an event of an actor without a name is nobody's.
// InvalidArgument: more actors than events can tell apart; or an event that no
// process of ours records, of its program or by its time, so that whoever reads
// the log need not look.
absl::StatusOr<TraceLog> JoinTraceLogs(
    std::vector<ProcessLog> logs,
    TimeNs since = std::numeric_limits<TimeNs>::min());

}  // namespace pathways

#endif  // RUNTIME_TRACE_TRACE_MESSAGE_H_
