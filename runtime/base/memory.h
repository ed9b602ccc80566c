//===- memory.h - Allocations that may fail ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocation of memory that grows with the arrays of a program. If the system
// refuses it, the result is an error that names the array, and not the end of
// the process.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_MEMORY_H_
#define RUNTIME_BASE_MEMORY_H_

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pathways/HostArray.h"

namespace pathways {

// Calls `make`, which allocates. Returns false if there was not enough memory;
// an exception has then unwound what `make` had built.
template <typename Make>
[[nodiscard]] bool HasMemoryFor(Make&& make) {
  try {
    std::forward<Make>(make)();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {  // more than any container has
    return false;
  }
}

// Returns the text of that error: "there is no memory for 64x256xf32 (65536
// bytes)".
std::string NoMemoryText(ElementType element,
                         const std::vector<int64_t>& shape);
// Returns "there is no memory for its 65536 bytes".
std::string NoMemoryText(uint64_t bytes);

// Touches all pages of fresh memory, so that no later access pays for a page
// fault. The bytes are undefined afterwards. Returns false if the system has no
// more memory.
bool TouchPages(char* data, uint64_t bytes);

}  // namespace pathways

#endif  // RUNTIME_BASE_MEMORY_H_
