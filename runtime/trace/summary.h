//===- summary.h - Where the time of a run went -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Utilization, the critical path and the longest waits, of what was traced.
// docs/tracing.md says how they are defined.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_SUMMARY_H_
#define RUNTIME_TRACE_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/world/world.h"

namespace pathways {

struct TraceLog;

// Times are in ns of the world.
struct TraceSummary {
  // From the first launch that the log has, or from where the log is complete,
  // to the last thing that a device did.
  TimeNs begin = 0, end = 0;
  uint64_t events_dropped = 0;  // before `begin`
  TimeNs wall_ns() const { return end - begin; }

  // Devices that did something, in order of the cluster.
  struct Device {
    std::string name;
    // In gangs, their waits for others left out; and in movements.
    TimeNs busy_ns = 0;
    // The head of the queue missed tokens, or others in a collective.
    TimeNs waiting_ns = 0;
  };
  std::vector<Device> devices;

  // The chain of firings, each the last that the next one waited for, that ends
  // with the last firing. By action, the longest first.
  struct Share {
    std::string program, action, location;
    uint64_t firings = 0;
    TimeNs ns = 0;
  };
  std::vector<Share> path;
  // What of the wall none of them took: messages, grants, dispatch.
  TimeNs path_between_ns = 0;
  // Of that, what passed between the end of one and the begin of the next,
  // which is mostly the time of the links that its tokens and pieces took. By
  // both, the longest first.
  struct Gap {
    std::string program, from, to;
    uint64_t count = 0;
    TimeNs ns = 0;
  };
  std::vector<Gap> gaps;

  // Of each edge for which a queue waited, and of each collective, the longest
  // wait. The three longest.
  struct Wait {
    bool is_collective = false;  // then `from` is not used, nor `edge`
    uint32_t edge = 0;
    std::string kind;  // "data"; "all_reduce"
    std::string program, from, from_location, to, to_location;
    std::string device;
    uint64_t firing = 0;
    TimeNs ns = 0;
    uint64_t count = 0;  // waits for it, on all devices
    TimeNs total_ns = 0;
  };
  std::vector<Wait> waits;
};

TraceSummary SummarizeTrace(const TraceLog& log);

}  // namespace pathways

#endif  // RUNTIME_TRACE_SUMMARY_H_
