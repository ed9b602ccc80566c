//===- plan_code.h - Code that a plan runs in this process ------*- C++ -*-===//
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
  std::string device;  // first device that needs the code, for error messages
};

// Functions of kernels, by target. Immutable once loaded; any thread may then
// read it.
class PlanCode {
 public:
  PlanCode() = default;  // has no code
  // Collects the kernels that run on devices of the hosts for which `is_here`
  // returns true.
  PlanCode(const proto::Plan& plan, const PlanBinding& binding,
           const Topology& topology, HostFilter is_here);

  const std::vector<NeededCode>& needed() const { return needed_; }
  // Loads the needed code. Returns FailedPrecondition if a device's CPU has no
  // code, and InvalidArgument if the code does not match the plan.
  absl::Status Load(const PlanData& data, KernelResolver* resolver);

  // Returns the kernel's code for `device`, a number in the cluster, or null if
  // there is no code.
  const ResolvedKernel* kernel(uint32_t kernel, int64_t device) const;

 private:
  std::vector<NeededCode> needed_;  // by kernel, then target
  // Code by kernel and target text; target texts by device.
  std::map<std::pair<uint32_t, std::string>, ResolvedKernel> code_;
  std::map<int64_t, std::string> target_of_;
  std::string common_target_;  // target of all other devices
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_CODE_H_
