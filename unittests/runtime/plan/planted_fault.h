//===- planted_fault.h - One fault and what is said about it -- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PLAN_PLANTED_FAULT_H_
#define UNITTESTS_RUNTIME_PLAN_PLANTED_FAULT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/plan/verify.h"
#include "unittests/runtime/plan/plan_edit.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {

struct Fault {
  const char* name;
  int rule;
  // All of these are in the message of one issue of that rule.
  std::vector<std::string> says;
  std::function<void(Edit&)> plant;
};

inline void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.name; }

inline constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

// The sample plan with `fault` is refused for it.
inline void ExpectRefused(const Fault& fault) {
  proto::Plan plan = SamplePlan();
  Edit edit(&plan);
  fault.plant(edit);
  std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
  std::string all;
  for (const PlanIssue& issue : issues) {
    bool matches = issue.rule == fault.rule;
    for (const std::string& text : fault.says)
      matches &= issue.message.find(text) != std::string::npos;
    if (matches) return;
    all += "rule " + std::to_string(issue.rule) + ": " + issue.message + "\n";
  }
  ADD_FAILURE() << "expected an issue of rule " << fault.rule << ", found:\n"
                << all;
}

// Each rule from `first` to `last` has faults.
inline void ExpectFaultsOfRules(const std::vector<Fault>& faults, int first,
                                int last) {
  for (int rule = first; rule <= last; ++rule) {
    int count = 0;
    for (const Fault& fault : faults) count += fault.rule == rule;
    EXPECT_GE(count, 2) << RuleName(rule);
  }
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PLAN_PLANTED_FAULT_H_
