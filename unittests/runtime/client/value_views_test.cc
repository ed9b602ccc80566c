//===- value_views_test.cc - Parts of values in memory --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/value_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "pathways/HostArray.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

// Three steps of two elements each: 0, 1, ... 5.
SharedValue Steps() {
  HostArray rows{ElementType::kF32, {3, 2}, {}};
  const float values[] = {0, 1, 2, 3, 4, 5};
  rows.data.resize(sizeof values);
  std::memcpy(rows.data.data(), values, sizeof values);
  return std::make_shared<const ArrayValue>(std::move(rows));
}

std::vector<float> Floats(const ArrayValue& value) {
  std::vector<float> floats(value.data().size() / sizeof(float));
  std::memcpy(floats.data(), value.data().data(), value.data().size());
  return floats;
}

TEST(ValueViewsTest, ABorrowedPartIsNotCopiedAndKeepsTheValue) {
  SharedValue value = Steps();
  const char* const bytes = value->data().data();
  const uint64_t of_step = BytesOfStep(*value);
  EXPECT_EQ(of_step, 8u);
  const SharedValue part =
      Borrow(value, WithSteps(value->type().shape, 2), of_step, 2 * of_step);
  value.reset();
  EXPECT_EQ(part->data().data(), bytes + of_step);
  EXPECT_THAT(part->type().shape, ElementsAre(2, 2));
  EXPECT_THAT(Floats(*part), ElementsAre(2, 3, 4, 5));
}

TEST(ValueViewsTest, AWholeValueHasTheSameBytes) {
  const SharedValue value = Steps();
  const SharedValue whole = Whole(value);
  EXPECT_TRUE(whole->borrowed());
  EXPECT_EQ(whole->data().data(), value->data().data());
  EXPECT_EQ(whole->type().shape, value->type().shape);
}

TEST(ValueViewsTest, TheLastStepHasNoDimensionOfSteps) {
  const SharedValue last = LastStepOf(*Steps());
  EXPECT_THAT(last->type().shape, ElementsAre(2));
  EXPECT_THAT(Floats(*last), ElementsAre(4, 5));
}

TEST(ValueViewsTest, AnArrayWithoutStepsHasNoBytesOfAStep) {
  const ArrayValue none(HostArray{ElementType::kF32, {0, 2}, {}});
  EXPECT_EQ(BytesOfStep(none), 0u);
}

}  // namespace
}  // namespace pathways
