//===- launch_check.h - Validation of launch requests -----------*- C++ -*-===//
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

// Checks a request, which may come from an untrusted process, against its
// program. Returns InvalidArgument if the number of arguments or results is
// wrong, one of them is on other hosts, an argument with bytes has no object
// (or the reverse), an argument without values is not fresh or has no cause, or
// the number of steps is 0 or too large.
absl::Status CheckLaunch(const proto::LaunchRequest& request,
                         const PreparedPlan& plan);

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_CHECK_H_
