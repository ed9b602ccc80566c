//===- chrome_trace.h - Traces as JSON for viewers --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Chrome trace event format, which ui.perfetto.dev opens. docs/tracing.md
// says what is on which track.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_CHROME_TRACE_H_
#define RUNTIME_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "runtime/trace/trace.h"

namespace pathways {

// What a trace says about its world.
struct TraceFacts {
  bool simulated = false;
  uint64_t seed = 0;
  int workers = 0;
  std::string topology;  // for people
};

// Writes `log` as one JSON object. The same log is the same bytes. Slices of a
// track nest and are in order of time; what may overlap is on several tracks of
// one name. A flow has one start and one end, both there. Counters are never
// negative. Of several processes, what one did is under its number, and the
// error of its clock is told.
void WriteChromeTrace(const TraceLog& log, const TraceFacts& facts,
                      std::ostream* out);

}  // namespace pathways

#endif  // RUNTIME_TRACE_CHROME_TRACE_H_
