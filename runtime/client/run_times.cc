//===- run_times.cc - Times of the steps of a run -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_times.h"

#include <algorithm>
#include <limits>

namespace pathways {

double RunTimes::Bubble(TimeNs ns) const {
  const TimeNs all = ns * steps * devices;
  if (all <= 0) return 0;
  return static_cast<double>(std::max<TimeNs>(0, all - busy)) /
         static_cast<double>(all);
}

RunTimes TimesOf(const ClusterStats& stats, int64_t steps, TimeNs launch_ns) {
  RunTimes times;
  times.steps = std::max<TimeNs>(1, steps);
  TimeNs begin = std::numeric_limits<TimeNs>::max(), end = 0;
  for (const ClusterStats::Device& device : stats.devices) {
    if (device.busy_ns == 0 && device.waiting_ns == 0) continue;
    ++times.devices;
    times.busy += device.busy_ns;
    if (device.last_end_ns == 0) continue;
    begin = std::min(begin, device.first_begin_ns);
    end = std::max(end, device.last_end_ns);
    const TimeNs period =
        times.steps == 1
            ? device.last_end_ns - device.first_begin_ns
            : (device.last_end_ns - device.first_end_ns) / (times.steps - 1);
    times.period = std::max(times.period, period);
  }
  const bool has_one_clock = end > 0 && stats.processes.size() <= 1;
  times.wall = has_one_clock ? end - begin : launch_ns;
  return times;
}

}  // namespace pathways
