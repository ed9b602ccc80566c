//===- handles.h - Names of what a client holds -----------------*- C++ -*-===//
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
#include "runtime/base/host_array.h"

namespace pathways {

// Names of things that a client holds. Plain values: copying one does not keep
// the thing alive, and using one after its end, or with another client, is an
// error. `owner` is another number for each client of a process, 0 for none.
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

// What an array is.
struct ArrayType {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
};
// That of a program's results is also that of its runs and of arrays that were
// kept.
using SharedType = std::shared_ptr<const ArrayType>;

// One argument: a value, or an array that was put (or kept) before.
using LaunchArgument = std::variant<HostArray, ArrayHandle>;
using LaunchArguments = absl::InlinedVector<LaunchArgument, 4>;

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HANDLES_H_
