//===- unfilled_launches.h - Launches that wait for arguments ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STAGING_UNFILLED_LAUNCHES_H_
#define RUNTIME_STAGING_UNFILLED_LAUNCHES_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Granted launches of one host with arguments that other launches have not
// filled yet. Invariants: (1) whenever some arguments of a launch were filled,
// its program is notified once; (2) a launch is forgotten when all of its
// arguments are filled, or with its program; until then it is neither over nor
// moved. Not thread-safe; must be called after every change that fills
// arguments. Does not own programs or launches.
class UnfilledLaunches {
 public:
  // Adds a launch that was just granted. Does nothing if all of its arguments
  // are filled.
  void Add(const HostProgram* program, const HostLaunch* launch);
  void Remove(const HostProgram* program);
  // Calls `tell`, which must not call back, with the program of each launch
  // whose arguments were filled since the last call.
  void Update(absl::FunctionRef<void(const HostProgram&)> tell);

 private:
  struct Unfilled {
    const HostProgram* program;
    const HostLaunch* launch;
    size_t missing;  // unfilled arguments
  };
  std::vector<Unfilled> unfilled_;  // in the order of grants
};

}  // namespace pathways

#endif  // RUNTIME_STAGING_UNFILLED_LAUNCHES_H_
