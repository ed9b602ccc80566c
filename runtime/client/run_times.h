//===- run_times.h - Times of the steps of a run ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUN_TIMES_H_
#define RUNTIME_CLIENT_RUN_TIMES_H_

#include <cstdint>

#include "runtime/client/cluster_stats.h"

namespace pathways {

// Times of a whole run on a traced cluster that runs nothing else.
struct RunTimes {
  // From the begin of the first gang to the end of the last one; from the
  // launch to its end if devices do not say when, or by several clocks.
  TimeNs wall = 0;
  // Time by which steps follow each other: the longest one of a device, from
  // the end of its first step to the end of its last one, by step. For a single
  // step, it is from the begin of that to its end. 0 if devices do not say.
  TimeNs period = 0;
  TimeNs busy = 0;     // of all devices
  TimeNs devices = 0;  // that did something
  TimeNs steps = 1;

  TimeNs step() const { return wall / steps; }
  // Returns the part of the time in which devices are not busy, if each step
  // takes `ns`.
  double Bubble(TimeNs ns) const;
};

// `launch_ns` is the time from the launch of the run to its end.
RunTimes TimesOf(const ClusterStats& stats, int64_t steps, TimeNs launch_ns);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_TIMES_H_
