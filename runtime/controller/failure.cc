//===- failure.cc - Failures of launches ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/failure.h"

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

absl::Status Describe(const PreparedPlan& plan, const Topology& topology,
                      StepNumbers numbers, const proto::Failure& failure) {
  const int index = static_cast<int>(failure.action());
  if (index < 0 || index >= plan.plan().actions_size() ||
      failure.shard() >=
          static_cast<uint64_t>(
              plan.slices()[plan.plan().actions(index).slice()].num_shards)) {
    return absl::InternalError(absl::StrCat(
        "program '", plan.name(), "' failed in action ", failure.action(),
        " on shard ", failure.shard(), ", which it does not have"));
  }
  const proto::Action& action = plan.plan().actions(index);
  std::string what = absl::StrCat("code ", failure.code());
  std::string where = action.location();
  if (failure.step() < static_cast<uint32_t>(action.steps_size()) &&
      action.steps(failure.step()).has_run()) {
    const proto::Segment& segment =
        plan.plan()
            .kernels(action.kernel())
            .segments(action.steps(failure.step()).run().segment());
    if (failure.code() > 0 && failure.code() <= segment.locations_size()) {
      const proto::Location& location = segment.locations(failure.code() - 1);
      if (!location.message().empty()) what = location.message();
      if (!location.where().empty()) where = location.where();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      where.empty() ? "" : absl::StrCat(where, ": "), "'", action.name(),
      "' of program '", plan.name(), "' failed at step ",
      numbers.Of(failure.firing()), " on shard ", failure.shard(), " (",
      topology.GlobalDeviceName(
          plan.bound(action.slice()).device_of[failure.shard()]),
      "): ", what, Tag(ErrorId::kCheckFailed)));
}

}  // namespace

bool Failure::operator<(const Failure& other) const {
  return std::tie(firing, action, shard, step) <
         std::tie(other.firing, other.action, other.shard, other.step);
}

Failure ReadFailure(const PreparedPlan& plan, const Topology& topology,
                    StepNumbers numbers, const proto::Failure& failure) {
  return {failure.firing(), failure.action(), failure.shard(), failure.step(),
          Describe(plan, topology, numbers, failure)};
}

std::string GoneText(const Topology& topology, int32_t host, uint32_t epoch) {
  return absl::StrCat(topology.HostName(host), " is gone (epoch ", epoch, ")");
}

}  // namespace pathways
