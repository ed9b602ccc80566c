//===- loaded_program.h - A program, as its client sees it ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_LOADED_PROGRAM_H_
#define RUNTIME_CLIENT_LOADED_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/host_array.h"
#include "runtime/binding/parts.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/client/handles.h"
#include "runtime/client/run_table.h"
#include "runtime/client/spare_memory.h"

namespace pathways {

// InvalidArgument: it has no element type, a negative size, or more bytes than
// any memory.
absl::StatusOr<uint64_t> BytesOfArray(ElementType element,
                                      const std::vector<int64_t>& shape);

// What a client knows of a program that it has loaded: what a launch takes and
// returns, and where that lies. Immutable but for lost(), calls() and
// is_to_leave(); any thread.
class LoadedProgram {
 public:
  // `handle`: the controller's. Without kernels nothing lies anywhere.
  // `origin`: the plan on the devices that it was first loaded for.
  LoadedProgram(uint64_t handle, std::shared_ptr<const PreparedPlan> plan,
                std::shared_ptr<const PreparedPlan> origin, bool has_values);

  uint64_t handle() const { return handle_; }
  const PreparedPlan& plan() const { return *plan_; }
  const std::shared_ptr<const PreparedPlan>& origin() const { return origin_; }
  // OK, or why no host has it any more; of one that may be loaded again.
  // Guarded by who has it.
  const absl::Status& lost() const { return lost_; }
  void Lose(const absl::Status& why) const { lost_ = why; }
  // Launches of it that are being called: who gives it up waits for them.
  std::atomic<int64_t>& calls() const { return calls_; }
  // It is on devices that are drained.
  std::atomic<bool>& is_to_leave() const { return is_to_leave_; }
  const std::string& name() const { return plan_->name(); }
  int num_arguments() const { return static_cast<int>(arguments_.size()); }
  const proto::Argument& argument(int index) const;
  // Where the blocks of an argument lie; null without kernels.
  const std::shared_ptr<const ArrayPlacement>& placement(int argument) const {
    return arguments_[argument].placement;
  }
  // "argument 'x' of program 'p'"
  std::string Describe(int argument) const;

  // InvalidArgument: a launch cannot have so many steps or arguments, or its
  // last step would have a number above kMaxSteps. `first_step` is not
  // negative.
  absl::Status CheckLaunch(int64_t first_step, int64_t steps,
                           size_t arguments) const;
  // InvalidArgument names the argument and both types.
  absl::Status CheckArgument(int index, const ArrayType& type, uint64_t bytes,
                             int64_t steps) const;
  // A run of so many steps, with results that have no objects yet, in `memory`.
  // ResourceExhausted: one is larger than any memory.
  absl::StatusOr<std::shared_ptr<RunState>> MakeRun(int64_t steps,
                                                    SpareMemory* memory) const;

 private:
  // An argument or a result, of a launch of one step.
  struct Port {
    std::shared_ptr<const ArrayPlacement> placement;
    SharedType type;
    uint64_t bytes;
    bool stepped;
  };

  Port MakePort(std::shared_ptr<const ArrayPlacement> placement,
                uint32_t buffer, bool stepped) const;

  const uint64_t handle_;
  const std::shared_ptr<const PreparedPlan> plan_, origin_;
  mutable absl::Status lost_;
  mutable std::atomic<int64_t> calls_{0};
  mutable std::atomic<bool> is_to_leave_{false};
  const bool has_values_;
  const std::shared_ptr<const ProgramNames> names_;
  std::vector<Port> arguments_, results_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_LOADED_PROGRAM_H_
