//===- fuzz_target.h - Interface of fuzz targets ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_FUZZ_FUZZ_TARGET_H_
#define UNITTESTS_RUNTIME_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Ends the program when it does not hold, in every build.
#define FUZZ_CHECK(condition)                                           \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, \
                   __LINE__, #condition);                               \
      std::abort();                                                     \
    }                                                                   \
  } while (false)

namespace pathways::fuzz {

// Memory that a target may hold at a time: `bytes` for any input, and
// `per_byte` more for each byte of the input. Both count the memory that the
// target itself keeps.
struct Budget {
  size_t bytes;
  size_t per_byte;
};
// Each target has one.
extern const Budget kBudget;

}  // namespace pathways::fuzz

// Each target has one. libFuzzer's main calls it, or that of replay_main.cc.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif  // UNITTESTS_RUNTIME_FUZZ_FUZZ_TARGET_H_
