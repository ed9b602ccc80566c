//===- check_options.cc - Ranges of client and launch options -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/check_options.h"

#include "absl/strings/str_cat.h"
#include "runtime/scheduler/policy.h"

namespace pathways {
namespace {

absl::Status CheckPriority(int32_t priority) {
  if (priority >= -kMaxPriority && priority <= kMaxPriority) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the priority is ", priority,
                                                 ", expected ", -kMaxPriority,
                                                 " to ", kMaxPriority));
}

}  // namespace

absl::Status CheckClientOptions(const ClientOptions& options) {
  // NaN is out of every range, so it fails this test.
  if (!(options.weight >= kMinWeight && options.weight <= kMaxWeight)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the weight is ", options.weight, ", expected ",
                     kMinWeight, " to ", kMaxWeight));
  }
  if (options.run_ahead < 1 || options.run_ahead > kMaxLaunches) {
    return absl::InvalidArgumentError(
        absl::StrCat("run_ahead is ", options.run_ahead,
                     " launches, expected 1 to ", kMaxLaunches));
  }
  return CheckPriority(options.priority);
}

absl::Status CheckLaunchOptions(const LaunchOptions& options) {
  if (options.deadline_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the deadline of a launch is ", options.deadline_ns,
                     " ns, expected at least 0"));
  }
  if (options.first_step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the first step of a launch is ", options.first_step,
                     ", expected at least 0"));
  }
  return options.priority.has_value() ? CheckPriority(*options.priority)
                                      : absl::OkStatus();
}

}  // namespace pathways
