//===- fetch_table_test.cc - Values that are asked for --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/fetch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/controller/controller_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FetchTableTest : public ::testing::Test {
 protected:
  // "REQUEST: OBJECT of HOST [BEGIN, END)" for what is asked for again, then
  // "REQUEST: STATUS" for what ends.
  std::vector<std::string> Tick(TimeNs now) {
    std::vector<FetchTable::Again> again;
    std::vector<FetchTable::Late> late;
    table_.Tick(now, busy_, &again, &late);
    std::vector<std::string> texts;
    for (const FetchTable::Again& a : again) {
      texts.push_back(absl::StrCat(a.request.id, ": ", a.object, " of ",
                                   a.range.host, " [", a.range.offset, ", ",
                                   a.range.offset + a.range.bytes, ")"));
    }
    for (const FetchTable::Late& l : late) {
      texts.push_back(
          absl::StrCat(l.request.id, ": ", std::string(l.status.message())));
    }
    return texts;
  }

  Topology topology_ = MakeTopology("1x3x1");
  WaitSet busy_;
  FetchTable table_{topology_, /*timeout_ns=*/100, /*piece_bytes=*/10};
};

TEST_F(FetchTableTest, IsOverWhenEachPieceHasCome) {
  table_.Add(0, {1, 7}, 5, {{0, 100, 25}, {2, 0, 10}});
  table_.Arrived(1, {1, 7}, 0, 110);
  table_.Arrived(2, {1, 7}, 0, 110);  // a second copy
  table_.Arrived(3, {1, 7}, 2, 0);
  table_.Arrived(4, {1, 7}, 0, 120);
  table_.Arrived(4, {2, 7}, 0, 100);  // of another client
  table_.Arrived(4, {1, 7}, 1, 100);  // of a stranger
  table_.Arrived(4, {1, 7}, 0, 125);
  EXPECT_FALSE(table_.empty());
  table_.Arrived(5, {1, 7}, 0, 100);
  EXPECT_TRUE(table_.empty());
  EXPECT_FALSE(table_.Remove({1, 7}));
}

TEST_F(FetchTableTest, AsksAgainForWhatIsMissing) {
  table_.Add(0, {1, 7}, 5, {{0, 100, 25}, {2, 0, 10}});
  table_.Add(0, {1, 8}, 6, {{1, 0, 0}});  // nothing
  table_.Arrived(10, {1, 7}, 2, 0);
  table_.Arrived(10, {1, 7}, 0, 100);
  EXPECT_THAT(Tick(30), IsEmpty());
  EXPECT_THAT(Tick(50), ElementsAre("7: 5 of 0 [110, 125)"));
}

TEST_F(FetchTableTest, WhatComesIsNotAskedForAgain) {
  table_.Add(0, {1, 7}, 5, {{0, 0, 1000}});
  for (int i = 1; i < 100; ++i) {
    table_.Arrived(50 * i - 1, {1, 7}, 0, 10 * (i - 1));
    EXPECT_THAT(Tick(50 * i), IsEmpty());
  }
  EXPECT_THAT(Tick(5000), ElementsAre("7: 5 of 0 [990, 1000)"));
}

TEST_F(FetchTableTest, EndsWithTheHostsThatDidNotAnswer) {
  table_.Add(0, {1, 7}, 5, {{0, 0, 10}, {2, 0, 10}, {1, 0, 10}, {2, 50, 5}});
  table_.Add(30, {2, 1}, 6, {{1, 0, 10}});
  table_.Arrived(20, {1, 7}, 1, 0);
  Tick(30);
  EXPECT_EQ(Tick(119).size(), 4u);
  EXPECT_THAT(Tick(120),
              ElementsAre("1: 6 of 1 [0, 10)",
                          "7: values were not fetched: no answer from host0, "
                          "host2"));
  EXPECT_THAT(Tick(120), ElementsAre("1: 6 of 1 [0, 10)"));
  EXPECT_TRUE(table_.Remove({2, 1}));
  EXPECT_THAT(Tick(500), IsEmpty());
}

TEST_F(FetchTableTest, AHostThatHasSomethingToRunIsGivenTime) {
  table_.Add(0, {1, 7}, 5, {{0, 0, 10}, {2, 0, 10}});
  table_.Arrived(0, {1, 7}, 2, 0);
  EXPECT_TRUE(table_.HasRequest(busy_));
  busy_.Assign({0});
  EXPECT_FALSE(table_.HasRequest(busy_));
  EXPECT_THAT(Tick(1000), ElementsAre("7: 5 of 0 [0, 10)"));
  busy_.Assign({2});  // has answered
  EXPECT_THAT(Tick(1100), ElementsAre("7: values were not fetched: no answer "
                                      "from host0"));
}

TEST_F(FetchTableTest, WhatAHostThatIsGoneHasEnds) {
  table_.Add(0, {1, 7}, 5, {{0, 0, 10}, {2, 0, 10}});
  table_.Add(0, {1, 8}, 5, {{1, 0, 10}});
  table_.Arrived(0, {1, 7}, 2, 0);
  EXPECT_THAT(table_.HostGone(2), IsEmpty());
  EXPECT_EQ(table_.HostGone(0).size(), 1u);
  EXPECT_THAT(Tick(50), ElementsAre("8: 5 of 1 [0, 10)"));
}

}  // namespace
}  // namespace pathways::testing
