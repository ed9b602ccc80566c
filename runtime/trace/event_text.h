//===- event_text.h - Texts for events --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts that describe the events of a log to a reader.
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

// Returns the slice of an event, from its time to its end.
Slice SliceOf(const TraceEvent& event, const char* category, std::string name,
              const Args& args);

// Returns the name of the action of a device's event, or its number.
std::string ActionName(const LogIndex& index, const TraceEvent& event);
// Adds the number of the step that a device's event belongs to, if known.
void AddStepIndex(const LogIndex& index, const TraceEvent& event, Args* args);
// Returns the texts about a firing of an action.
Args ActionArgs(LogIndex* index, const TraceEvent& event);
// Returns the kernel of a gang, or null if it runs none.
const proto::Kernel* KernelOf(const LogIndex& index, const TraceEvent& event);
// Returns a name for a step of a gang: its collective, or the kernel's name for
// the step.
std::string StepName(const LogIndex& index, const TraceEvent& event);

// Returns "edge 5 (data): a -> b".
std::string EdgeText(const LogIndex& index, uint32_t program, uint32_t edge);
// Returns "train, 3 steps from 0" for a scheduler's event.
std::string LaunchName(const LogIndex& index, const TraceEvent& event);
// Returns "piece w.send" for a kSent event, and adds the message's subject to
// `args`.
std::string MessageName(const LogIndex& index, const TraceEvent& sent,
                        Args* args);
// Returns the name of the host of an actor.
std::string HostName(const TraceLog& log, const TraceActor& actor);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_EVENT_TEXT_H_
