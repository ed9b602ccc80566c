//===- stall.h - Diagnosis of a stalled program -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hosts report the smallest (firing, position) that has not happened on their
// shards. The smallest of these over all hosts is where a program hangs: all
// actions that send it tokens are smaller and have happened, so a token that is
// missing there was lost, and the diagnosis names its edge.

#ifndef RUNTIME_CONTROLLER_STALL_H_
#define RUNTIME_CONTROLLER_STALL_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/types/span.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/launch.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

struct Stall {
  enum Kind {
    kProgress,  // something runs
    kRoot,      // waits for something that will not come
    kBlocked,   // queued after another program
  };
  Kind kind = kProgress;
  // For kBlocked: the blocking program, and its action at the head of the
  // queue.
  uint32_t blocked_by = 0, blocked_action = 0;
  // The reason of the wait, without the program's name; for kBlocked: the
  // waiting shard.
  std::string text;
};

// `reports`: from the hosts of the program, by host. `numbers`: the step
// numbers of the launch, for the text. `end`: the first firing that was not
// granted. `islands`: those that have not reported the end of the launch.
Stall ClassifyStall(const PreparedPlan& plan, const Topology& topology,
                    const std::map<uint32_t, proto::Report>& reports,
                    StepNumbers numbers, uint64_t end,
                    absl::Span<const int32_t> islands);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STALL_H_
