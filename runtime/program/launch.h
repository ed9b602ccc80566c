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

// Upper bounds on the steps of one launch, and on the bytes of all steps of an
// array.
inline constexpr uint64_t kMaxSteps = uint64_t{1} << 40;
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 51;

// Checks that the last step of a launch has a number below kMaxSteps. Returns
// InvalidArgument, which names the program, the first step and the steps, if it
// has not.
absl::Status CheckStepNumbers(const std::string& program, uint64_t first_step,
                              uint64_t steps);

// Step numbers of one launch: firing `first` of the program is step
// `first_step` of the run that the launch belongs to.
struct StepNumbers {
  uint64_t first = 0;
  uint64_t first_step = 0;

  // Returns the step number of a firing. A firing before the launch has the
  // number of the launch's first step.
  uint64_t Of(uint64_t firing) const {
    return first_step + (firing < first ? 0 : firing - first);
  }
};

// Bytes of all steps; saturates above the size of any array.
uint64_t TotalBytes(uint64_t step_bytes, bool stepped, uint64_t steps);

// Values of one launch on one host. The host's executor makes it before the
// launch is granted. Then the host's devices read the arguments, and each
// writes its own shards of the results.
struct HostValues {
  // Parts of each array, as parts.h cuts them. Null: the host has no part of
  // it.
  LineVector<HostStore::Ref> arguments;
  struct Result {
    HostStore::Ref object;
    std::atomic<bool> poisoned{false};

    Result() = default;
    // Must happen before devices see it.
    Result(Result&& other) noexcept : object(std::move(other.object)) {}
  };
  LineVector<Result> results;
  uint64_t steps = 1;

  // Releases the arrays, but keeps the memory of its lists.
  void Clear() {
    arguments.clear();
    results.clear();
  }

  // Returns the number of arguments on this host that no launch has filled yet.
  size_t CountUnfilled() const {
    size_t unfilled = 0;
    for (const auto& argument : arguments) {
      unfilled += argument != nullptr && !argument->filled.load();
    }
    return unfilled;
  }
  // Fills the results when the launch is over on this host, or (`failed`) will
  // never be. Later launches may then read them.
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
