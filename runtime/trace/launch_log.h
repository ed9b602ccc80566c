//===- launch_log.h - Events of a log by launch -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_LAUNCH_LOG_H_
#define RUNTIME_TRACE_LAUNCH_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/trace/trace.h"

namespace pathways::trace {

// The events of a log by their launch. It points to them, so the log must
// outlive it.
class LaunchLog {
 public:
  explicit LaunchLog(const TraceLog* log);

  // Events of a launch on one island; null if not in the log.
  struct OnIsland {
    const TraceEvent* joined = nullptr;
    const TraceEvent* granted = nullptr;
    const TraceEvent* done = nullptr;
  };
  // Returns the launches that a scheduler granted.
  std::vector<OnIsland> GrantedBy(uint32_t scheduler) const;

  // Events of a launch on all islands.
  struct Launch {
    const TraceEvent* joined = nullptr;  // on the first island
    std::vector<const TraceEvent*> granted;
    std::optional<TimeNs> ended;
  };
  // Returns the launch with the number TraceLaunch(), or null if unknown.
  const Launch* Find(uint32_t launch) const;

  // Returns the first gang of the launch after the grant on each device of the
  // island that granted it.
  std::vector<const TraceEvent*> FirstGangs(const TraceEvent& granted) const;

 private:
  void AddOnIsland(const TraceEvent& event);

  const TraceLog& log_;
  // by (scheduler, launch)
  std::map<std::pair<uint32_t, uint64_t>, OnIsland> on_islands_;
  std::map<uint32_t, Launch> launches_;
  // Gangs of each (device, program), in order of time and so of firings.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const TraceEvent*>>
      gangs_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_LAUNCH_LOG_H_
