//===- long_work.h - Work that takes longer than it should ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that has not returned, or the preparation of an action on a host
// that has not ended: found by the world's watchdog, or by timers where time is
// not that of the machine, and said to people here, with the same words.
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
  uint32_t incarnation = 0;  // of the program
  std::string program, action;
  std::string location;  // of the action in its source; empty: not known
  std::string place;     // name of the device, or of the host
  uint64_t step = 0;     // its number, from LaunchOptions::first_step on
  uint32_t shard = 0;    // kKernel
  TimeNs ns = 0;         // that it has taken so far, at least

  // One line, without a full stop.
  std::string Text() const;
};

// A shard of an action, in the numbers of a plan, at a step, as LongWork::step.
struct WorkLocation {
  uint32_t action = 0;
  uint32_t shard = 0;
  uint64_t step = 0;
};

// What a process tells another one of it.
proto::LongWorkSeen ToProto(const LongWork& work);
LongWork FromProto(const proto::LongWorkSeen& seen);

// `ns`: how long it has taken so far.
LongWork DescribeKernel(const PreparedPlan& plan, const Topology& topology,
                        const WorkLocation& where, TimeNs ns);
LongWork DescribeHostWork(const PreparedPlan& plan, const Topology& topology,
                          int host, const WorkLocation& where, TimeNs ns);
// Which kernel of `plan` a thread is in. None: `plan` has no such kernel.
std::optional<WorkLocation> FindKernel(const PreparedPlan& plan,
                                       const Topology& topology,
                                       const KernelCall& call);

// How long work may take.
struct WorkLimits {
  TimeNs report_ns = 0;  // then it is reported, once; 0: never
  // Then it is an error, and its worker is lost; 0: never.
  TimeNs limit_ns = 0;
  // On any thread; must not wait.
  std::function<void(const LongWork&)> on_long;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_LONG_WORK_H_
