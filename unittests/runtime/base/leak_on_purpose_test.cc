//===- leak_on_purpose_test.cc - Objects that are never destroyed ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/leak_on_purpose.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pathways {
namespace {

TEST(LeakOnPurposeTest, NothingIsDestroyed) {
  std::weak_ptr<int> seen;
  {
    auto thing = std::make_shared<int>(5);
    seen = thing;
    LeakOnPurpose(std::move(thing));
  }
  EXPECT_FALSE(seen.expired());
}

TEST(LeakOnPurposeTest, WhatAValueHoldsStaysWhereItIs) {
  std::vector<std::unique_ptr<int>> values;
  values.push_back(std::make_unique<int>(7));
  const int* at = values[0].get();
  KeepValueForEver(std::move(values));
  EXPECT_EQ(*at, 7);
}

}  // namespace
}  // namespace pathways
