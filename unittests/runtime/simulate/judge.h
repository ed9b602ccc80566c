//===- judge.h - Rules that every run must keep -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_JUDGE_H_
#define UNITTESTS_RUNTIME_SIMULATE_JUDGE_H_

#include <string>
#include <vector>

#include "unittests/runtime/simulate/run_scenario.h"

namespace pathways::simulate {

struct Verdict {
  std::vector<std::string> wrong;  // rules that were broken, and by what
  // Calls that brought what they bring when nothing goes wrong, and others.
  int good = 0, bad = 0;
};

// `alone`: of the same scenario. docs/simulation.md has the rules.
Verdict Judge(const Scenario& scenario, const Prepared& prepared,
              const RunRecord& run, const RunRecord& alone);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_JUDGE_H_
