//===- chrome_trace.h - Traces as JSON for viewers --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the Chrome trace event format, which ui.perfetto.dev opens.
// docs/tracing.md lists the tracks.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_CHROME_TRACE_H_
#define RUNTIME_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "runtime/trace/trace.h"

namespace pathways {

// Facts about the traced world that its trace contains.
struct TraceFacts {
  bool simulated = false;
  uint64_t seed = 0;
  int workers = 0;
  std::string topology;  // text for readers
};

// Writes `log` as one JSON object; equal logs give equal bytes. Slices of a
// track nest and are sorted by time; slices that may overlap are on several
// tracks with one name. Every flow has exactly one start and one end. Counters
// are never negative. If the log is of several processes, each has a group of
// its own, and the error of its clock is included.
void WriteChromeTrace(const TraceLog& log, const TraceFacts& facts,
                      std::ostream* out);

}  // namespace pathways

#endif  // RUNTIME_TRACE_CHROME_TRACE_H_
