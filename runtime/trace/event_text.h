//===- event_text.h - What events are called --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What there is to say of an event of a log, for people.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_EVENT_TEXT_H_
#define RUNTIME_TRACE_EVENT_TEXT_H_

#include <cstdint>
#include <string>

#include "runtime/proto/plan.pb.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// The slice of an event, from its time to its end.
Slice SliceOf(const TraceEvent& event, const char* category, std::string name,
              const Args& args);

// The action of a device's event: its name, or its number.
std::string ActionName(const LogIndex& index, const TraceEvent& event);
// The number of the step that a device's event is in, if the log says it.
void AddStepIndex(const LogIndex& index, const TraceEvent& event, Args* args);
// What there is to say about a firing of an action.
Args ActionArgs(LogIndex* index, const TraceEvent& event);
// The kernel of a gang; null: it runs none.
const proto::Kernel* KernelOf(const LogIndex& index, const TraceEvent& event);
// What a step of a gang is: its collective, or what the kernel calls it.
std::string StepName(const LogIndex& index, const TraceEvent& event);

// "edge 5 (data): a -> b".
std::string EdgeText(const LogIndex& index, uint32_t program, uint32_t edge);
// "train, 3 steps from 0" of a scheduler's event.
std::string LaunchName(const LogIndex& index, const TraceEvent& event);
// "piece w.send" of a kSent; adds what it is of to `args`.
std::string MessageName(const LogIndex& index, const TraceEvent& sent,
                        Args* args);
// The host on which an actor lives.
std::string HostName(const TraceLog& log, const TraceActor& actor);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_EVENT_TEXT_H_
