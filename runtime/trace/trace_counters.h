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

// For each program of which something fired, how many of its firings have begun
// on some device and are not over on all.
std::vector<Counter> StepsInFlight(const LogIndex& index);

// The bytes that events of `kind` say, which is kHostBytes or kDeviceBytes.
Counter MemoryInUse(const std::string& name,
                    const std::vector<const TraceEvent*>& events,
                    TraceKind kind);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_TRACE_COUNTERS_H_
