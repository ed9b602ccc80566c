//===- process_clock.h - Clock offsets between processes --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_PROCESS_CLOCK_H_
#define RUNTIME_TRACE_PROCESS_CLOCK_H_

#include <cstdint>
#include <map>

#include "runtime/world/world.h"

namespace pathways {

// Clock of a process relative to the local one.
struct ProcessClock {
  uint32_t process = 0;
  TimeNs offset_ns = 0;  // remote minus local time
  TimeNs error_ns = 0;   // largest error of the offset
};

// Estimates the clocks of processes from several queries of each. Assumes that
// all clocks run at the same rate. One owner calls it.
class ProcessClocks {
 public:
  // Adds one query: the process reported the time `there` after the query was
  // sent at `asked` and before the answer arrived at `answered`. Ignored if
  // `answered` is before `asked`.
  void Add(uint32_t process, TimeNs asked, TimeNs there, TimeNs answered);
  // Returns the estimate from the shortest round trip. A process without
  // queries gets the local clock.
  ProcessClock Of(uint32_t process) const;

 private:
  std::map<uint32_t, ProcessClock> clocks_;
};

}  // namespace pathways

#endif  // RUNTIME_TRACE_PROCESS_CLOCK_H_
