//===- cluster_options.cc - Options of a cluster --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/cluster_options.h"

#include "absl/strings/str_cat.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/thread_world.h"

namespace pathways {

absl::Status CheckOptions(const ClusterOptions& options) {
  if (options.workers < 0 || options.workers > ThreadOptions::kMaxWorkers) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of workers is ", options.workers,
                     ", expected 0 to ", ThreadOptions::kMaxWorkers));
  }
  absl::Status policy = MakePolicy(options.policy).status();
  if (!policy.ok()) return policy;
  if (options.trace_events < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "trace_events is ", options.trace_events, ", expected at least 0"));
  }
  if (options.stall_timeout_ns <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the stall timeout is ",
                                                   options.stall_timeout_ns,
                                                   " ns, expected at least 1"));
  }
  if (options.answer_timeout_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the answer timeout is ",
                                                   options.answer_timeout_ns,
                                                   " ns, expected at least 0"));
  }
  if (options.kernel_timeout_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the kernel timeout is ",
                                                   options.kernel_timeout_ns,
                                                   " ns, expected at least 0"));
  }
  const SpillOptions& spill = options.spill;
  if (!(spill.end > 0 && spill.end <= spill.begin && spill.begin <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spilling begins at ", spill.begin, " and ends at ", spill.end,
        " of a host's memory, expected 0 < end <= "
        "begin <= 1"));
  }
  constexpr TimeNs kMaxHostWorkNs = 3'600'000'000'000;
  if (options.host_work_ns < 0 || options.host_work_ns > kMaxHostWorkNs) {
    return absl::InvalidArgumentError(
        absl::StrCat("the host work is ", options.host_work_ns,
                     " ns, expected 0 to ", kMaxHostWorkNs));
  }
  if (options.world == ClusterOptions::kThreads &&
      (!options.run_kernels || options.duplicate_probability != 0 ||
       options.reorder_probability != 0 || options.drop_probability != 0 ||
       !options.host_stops.empty())) {
    return absl::InvalidArgumentError(
        "runs without kernels, and links with faults, need a simulation");
  }
  return absl::OkStatus();
}

}  // namespace pathways
