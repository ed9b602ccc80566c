//===- program_constants.h - Arguments whose values a plan has --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan may have the values of some of its arguments: large constants of the
// program. A client takes them out of the plan before it loads the program, so
// that no host reads them there, and puts them once. The first launch brings
// them to the hosts, in the blocks that the program wants; later launches use
// them where they are.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PROGRAM_CONSTANTS_H_
#define RUNTIME_CLIENT_PROGRAM_CONSTANTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/client/handles.h"
#include "runtime/plan/plan_file.h"

namespace pathways {

class Client;

// The constants of one program of a client. Only Open and Release wait for, or
// call, the client. Not thread-safe; a constant object may be read by any
// thread.
class ProgramConstants {
 public:
  // A program without constants.
  ProgramConstants() = default;

  // Returns `plan` without values of arguments, for Client::Load. Such an
  // argument is like any other then.
  static PlanData WithoutValues(PlanData plan);
  // Puts the values of the arguments of `plan`. They stay in the memory of the
  // plan until hosts hold them. Returns errors of Client::Put, and
  // InvalidArgument if the plan lacks bytes.
  static absl::StatusOr<ProgramConstants> Put(Client* client,
                                              const PlanData& plan);

  // Number of arguments without values, which a caller passes.
  size_t num_arguments() const { return num_arguments_; }
  // Returns the arguments of a launch: `arguments` are those without values, in
  // their order.
  LaunchArguments Complete(LaunchArguments arguments) const;
  // Releases the arrays. Must be called once at most.
  void Release(Client* client) const;

 private:
  struct Constant {
    int argument;
    ArrayHandle array;
  };
  std::vector<Constant> constants_;  // in increasing order
  size_t num_arguments_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PROGRAM_CONSTANTS_H_
