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

// Returns the log of one process as messages, each with at most `most_bytes` of
// events. There is at least one message.
std::vector<proto::ProcessTrace> WriteTraceMessages(const TraceLog& log,
                                                    uint64_t most_bytes);
// Parses all messages of WriteTraceMessages, in order. Returns InvalidArgument
// if there are none, or a plan in them could not run.
absl::StatusOr<TraceLog> ReadTraceMessages(
    const std::vector<const proto::ProcessTrace*>& messages);

// Log of one process, and its clock relative to the process that joins the
// logs.
struct ProcessLog {
  TraceLog log;
  ProcessClock clock;
};

// Joins the logs of several processes by the clock of the joining process, from
// the time on at which all are complete. No time in the result is negative.
// Events that ended before `since` of that clock are left out, and not counted
// as dropped. Actors get new numbers in the order of `logs`; an event of an
// actor without a name belongs to nobody. Returns InvalidArgument if there are
// too many actors, or if an event is one that no process records, by its
// program or its time; so readers of the result need not check.
absl::StatusOr<TraceLog> JoinTraceLogs(
    std::vector<ProcessLog> logs,
    TimeNs since = std::numeric_limits<TimeNs>::min());

}  // namespace pathways

#endif  // RUNTIME_TRACE_TRACE_MESSAGE_H_
