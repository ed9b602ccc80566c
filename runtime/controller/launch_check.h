//===- launch_check.h - Whether a launch fits its program -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LAUNCH_CHECK_H_
#define RUNTIME_CONTROLLER_LAUNCH_CHECK_H_

#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/proto/control.pb.h"

namespace pathways {

// A client may be a process that is not ours. InvalidArgument: the launch has
// another number of arguments or results than the program, says that one of
// them is on other hosts, has none for bytes that there are, or has no step or
// too many.
absl::Status CheckLaunch(const proto::LaunchRequest& request,
                         const PreparedPlan& plan);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_CHECK_H_
