//===- memory.h - Memory that may not be there ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For what grows with the arrays of a program: the system may refuse it, and
// that is an error with the array's name, not the end of the process.
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

#include "runtime/base/host_array.h"

namespace pathways {

// Calls `make`, which allocates. False: there was no memory; what it has made
// by then is gone as an exception leaves it.
template <typename Make>
[[nodiscard]] bool HasMemoryFor(Make&& make) {
  try {
    std::forward<Make>(make)();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {  // more than any container can have
    return false;
  }
}

// What is said then: "there is no memory for 64x256xf32 (65536 bytes)".
std::string NoMemoryText(ElementType element,
                         const std::vector<int64_t>& shape);
// "there is no memory for its 65536 bytes".
std::string NoMemoryText(uint64_t bytes);

// Touches fresh memory, whose values are undefined then: nobody pays for a
// first touch later. False: the system has no more.
bool TouchPages(char* data, uint64_t bytes);

}  // namespace pathways

#endif  // RUNTIME_BASE_MEMORY_H_
