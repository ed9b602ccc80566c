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
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FetchTableTest : public ::testing::Test {
 protected:
  // "REQUEST: OBJECT of HOST from PIECE" for what is asked for again, then
  // "REQUEST: STATUS" for what ends.
  std::vector<std::string> Tick(TimeNs now) {
    std::vector<FetchTable::Again> again;
    std::vector<FetchTable::Late> late;
    table_.Tick(now, busy_, &again, &late);
    std::vector<std::string> texts;
    for (const FetchTable::Again& a : again) {
      texts.push_back(absl::StrCat(a.request.id, ": ", a.object, " of ",
                                   a.source.host, " from ",
                                   a.source.first_piece));
    }
    for (const FetchTable::Late& l : late) {
      texts.push_back(
          absl::StrCat(l.request.id, ": ", std::string(l.status.message())));
    }
    return texts;
  }

  Topology topology_ = MakeTopology("1x3x1");
  WaitSet busy_;
  FetchTable table_{topology_, /*timeout_ns=*/100};
};

TEST_F(FetchTableTest, IsOverWhenItsClientSaysSoOrGoes) {
  table_.Add(0, {1, 7}, 5, {{0, 3}, {2, 0}});
  table_.Add(0, {1, 7}, 6, {{1, 0}});          // a second one of that number
  EXPECT_THAT(table_.End({2, 7}), IsEmpty());  // of another client
  EXPECT_THAT(table_.End({1, 7}), ElementsAre(0, 2));
  EXPECT_THAT(table_.End({1, 7}), IsEmpty());
  EXPECT_TRUE(table_.empty());
  table_.Add(3, {1, 8}, 5, {});
  EXPECT_TRUE(table_.empty());
  table_.Add(3, {1, 8}, 5, {{0, 0}});
  table_.Add(3, {2, 8}, 5, {{0, 0}});
  ASSERT_EQ(table_.OfClient(1).size(), 1u);
  EXPECT_EQ(table_.OfClient(1)[0].id, 8u);
}

TEST_F(FetchTableTest, AsksNoMoreForWhatIsKept) {
  table_.Add(0, {1, 7}, 5, {{0, 0}});
  table_.Keep({2, 7});  // of another client
  EXPECT_FALSE(table_.empty());
  table_.Keep({1, 7});
  table_.Keep({1, 7});
  EXPECT_TRUE(table_.empty());
  EXPECT_THAT(Tick(1000), IsEmpty());
  EXPECT_EQ(table_.ObjectOf({1, 7}), 5u);
  EXPECT_EQ(table_.OfClient(1).size(), 1u);
  EXPECT_THAT(table_.End({1, 7}), ElementsAre(0));
  EXPECT_TRUE(table_.empty());
}

TEST_F(FetchTableTest, AsksAgain) {
  table_.Add(0, {1, 7}, 5, {{0, 3}, {2, 0}});
  EXPECT_THAT(Tick(30), ElementsAre("7: 5 of 0 from 3", "7: 5 of 2 from 0"));
  table_.Add(35, {1, 8}, 6, {{1, 0}});
  // Not what was asked for since.
  EXPECT_EQ(Tick(50).size(), 2u);
  EXPECT_EQ(Tick(60).size(), 3u);
}

TEST_F(FetchTableTest, LastsAsLongAsItGoesOn) {
  table_.Add(0, {1, 7}, 5, {{0, 0}});
  for (int i = 1; i < 100; ++i) {
    table_.Sent(90 * i - 1, {1, 7}, 0, i);
    table_.Sent(90 * i, {1, 7}, 0, i);  // no more than before
    EXPECT_THAT(Tick(90 * i), ElementsAre("7: 5 of 0 from 0"));
  }
  EXPECT_THAT(
      Tick(9009),
      ElementsAre("7: values were not fetched: no answer from host0 [PW4105]"));
}

TEST_F(FetchTableTest, IsRecentForTheTimeout) {
  EXPECT_FALSE(table_.HasRecent(0));
  table_.Add(10, {1, 7}, 5, {{0, 0}});
  busy_.Insert(0);
  Tick(90);
  EXPECT_TRUE(table_.HasRecent(109));
  EXPECT_FALSE(table_.HasRecent(110));
  table_.HostGone(0);
  EXPECT_FALSE(table_.HasRecent(20));
}

TEST_F(FetchTableTest, EndsWithTheHostsThatDidNotAnswer) {
  table_.Add(0, {1, 7}, 5, {{0, 0}, {2, 0}, {1, 0}});
  table_.Add(30, {2, 1}, 6, {{1, 0}});
  Tick(30);
  Tick(60);
  table_.Sent(61, {1, 7}, 1, 0);  // alive
  EXPECT_THAT(Tick(100),
              ElementsAre("1: 6 of 1 from 0",
                          "7: values were not fetched: no answer from host0, "
                          "host2 [PW4105]"));
  EXPECT_THAT(Tick(100), ElementsAre("1: 6 of 1 from 0"));
  EXPECT_THAT(table_.End({2, 1}), ElementsAre(1));
  EXPECT_THAT(Tick(500), IsEmpty());
  // Its hosts are to be told when the client has heard of it.
  EXPECT_TRUE(table_.empty());
  EXPECT_THAT(table_.End({1, 7}), ElementsAre(0, 1, 2));
}

TEST_F(FetchTableTest, WhenAllAnswerAllAreNamed) {
  table_.Add(0, {1, 7}, 5, {{0, 0}, {2, 0}});
  Tick(50);
  table_.Sent(60, {1, 7}, 0, 0);
  table_.Sent(60, {1, 7}, 2, 0);
  EXPECT_THAT(Tick(100), ElementsAre("7: values were not fetched: no answer "
                                     "from host0, host2 [PW4105]"));
}

TEST_F(FetchTableTest, AHostThatHasSomethingToRunIsGivenTime) {
  table_.Add(0, {1, 7}, 5, {{0, 0}, {2, 0}});
  EXPECT_TRUE(table_.HasRequest(busy_));
  busy_.Assign({0});
  EXPECT_FALSE(table_.HasRequest(busy_));
  EXPECT_EQ(Tick(1000).size(), 2u);
  busy_.Assign({1});  // not one of its hosts
  EXPECT_EQ(Tick(1099).size(), 2u);
  EXPECT_EQ(Tick(1100).size(), 1u);
}

TEST_F(FetchTableTest, AHostThatIsGoneEndsWhatWaitsForIt) {
  table_.Add(0, {1, 7}, 5, {{0, 0}, {2, 0}});
  table_.Add(0, {1, 8}, 5, {{1, 0}});
  EXPECT_EQ(table_.HostGone(0).size(), 1u);
  EXPECT_TRUE(table_.HostGone(2).empty());
  EXPECT_FALSE(table_.empty());
  EXPECT_THAT(table_.End({1, 7}), IsEmpty());  // both are gone
  EXPECT_FALSE(table_.empty());
}

}  // namespace
}  // namespace pathways::testing
