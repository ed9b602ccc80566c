//===- api.h - Results of the public API in benchmarks ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_API_H
#define BENCHMARKS_API_H

#include <utility>

#include "benchmarks/bench.h"
#include "pathways/Result.h"

namespace pathways::bench {

// Returns the value, or ends the program with the error.
template <typename T>
T Take(Result<T> result) {
  if (!result) Die(result.error().message);
  return *std::move(result);
}

}  // namespace pathways::bench

#endif  // BENCHMARKS_API_H
