//===- stall.h - Why a program does not go on -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hosts report the smallest (firing, position) that has not happened on their
// shards. Over all hosts the smallest of these is where a program hangs: all
// that its tokens come from is smaller and has happened, so a token that is
// missing there was lost, and its edge is named.
//
//===----------------------------------------------------------------------===//

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
    kRoot,      // it waits for something that will not come
    kBlocked,   // it stands behind another program
  };
  Kind kind = kProgress;
  // kBlocked: the program, and its action at the head of the queue.
  uint32_t blocked_by = 0, blocked_action = 0;
  // What it waits for, without the program's name; kBlocked: what waits.
  std::string text;
};

// `reports` of the hosts of a program (by host); `end` is the first firing that
// was not launched. `numbers` are those of the launch's steps, for the text.
// `islands` have not said that the launch is over.
Stall ClassifyStall(const PreparedPlan& plan, const Topology& topology,
                    const std::map<uint32_t, proto::Report>& reports,
                    StepNumbers numbers, uint64_t end,
                    absl::Span<const int32_t> islands);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STALL_H_
