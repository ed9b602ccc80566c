//===- random_cases.h - Seeds and numbers of random cases -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RANDOM_CASES_H
#define UNITTESTS_RANDOM_CASES_H

#include <cstdint>
#include <cstdlib>

namespace pathways {

// Returns the number in variable `name` of the environment, or `otherwise` if
// the variable is not set.
inline uint64_t FromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Returns the seed of a random test: PATHWAYS_TEST_SEED, or else `usual`.
inline uint64_t TestSeed(uint64_t usual) {
  return FromEnvironment("PATHWAYS_TEST_SEED", usual);
}

// Returns the number of random cases that a test tries: `usual`, or `all` if
// PATHWAYS_TEST_ALL is set, as under scripts/check --all.
inline uint64_t SampleSize(uint64_t usual, uint64_t all) {
  return std::getenv("PATHWAYS_TEST_ALL") == nullptr ? usual : all;
}

} // namespace pathways

#endif // UNITTESTS_RANDOM_CASES_H
