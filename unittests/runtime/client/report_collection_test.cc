//===- report_collection_test.cc - Collection of reports of all processes -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/report_collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace pathways {
namespace {

proto::Collected ReportPart(uint32_t process, uint32_t part, uint32_t parts) {
  proto::Collected collected;
  collected.set_process(process);
  collected.set_part(part);
  collected.set_parts(parts);
  return collected;
}

TEST(ReportCollectionTest, IsCompleteWhenAllPartsOfAllProcessesAreHere) {
  ReportCollection reports;
  reports.Add(ReportPart(7, 1, 2), 10);
  reports.Expect(2, 40);
  EXPECT_FALSE(reports.complete());
  reports.Add(ReportPart(3, 0, 1), 20);
  EXPECT_FALSE(reports.complete());
  reports.Add(ReportPart(7, 1, 2), 30);  // a second copy
  EXPECT_FALSE(reports.complete());
  reports.Add(ReportPart(7, 0, 2), 40);
  EXPECT_TRUE(reports.complete());
  const auto parts = reports.Parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0][0]->process(), 3u);
  ASSERT_EQ(parts[1].size(), 2u);
  EXPECT_EQ(parts[1][0]->part(), 0u);
  EXPECT_EQ(parts[1][1]->part(), 1u);
  EXPECT_EQ(reports.asked(), 40);
  // The first part of each.
  EXPECT_THAT(reports.arrivals(),
              ::testing::ElementsAre(std::pair(3u, 20), std::pair(7u, 10)));
}

TEST(ReportCollectionTest, AProcessThatIsGoneIsNotWaitedFor) {
  ReportCollection reports;
  reports.Expect(3, 0);
  reports.Add(ReportPart(1, 0, 1), 10);
  reports.Add(ReportPart(2, 1, 2), 20);
  reports.Add(ReportPart(1, 0, 0), 30);  // it has answered
  reports.Add(ReportPart(2, 0, 0), 30);
  EXPECT_FALSE(reports.complete());
  reports.Add(ReportPart(2, 0, 2), 40);  // late
  reports.Add(ReportPart(3, 0, 0), 50);
  EXPECT_TRUE(reports.complete());
  ASSERT_EQ(reports.Parts().size(), 1u);
  EXPECT_EQ(reports.Parts()[0][0]->process(), 1u);
  EXPECT_THAT(reports.arrivals(), ::testing::ElementsAre(std::pair(1u, 10)));
}

TEST(ReportCollectionTest, WaitsToHearOfHowMany) {
  ReportCollection reports;
  reports.Add(ReportPart(0, 0, 1), 50);
  EXPECT_FALSE(reports.complete());
  reports.Expect(1, 0);
  EXPECT_TRUE(reports.complete());
}

TEST(ReportCollectionTest, PartsThatCannotBeAreDropped) {
  ReportCollection reports;
  reports.Expect(1, 0);
  reports.Add(ReportPart(0, 2, 2), 60);
  reports.Add(ReportPart(0, 3, 2), 70);
  EXPECT_FALSE(reports.complete());
  EXPECT_TRUE(reports.Parts().empty());
}

}  // namespace
}  // namespace pathways
