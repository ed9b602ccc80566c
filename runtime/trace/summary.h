//===- summary.h - Utilization and waits of a run ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Utilization, the critical path and the longest waits of a traced run.
// docs/tracing.md defines them.
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

// Times are nanoseconds of the world.
struct TraceSummary {
  // The summarized time: from the first launch in the log, or from where the
  // log is complete if events were dropped, to the end of the last firing on a
  // device.
  TimeNs begin = 0, end = 0;
  uint64_t events_dropped = 0;  // events before `begin`
  TimeNs wall_ns() const { return end - begin; }

  // Devices that did something, in cluster order.
  struct Device {
    std::string name;
    // Time in gangs, without their waits for other devices, and in movements.
    TimeNs busy_ns = 0;
    // Time in which the head of the queue lacked tokens, or waited in a
    // collective for other devices.
    TimeNs waiting_ns = 0;
  };
  std::vector<Device> devices;

  // The critical path: the chain of firings that ends with the last firing,
  // each being the last one that its successor waited for. Grouped by action,
  // the longest first.
  struct Share {
    std::string program, action, location;
    uint64_t firings = 0;
    TimeNs ns = 0;
  };
  std::vector<Share> path;
  // Wall time that no firing of the path took: messages, grants, dispatch.
  TimeNs path_between_ns = 0;
  // Time between the end of a firing on the path and the beginning of the next
  // one, which is mostly that of the links of its tokens and pieces. Part of
  // path_between_ns. Grouped by both actions, the longest first.
  struct Gap {
    std::string program, from, to;
    uint64_t count = 0;
    TimeNs ns = 0;
  };
  std::vector<Gap> gaps;

  // The longest wait for each edge that a queue waited for, and for each
  // collective. Only the three longest of these.
  struct Wait {
    bool is_collective = false;  // if true, `from` and `edge` are unused
    uint32_t edge = 0;
    std::string kind;  // "data", "all_reduce", ...
    std::string program, from, from_location, to, to_location;
    std::string device;
    uint64_t firing = 0;
    TimeNs ns = 0;
    uint64_t count = 0;  // number of such waits on all devices
    TimeNs total_ns = 0;
  };
  std::vector<Wait> waits;
};

TraceSummary SummarizeTrace(const TraceLog& log);

}  // namespace pathways

#endif  // RUNTIME_TRACE_SUMMARY_H_
