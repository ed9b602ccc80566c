//===- checks.h - Comparison of results with expected results ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan may say that one of its results is the expected value of another one:
// proto::Expectation. `#pw.expect` in docs/dialects/pw.md has the rules.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_CHECKS_H_
#define TOOLS_PW_RUN_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pathways/HostArray.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// Returns the number of results that are checked against other results.
int64_t NumChecks(const proto::Interface& interface);

// Returns, for each result, whether it is checked or is the expected value of a
// check.
std::vector<bool> ResultsOfChecks(const proto::Interface& interface);

// Returns how many units in the last place two floats at `a` and `b` are apart:
// the distance of their bit patterns, taken as sign and magnitude. NaNs are 0
// apart. A NaN and another value, and an infinity and another value, are
// UINT64_MAX apart.
uint64_t UlpDistance(ElementType element, const char* a, const char* b);

// Returns "" if `got` passes the check against `want`, which has the same shape
// and element type. Otherwise returns text with the first element that fails,
// such as "y[1]: got 3, expected 4, 2097152 units in the last place apart,
// expected at most 3; 1 of 6 elements differs".
std::string WhyCheckFails(const std::string& name, const HostArray& got,
                          const HostArray& want,
                          const proto::Expectation& expect);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_CHECKS_H_
