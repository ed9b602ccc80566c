//===- failure.h - Failures of launches -------------------------*- C++ -*-===//
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

// An action that failed by itself. The first cause is the smallest failure by
// firing, position, shard and step.
struct Failure {
  uint64_t firing = 0;
  uint32_t action = 0;  // position of the action in the table
  uint32_t shard = 0;
  uint32_t step = 0;    // gang step of the action
  absl::Status status;  // not OK; for the client

  bool operator<(const Failure& other) const;
};

// Reads the failure that a host or an island reports for a launch of `plan`;
// `numbers` are the launch's step numbers. The status is InvalidArgument, with
// source line, action, step number, shard, device, and the kernel's message; or
// Internal if the plan has no such action or shard.
Failure ReadFailure(const PreparedPlan& plan, const Topology& topology,
                    StepNumbers numbers, const proto::Failure& failure);

// Names a host that is gone, and its epoch, for errors: "host1 is gone (epoch
// 2)".
std::string GoneText(const Topology& topology, int32_t host, uint32_t epoch);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_FAILURE_H_
