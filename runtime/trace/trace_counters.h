//===- trace_counters.h - Steps in flight and memory in use -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_TRACE_COUNTERS_H_
#define RUNTIME_TRACE_TRACE_COUNTERS_H_

#include <string>
#include <vector>

#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Returns, for each program with firings in the log, the number of firings that
// have begun on some device and have not ended on all.
std::vector<Counter> StepsInFlight(const LogIndex& index);

// Returns the bytes in the events of `kind`: kHostBytes or kDeviceBytes.
Counter MemoryInUse(const std::string& name,
                    const std::vector<const TraceEvent*>& events,
                    TraceKind kind);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_TRACE_COUNTERS_H_
