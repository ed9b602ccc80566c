//===- launch_check.cc - Validation of launch requests --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/binding/parts.h"
#include "runtime/program/launch.h"

namespace pathways {
namespace {

bool IsThere(const proto::ObjectRef& ref, const ArrayPlacement* placement) {
  const size_t hosts = placement == nullptr ? 0 : placement->hosts.size();
  if (static_cast<size_t>(ref.hosts_size()) != hosts) return false;
  return std::equal(ref.hosts().begin(), ref.hosts().end(),
                    hosts == 0 ? nullptr : placement->hosts.data(),
                    [](uint32_t said, const ArrayPlacement::Host& host) {
                      return said == static_cast<uint32_t>(host.host);
                    });
}

absl::Status CheckCount(const PreparedPlan& plan, const char* what, int has,
                        int expected) {
  if (has == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a launch of program '", plan.name(), "' has ", has, " ",
                   what, ", expected ", expected));
}

absl::Status OtherHosts(const PreparedPlan& plan, const char* what, int i) {
  return absl::InvalidArgumentError(
      absl::StrCat("a launch of program '", plan.name(), "' has ", what, " ", i,
                   " on other hosts than the program"));
}

}  // namespace

absl::Status CheckLaunch(const proto::LaunchRequest& request,
                         const PreparedPlan& plan) {
  if (request.steps() == 0 || request.steps() > kMaxSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("a launch of program '", plan.name(), "' has ",
                     request.steps(), " steps, expected 1 to ", kMaxSteps));
  }
  if (absl::Status status =
          CheckStepNumbers(plan.name(), request.first_step(), request.steps());
      !status.ok()) {
    return status;
  }
  const proto::Interface& interface = plan.plan().interface();
  absl::Status counted = CheckCount(plan, "arguments", request.arguments_size(),
                                    interface.arguments_size());
  if (counted.ok()) {
    counted = CheckCount(plan, "results", request.results_size(),
                         interface.results_size());
  }
  if (!counted.ok()) return counted;
  for (int i = 0; i < request.arguments_size(); ++i) {
    const ArrayPlacement* placement = plan.argument_placement(i).get();
    const proto::ObjectRef& ref = request.arguments(i);
    const bool has_bytes = placement != nullptr && !placement->hosts.empty();
    if (!IsThere(ref, placement) || (ref.object() != 0) != has_bytes) {
      return OtherHosts(plan, "argument", i);
    }
    if (ref.has_no_values() && (!ref.fresh() || ref.no_values().code() == 0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a launch of program '", plan.name(), "' has argument ", i,
          " without values, expected ",
          ref.fresh() ? "the error that is the cause" : "a fresh array"));
    }
  }
  for (int i = 0; i < request.results_size(); ++i) {
    const proto::ObjectRef& ref = request.results(i);
    const ArrayPlacement* placement =
        ref.object() == 0 ? nullptr : plan.result_placement(i).get();
    if (!IsThere(ref, placement)) return OtherHosts(plan, "result", i);
  }
  return absl::OkStatus();
}

}  // namespace pathways
