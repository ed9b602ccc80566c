//===- host_grants_test.cc - Grants of a host and their ends --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(HostGrantsTest, AppliesGrantsInTheOrderOfTheirPlaces) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_THAT(
      Done(host.Grant(/*launch=*/7, /*place=*/5, /*previous_position=*/3,
                      /*first=*/2, /*steps=*/2, 0, 4)),
      IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), ElementsAre(3, 5));
  // Second copies.
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4)), IsEmpty());
}

// The island's scheduler forgot the grant when it was given up.
TEST(HostGrantsTest, DoesNotApplyAGrantWhoseSkipOvertookIt) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4, 0, /*skip=*/true)),
              IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 5, 3, 2, 2, 0, 4)), IsEmpty());
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 4)), ElementsAre(3));
}

TEST(HostGrantsTest, GivesUpAGrantThatIsNotOfItsLaunch) {
  struct Case {
    uint64_t first, steps, launch_first, of;
  };
  for (const Case& c : {
           Case{0, 0, 0, 4},
           Case{0, 5, 0, 4},
           Case{1, 1, 0, 4},
           Case{1, 1, 1, 4},
           Case{0, 1, 0, 0},
           Case{0, uint64_t{1} << 50, 0, uint64_t{1} << 50},
       }) {
    RecordedHost host("1x1x2");
    host.Load(MovePlan("p", 2));
    EXPECT_THAT(
        Done(host.Grant(7, 3, 0, c.first, c.steps, c.launch_first, c.of)),
        IsEmpty())
        << c.first << " " << c.steps << " " << c.launch_first << " " << c.of;
  }
}

TEST(HostGrantsTest, StopsAtAWindowWithoutCredits) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  // Two slots at the receiver: two pieces, then no more.
  std::vector<Sent> sent = host.Grant(7, 3, 0, 0, 5, 0, 5);
  EXPECT_THAT(WiresOf(sent, kPieceMessage), SizeIs(2));
  EXPECT_THAT(Done(sent), IsEmpty());
  const std::vector<WireMessage> pieces = WiresOf(sent, kPieceMessage);
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].step, pieces[1].step}),
              ElementsAre(0, 1));
  EXPECT_THAT((std::vector<uint64_t>{pieces[0].sequence, pieces[1].sequence}),
              ElementsAre(1, 2));
}

}  // namespace
}  // namespace pathways::testing
