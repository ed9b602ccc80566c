//===- long_work.h - Work that takes longer than it should ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that has not returned, or the preparation of an action on a host
// that has not ended. The world's watchdog finds it or, in virtual time, timers
// do. Here it is described for users, in the same words for both.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_LONG_WORK_H_
#define RUNTIME_DEVICE_LONG_WORK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/binding/prepared_plan.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/world/kernel_gate.h"
#include "runtime/world/world.h"

namespace pathways {

struct LongWork {
  enum Kind { kKernel, kHostWork };
  Kind kind = kKernel;
  uint32_t incarnation = 0;  // incarnation of the program
  std::string program, action;
  std::string location;  // location of the action in its source; empty: unknown
  std::string place;     // name of the device or host
  // Number of the step, counted from LaunchOptions::first_step.
  uint64_t step = 0;
  uint32_t shard = 0;  // only for kKernel
  TimeNs ns = 0;       // lower bound on the time so far

  // Returns one line without a full stop.
  std::string Text() const;
};

// A shard of an action, in the numbers of a plan, at a step, numbered like
// LongWork::step.
struct WorkLocation {
  uint32_t action = 0;
  uint32_t shard = 0;
  uint64_t step = 0;
};

// Conversion to and from the message between processes.
proto::LongWorkSeen ToProto(const LongWork& work);
LongWork FromProto(const proto::LongWorkSeen& seen);

// `ns`: time that it has taken so far.
LongWork DescribeKernel(const PreparedPlan& plan, const Topology& topology,
                        const WorkLocation& where, TimeNs ns);
LongWork DescribeHostWork(const PreparedPlan& plan, const Topology& topology,
                          int host, const WorkLocation& where, TimeNs ns);
// Returns the kernel of `plan` that a thread is in, or nullopt if `plan` has no
// such kernel.
std::optional<WorkLocation> FindKernel(const PreparedPlan& plan,
                                       const Topology& topology,
                                       const KernelCall& call);

// Limits on the time of one piece of work.
struct WorkLimits {
  TimeNs report_ns = 0;  // time after which it is reported once; 0: never
  // Time after which it is an error and its worker is lost; 0: never.
  TimeNs limit_ns = 0;
  // Called on any thread; must not block.
  std::function<void(const LongWork&)> on_long;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_LONG_WORK_H_
