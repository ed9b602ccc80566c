//===- process_clock.h - How far clocks of processes differ -----*- C++ -*-===//
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

// The clock of a process, seen from another one.
struct ProcessClock {
  uint32_t process = 0;
  TimeNs offset_ns = 0;  // its time less the time here
  TimeNs error_ns = 0;   // the offset is wrong by this at most
};

// Estimates the clocks of processes that are asked for their time, several
// times each. The rates of clocks are taken to be the same. One owner calls it.
class ProcessClocks {
 public:
  // The process said `there` after it was asked at `asked`, and before the
  // answer was here at `answered`. Nothing, where that cannot be.
  void Add(uint32_t process, TimeNs asked, TimeNs there, TimeNs answered);
  // By the shortest of its round trips. Who was never asked has the clock here.
  ProcessClock Of(uint32_t process) const;

 private:
  std::map<uint32_t, ProcessClock> clocks_;
};

}  // namespace pathways

#endif  // RUNTIME_TRACE_PROCESS_CLOCK_H_
