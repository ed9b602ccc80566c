//===- object_check.h - Check of an object before linking -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_KERNEL_OBJECT_CHECK_H_
#define RUNTIME_KERNEL_OBJECT_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace pathways {

struct ObjectSymbols {
  std::vector<std::string> defined;   // global symbols
  std::vector<std::string> imported;  // functions of kernel_imports.h
};

// Checks `object`, relocatable ELF code for this machine's architecture, and
// returns its symbols. It checks everything on which linking relies: that
// tables, names and relocations lie inside their sections and have known kinds,
// that no section needs more memory than the object has bytes, that no code
// would run by itself, and that only allowed functions are imported. Otherwise
// returns InvalidArgument with the reason. `object` must be 8-byte aligned.
absl::StatusOr<ObjectSymbols> CheckObject(absl::Span<const uint8_t> object);

}  // namespace pathways

#endif  // RUNTIME_KERNEL_OBJECT_CHECK_H_
