//===- request_table_test.cc - Requests that were not answered ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/request_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace pathways {
namespace {

TEST(RequestTableTest, EachEndsOnce) {
  RequestTable table;
  auto one = std::make_shared<Request>();
  auto two = std::make_shared<Request>();
  table.Add(1, one);
  table.Add(2, two);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.Find(1), one);
  EXPECT_EQ(table.Take(1), one);
  EXPECT_EQ(table.Take(1), nullptr);
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.Find(2), two);
  EXPECT_EQ(table.size(), 1u);
}

TEST(RequestTableTest, NobodyKnowsOneThatWasNeverMade) {
  RequestTable table;
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_EQ(table.Take(7), nullptr);
}

// The waiting caller shares the request, which outlives its entry in the table.
TEST(RequestTableTest, OutlivesItsPlace) {
  RequestTable table;
  auto request = std::make_shared<Request>();
  table.Add(1, request);
  table.Take(1)->program = 9;
  EXPECT_EQ(request->program, 9u);
  EXPECT_EQ(request.use_count(), 1);
}

}  // namespace
}  // namespace pathways
