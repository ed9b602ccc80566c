//===- open_launches.h - Launches that have not ended -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_OPEN_LAUNCHES_H_
#define RUNTIME_CONTROLLER_OPEN_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/controller/launch_table.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/stall_detector.h"
#include "runtime/controller/store_log.h"
#include "runtime/program/launch.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/scheduler/grant_order.h"

namespace pathways {

// A view of the launches that have not ended, and of the hosts that run them.
// One owner calls it; it changes nothing.
class OpenLaunches {
 public:
  // All arguments must outlive the view.
  OpenLaunches(const ProgramTable& programs, const LaunchTable& launches,
               const GrantOrder& grants, const StoreLog& stores)
      : programs_(programs),
        launches_(launches),
        grants_(grants),
        stores_(stores) {}

  bool empty() const { return launches_.size() == 0; }
  // Returns the number of open launches of a program.
  size_t CountOf(uint32_t program) const {
    return launches_.Open(program).size();
  }
  // Returns the programs with open launches, by number.
  std::vector<StallDetector::Subject> Subjects() const;
  // Returns the hosts that have something to run.
  WaitSet BusyHosts() const;
  // Returns the hosts that have something of this program to run.
  WaitSet BusyHosts(uint32_t program) const;
  // Returns true if a launch of the program has begun, but the host may never
  // have received it.
  bool IsMissing(uint32_t program, int32_t host) const;
  // Returns the step numbers of a launch that has a grant.
  StepNumbers NumbersOf(const LaunchTable::Launch& launch) const;

 private:
  void AddBusy(const StallDetector::Subject& subject, WaitSet* busy) const;

  const ProgramTable& programs_;
  const LaunchTable& launches_;
  const GrantOrder& grants_;
  const StoreLog& stores_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_OPEN_LAUNCHES_H_
