//===- bench.h - What the benchmarks share ----------------------*- C++ -*-===//
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
#include <string>

namespace pathways::bench {

inline double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One line that benchmarks/run reads.
inline void Figure(const std::string& name, double value, const char* unit) {
  std::printf("figure %s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

}  // namespace pathways::bench

#endif  // BENCHMARKS_BENCH_H
