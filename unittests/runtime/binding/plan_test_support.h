//===- plan_test_support.h - Plans that a process has -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_BINDING_PLAN_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_BINDING_PLAN_TEST_SUPPORT_H_

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "runtime/binding/plan_index.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/plan/plan_manifest.h"

namespace pathways::testing {

// Has the index keep the plan, and returns what messages call it.
inline proto::PlanName KeepPlan(PlanIndex* plans,
                                std::shared_ptr<const PreparedPlan> plan) {
  const absl::StatusOr<PlanName> name = NameOf(plan->data());
  EXPECT_TRUE(name.ok()) << name.status();
  plans->Keep(*name, std::move(plan), nullptr);
  proto::PlanName out;
  NamePlan(*name, &out);
  return out;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_BINDING_PLAN_TEST_SUPPORT_H_
