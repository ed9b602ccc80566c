//===- handles.h - Handles of what a client holds ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_HANDLES_H_
#define RUNTIME_CLIENT_HANDLES_H_

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pathways/HostArray.h"

namespace pathways {

// Handles of things that a client holds. They are plain values: a copy does not
// keep the thing alive, and using a handle after the thing's end, or with
// another client, is an error. `owner` differs for each client of a process; 0:
// none.
struct ProgramHandle {
  uint64_t id = 0, owner = 0;
};
struct RunHandle {
  uint64_t id = 0, owner = 0;
};
struct ArrayHandle {
  uint64_t id = 0, owner = 0;
};
struct SliceHandle {
  uint64_t id = 0, owner = 0;
};

// Type of an array.
struct ArrayType {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
};
// A program's results, those of its runs, and arrays kept from them share one
// type.
using SharedType = std::shared_ptr<const ArrayType>;

// An argument of a launch: a value, or an array that was put or kept before.
using LaunchArgument = std::variant<HostArray, ArrayHandle>;
using LaunchArguments = absl::InlinedVector<LaunchArgument, 4>;

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HANDLES_H_
