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
#include "pathways/HostArray.h"
#include "runtime/base/free_list.h"
#include "runtime/binding/parts.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/client/handles.h"
#include "runtime/client/run_table.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// Returns the size of an array. Returns InvalidArgument if the element type is
// invalid, a dimension is negative, or the array is larger than any memory.
absl::StatusOr<uint64_t> BytesOfArray(ElementType element,
                                      const std::vector<int64_t>& shape);

// A client's view of a program that it has loaded: the arguments and results of
// a launch, and where they lie. Immutable except lost(), calls() and
// is_to_leave(); any thread may use it.
class LoadedProgram {
 public:
  // `handle`: the controller's number. `origin`: the plan on the devices for
  // which it was first loaded. `has_values`: false without kernels; then no
  // host holds arrays.
  LoadedProgram(uint64_t handle, std::shared_ptr<const PreparedPlan> plan,
                std::shared_ptr<const PreparedPlan> origin, bool has_values);

  uint64_t handle() const { return handle_; }
  const PreparedPlan& plan() const { return *plan_; }
  const std::shared_ptr<const PreparedPlan>& origin() const { return origin_; }
  // Returns why no host has the program any more, although it may be loaded
  // again; OK if it is loaded. The client's lock guards it.
  const absl::Status& lost() const { return lost_; }
  void Lose(const absl::Status& why) const { lost_ = why; }
  // Number of calls of Launch in progress. Whoever gives the program up waits
  // for them.
  std::atomic<int64_t>& calls() const { return calls_; }
  // True if the program is on drained devices.
  std::atomic<bool>& is_to_leave() const { return is_to_leave_; }
  const std::string& name() const { return plan_->name(); }
  int num_arguments() const { return static_cast<int>(arguments_.size()); }
  const proto::Argument& argument(int index) const;
  // Placement of the blocks of an argument; null without kernels.
  const std::shared_ptr<const ArrayPlacement>& placement(int argument) const {
    return arguments_[argument].placement;
  }
  // Returns the contributions to an argument in the program's layout; none
  // without kernels.
  layout::Contributions ContributionsOf(int argument) const;
  // "argument 'x' of program 'p'"
  std::string Describe(int argument) const;

  // Returns InvalidArgument if a launch cannot have so many steps or arguments,
  // or if the number of its last step would exceed kMaxSteps. `first_step` is
  // not negative.
  absl::Status CheckLaunch(int64_t first_step, int64_t steps,
                           size_t arguments) const;
  // Returns InvalidArgument, with the argument and both types, if they differ.
  absl::Status CheckArgument(int index, const ArrayType& type, uint64_t bytes,
                             int64_t steps) const;
  // Returns a run of `steps` steps, allocated from `memory`, whose results have
  // no objects yet. Returns ResourceExhausted if a result is larger than any
  // memory.
  absl::StatusOr<std::shared_ptr<RunState>> MakeRun(int64_t steps,
                                                    FreeList* memory) const;

 private:
  // An argument or a result of a launch of one step.
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
