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
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/proto/process.pb.h"
#include "runtime/trace/trace.h"

namespace pathways {

// What was traced in one process, as messages with at most `most_bytes` of
// events each, of which there is at least one.
std::vector<proto::ProcessTrace> WriteTraceMessages(const TraceLog& log,
                                                    uint64_t most_bytes);
// The reverse; `messages` are all, in order. InvalidArgument: they are none.
absl::StatusOr<TraceLog> ReadTraceMessages(
    const std::vector<const proto::ProcessTrace*>& messages);

// One log of those of several processes, from where all are complete on. Of
// actors that have one number in several, the first one's name counts.
TraceLog JoinTraceLogs(std::vector<TraceLog> logs);

}  // namespace pathways

#endif  // RUNTIME_TRACE_TRACE_MESSAGE_H_
