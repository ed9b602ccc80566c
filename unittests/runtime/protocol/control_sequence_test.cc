//===- control_sequence_test.cc - Numbered messages, in their order -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ControlSequenceTest : public ::testing::Test {
 protected:
  // The numbers of what is handled when the one of this number has come.
  std::vector<uint64_t> Take(uint64_t number) {
    std::vector<uint64_t> handled;
    ControlRef control = controls_.New();
    control->set_sequence(number);
    was_new_ =
        sequence_.Take(number, std::move(control), [&](const ControlRef& next) {
          handled.push_back(next->sequence());
          EXPECT_EQ(sequence_.last(), next->sequence());
        });
    return handled;
  }

  ControlPool controls_;
  ControlSequence sequence_;
  bool was_new_ = false;
};

TEST_F(ControlSequenceTest, TakesThemByTheirNumbers) {
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(4), IsEmpty());
  EXPECT_THAT(Take(1), ElementsAre(1, 2));
  EXPECT_THAT(Take(3), ElementsAre(3, 4));
  EXPECT_THAT(Take(5), ElementsAre(5));
  EXPECT_EQ(sequence_.last(), 5u);
}

TEST_F(ControlSequenceTest, DropsSecondCopies) {
  EXPECT_THAT(Take(1), ElementsAre(1));
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Take(1), IsEmpty());
  EXPECT_FALSE(was_new_);
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Take(2), ElementsAre(2, 3));
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_FALSE(was_new_);
}

}  // namespace
}  // namespace pathways
