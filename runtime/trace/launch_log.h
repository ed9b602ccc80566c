//===- launch_log.h - What a log says of launches ---------------*- C++ -*-===//
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

// The events of a log by the launch that they are of. Points to them: the log
// must outlive it.
class LaunchLog {
 public:
  explicit LaunchLog(const TraceLog* log);

  // On one island. Null: not in the log.
  struct OnIsland {
    const TraceEvent* joined = nullptr;
    const TraceEvent* granted = nullptr;
    const TraceEvent* done = nullptr;
  };
  // What a scheduler granted, by launch.
  std::vector<OnIsland> GrantedBy(uint32_t scheduler) const;

  // On all of them.
  struct Launch {
    const TraceEvent* joined = nullptr;  // on the first island
    std::vector<const TraceEvent*> granted;
    std::optional<TimeNs> ended;
  };
  // By TraceLaunch. Null: nothing is known of it.
  const Launch* Find(uint32_t launch) const;

  // On each device of the island that granted a launch, its first gang since.
  std::vector<const TraceEvent*> FirstGangs(const TraceEvent& granted) const;

 private:
  void AddOnIsland(const TraceEvent& event);

  const TraceLog& log_;
  std::map<std::pair<uint32_t, uint64_t>, OnIsland> on_islands_;  // scheduler
  std::map<uint32_t, Launch> launches_;
  // By (device, program), so by firing too.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const TraceEvent*>>
      gangs_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_LAUNCH_LOG_H_
