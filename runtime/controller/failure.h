//===- failure.h - What a launch failed of ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_FAILURE_H_
#define RUNTIME_CONTROLLER_FAILURE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/launch.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// One action that failed by itself. The smallest one by firing, position and
// shard is the first cause.
struct Failure {
  uint64_t firing = 0;
  uint32_t action = 0;  // its position in the table
  uint32_t shard = 0;
  uint32_t step = 0;    // gang step of the action
  absl::Status status;  // not OK; for the client

  bool operator<(const Failure& other) const;
};

// What a host or an island says of a launch of `plan` whose steps have these
// numbers. InvalidArgument is the status: source line, action, number of the
// step, shard with its device, and what the kernel says; Internal when the
// plan has no such action or shard.
Failure ReadFailure(const PreparedPlan& plan, const Topology& topology,
                    StepNumbers numbers, const proto::Failure& failure);

// How errors name a host that is gone, and the life that it lost: "host1 is
// gone (life 2)".
std::string GoneText(const Topology& topology, int32_t host, uint32_t epoch);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FAILURE_H_
