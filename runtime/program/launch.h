//===- launch.h - One launch: values in, values out -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_LAUNCH_H_
#define RUNTIME_PROGRAM_LAUNCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/line_allocator.h"
#include "runtime/store/store.h"

namespace pathways {

// Most steps of one launch, and most bytes of all steps of an array.
inline constexpr uint64_t kMaxSteps = uint64_t{1} << 40;
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 51;

// The last step of a launch has a number below this, too.
// InvalidArgument names the program, the first step and the steps.
absl::Status CheckStepNumbers(const std::string& program, uint64_t first_step,
                              uint64_t steps);

// How the steps of one launch are numbered: firing `first` of the program is
// step `first_step` of the run that the launch belongs to.
struct StepNumbers {
  uint64_t first = 0;
  uint64_t first_step = 0;

  // The number of the step that is this firing of the program. A firing before
  // the launch has that of its first step.
  uint64_t Of(uint64_t firing) const {
    return first_step + (firing < first ? 0 : firing - first);
  }
};

// Of all steps; more than any array has when that is too much.
uint64_t TotalBytes(uint64_t step_bytes, bool stepped, uint64_t steps);

// What one host holds of the values of one launch. Made by the host's executor
// before the launch is granted; then the host's devices read the arguments and
// write, each its own shards, the results.
struct HostValues {
  // Parts of each array, as parts.h cuts them. Null: nothing of it is here.
  LineVector<HostStore::Ref> arguments;
  struct Result {
    HostStore::Ref object;
    std::atomic<bool> poisoned{false};

    Result() = default;
    // Before devices see it.
    Result(Result&& other) noexcept : object(std::move(other.object)) {}
  };
  LineVector<Result> results;
  uint64_t steps = 1;

  // Gives up what it holds, but not the memory of its lists.
  void Clear() {
    arguments.clear();
    results.clear();
  }

  // Arguments here that no launch has filled yet.
  size_t CountUnfilled() const {
    size_t unfilled = 0;
    for (const auto& argument : arguments) {
      unfilled += argument != nullptr && !argument->filled.load();
    }
    return unfilled;
  }
  // The launch is over on this host, or (failed) will not be: later ones may
  // read its results.
  void Fill(bool failed) const {
    for (const Result& result : results) {
      if (result.object == nullptr) continue;
      result.object->poisoned =
          failed || result.poisoned.load(std::memory_order_relaxed);
      result.object->filled.store(true, std::memory_order_release);
    }
  }
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_LAUNCH_H_
