//===- memory.cc - Memory that may not be there ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/memory.h"

namespace pathways {

std::string NoMemoryText(ElementType element,
                         const std::vector<int64_t>& shape) {
  // Unsigned: a shape that nobody has checked may have more.
  auto bytes = static_cast<uint64_t>(ElementBytes(element));
  for (int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
  return "there is no memory for " + ShapeString(element, shape) + " (" +
         std::to_string(bytes) + " bytes)";
}

std::string NoMemoryText(uint64_t bytes) {
  return "there is no memory for its " + std::to_string(bytes) + " bytes";
}

}  // namespace pathways
