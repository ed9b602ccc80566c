//===- bench.h - Functions shared by the benchmarks -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_BENCH_H
#define BENCHMARKS_BENCH_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pathways::bench {

inline double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Prints a line that benchmarks/run reads.
inline void Figure(const std::string& name, double value, const char* unit) {
  std::printf("figure %s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

[[noreturn]] inline void Die(const std::string& what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}
// Returns the value, or ends the program with the error.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) Die(value.status().ToString());
  return *std::move(value);
}
inline void Must(const absl::Status& status) {
  if (!status.ok()) Die(status.ToString());
}

}  // namespace pathways::bench

#endif  // BENCHMARKS_BENCH_H
