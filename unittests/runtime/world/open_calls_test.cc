//===- open_calls_test.cc - Calls of threads into a world -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/open_calls.h"

#include <gtest/gtest.h>

#include <thread>

namespace pathways {
namespace {

TEST(OpenCallsTest, TheOutermostCallEndsLast) {
  OpenCalls calls;
  EXPECT_FALSE(calls.End());
  calls.Begin();
  calls.Begin();
  EXPECT_TRUE(calls.IsInCall());
  EXPECT_FALSE(calls.End());
  EXPECT_TRUE(calls.IsInCall());
  EXPECT_TRUE(calls.End());
  EXPECT_FALSE(calls.IsInCall());
  EXPECT_FALSE(calls.End());
}

TEST(OpenCallsTest, AThreadIsInCallsOfOneWorld) {
  OpenCalls calls, other;
  calls.Begin();
  other.Begin();
  EXPECT_FALSE(other.IsInCall());
  EXPECT_FALSE(other.End());
  EXPECT_TRUE(calls.IsInCall());
  std::thread([&] {
    EXPECT_FALSE(calls.IsInCall());
    other.Begin();
    EXPECT_TRUE(other.IsInCall());
    EXPECT_TRUE(other.End());
  }).join();
  EXPECT_TRUE(calls.End());
}

}  // namespace
}  // namespace pathways
