//===- ScheduleCosts.h - Costs of schedules of a program --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SCHEDULECOSTS_H
#define PATHWAYS_SCHEDULECOSTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace pathways {

/// Memory of a device with one schedule, in bytes.
struct ScheduleDevice {
  std::string device;        ///< "island0/host1/device2"
  uint64_t peak_bytes = 0;   ///< most memory at any time
  uint64_t memory_bytes = 0; ///< what the device has
  /// Most at any time, at times that may differ, without alignment, scratch and
  /// arrays that only leave the device: arguments and arrays that calls update
  /// in place; results of calls that later calls read; slots of arrays that
  /// other devices send.
  uint64_t parameter_bytes = 0, kept_bytes = 0, arriving_bytes = 0;
};

/// Costs of a step with one schedule, before any run.
struct ScheduleCosts {
  /// Name, or "@" and the path of a file of orders.
  std::string schedule;
  /// Reason why the program cannot have the schedule, with what it has and what
  /// the schedule needs. If it is not empty, the rest is not filled.
  std::string misfit;
  /// Time of a step from the begin of its first call to the end of its last
  /// one, and time by which steps follow each other, in nanoseconds.
  int64_t step_ns = 0, period_ns = 0;
  /// Parts of these in which devices wait.
  double bubble = 0, period_bubble = 0;
  /// Bytes that one step moves inside islands, and between islands.
  uint64_t ici_bytes = 0, dcn_bytes = 0;
  /// Devices that the plan uses, in the order of the cluster.
  std::vector<ScheduleDevice> devices;
  /// Labels of calls whose times are estimates: neither a profile nor
  /// CompileOptions::label_costs has them.
  std::vector<std::string> estimated;

  bool fits() const { return misfit.empty(); }
  /// Returns the device that needs most memory, or null if there is none.
  const ScheduleDevice *largest() const;
  /// Returns the first device without enough memory, or null if all have it.
  const ScheduleDevice *overfull() const;
};

} // namespace pathways

#endif // PATHWAYS_SCHEDULECOSTS_H
