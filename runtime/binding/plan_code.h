//===- plan_code.h - The code that a plan runs here ----------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PLAN_CODE_H_
#define RUNTIME_BINDING_PLAN_CODE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/binding/plan_binding.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

namespace pathways {

using HostFilter = absl::FunctionRef<bool(int32_t host)>;

// A kernel that runs on devices of this process.
struct NeededCode {
  uint32_t kernel = 0;
  proto::Target target;
  std::string device;  // the first such, for messages
};

// Functions of kernels, by target. Immutable once loaded; then any thread.
class PlanCode {
 public:
  PlanCode() = default;  // none
  // What runs on devices of the hosts that `is_here` says.
  PlanCode(const proto::Plan& plan, const PlanBinding& binding,
           const Topology& topology, HostFilter is_here);

  const std::vector<NeededCode>& needed() const { return needed_; }
  // FailedPrecondition: no code for a device's CPU; InvalidArgument: it is not
  // what the plan says.
  absl::Status Load(const PlanData& data, KernelResolver* resolver);

  // Null without code. `device`: of the cluster.
  const ResolvedKernel* kernel(uint32_t kernel, int64_t device) const;

 private:
  std::vector<NeededCode> needed_;  // by kernel, then target
  // Targets of the devices here, as text; code per (kernel, target).
  std::map<std::pair<uint32_t, std::string>, ResolvedKernel> code_;
  std::map<int64_t, std::string> target_of_;
  std::string common_target_;  // of the devices that are not in target_of_
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_CODE_H_
