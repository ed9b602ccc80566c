//===- signature.h - Arguments and results of a program ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a plan as the tool's user sees it, and texts of errors about
// its names.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_SIGNATURE_H_
#define TOOLS_PW_RUN_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// An argument or a result.
struct Port {
  std::string name;
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;  // shape of one step, global, in elements
  bool stepped = false;
  int index = 0;  // in the plan's interface

  // Returns the shape, with a leading dimension of `steps` if stepped.
  std::vector<int64_t> ShapeOver(int64_t steps) const;
  // Returns text like "64x256xf32", or "4x64x256xf32 (4 steps of 64x256xf32)".
  std::string TypeOver(int64_t steps) const;
};

struct Signature {
  std::vector<Port> arguments;  // those that callers pass
  std::vector<Port> results;
};

// `plan` must have passed the verifier.
Signature SignatureOf(const proto::Plan& plan);

// Returns the index of `name` in `ports`. Returns InvalidArgument if there is
// none, with the known names or the one that was probably meant. `what` is
// "input" or "result".
absl::StatusOr<size_t> FindPort(const std::vector<Port>& ports,
                                absl::string_view name, absl::string_view what);

// Largest array that the tool creates, in bytes: the memory of this machine.
int64_t MaxArrayBytes();

// Returns an error if an array of this type over `steps` steps is larger than
// MaxArrayBytes().
absl::Status CheckSize(const Port& port, int64_t steps);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_SIGNATURE_H_
