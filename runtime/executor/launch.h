//===- launch.h - One launch: values in, values out -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_LAUNCH_H_
#define RUNTIME_EXECUTOR_LAUNCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/host_array.h"

namespace pathways {

// The values of one launch. Written by the client before the launch is asked
// for, then by the fetches of all hosts, each its own part of a result; read by
// the client when the launch has ended.
struct LaunchValues {
  // Global arrays by argument; stepped ones have a leading dimension. Empty
  // data where kernels do not run.
  std::vector<std::shared_ptr<const HostArray>> arguments;
  struct Result {
    HostArray array;  // as given to the client
    // One copy of the array per unreduced contribution, one after the other;
    // stepped results hold all steps of a contribution together.
    std::vector<char> data;
    int64_t contributions = 1;
    uint64_t step_bytes = 0;  // of one step of one contribution
    bool stepped = false;
    std::atomic<bool> poisoned{false};
  };
  std::vector<std::unique_ptr<Result>> results;
  uint64_t steps = 1;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_LAUNCH_H_
