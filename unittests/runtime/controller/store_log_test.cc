//===- store_log_test.cc - How far the hosts' stores have come ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> Ids(const std::vector<ClientRequest>& requests) {
  std::vector<uint64_t> ids;
  for (const ClientRequest& request : requests) ids.push_back(request.id);
  return ids;
}

TEST(StoreLogTest, NumbersEachHostFromOne) {
  StoreLog log;
  EXPECT_EQ(log.Number(3, false), 1u);
  EXPECT_EQ(log.Number(3, true), 2u);
  EXPECT_EQ(log.Number(5, false), 1u);
}

TEST(StoreLogTest, AsksOnlyThoseThatDroppedSomethingSince) {
  StoreLog log;
  log.Number(1, /*drops=*/false);
  log.Number(2, /*drops=*/true);
  log.Number(2, /*drops=*/false);
  EXPECT_THAT(log.Unsettled(), ElementsAre(2));
  EXPECT_THAT(log.Settled(2, 1), IsEmpty());
  EXPECT_THAT(log.Unsettled(), IsEmpty());
  log.Number(2, /*drops=*/true);
  EXPECT_THAT(log.Unsettled(), ElementsAre(2));
}

TEST(StoreLogTest, ARequestIsOverWhenAllItsHostsHaveComeSoFar) {
  StoreLog log;
  log.Number(1, true);
  log.Number(2, true);
  log.Await({0, 7}, {1, 2});
  log.Number(2, true);
  log.Await({0, 8}, {2});
  EXPECT_THAT(log.Settled(1, 1), IsEmpty());
  EXPECT_THAT(log.Settled(1, 1), IsEmpty());  // a second copy
  EXPECT_THAT(Ids(log.Settled(2, 2)), ElementsAre(7, 8));
  EXPECT_THAT(log.Settled(2, 2), IsEmpty());
}

TEST(StoreLogTest, AHostThatSaysTooMuchIsTakenAtWhatItWasSent) {
  StoreLog log;
  log.Number(1, true);
  EXPECT_THAT(log.Settled(1, 100), IsEmpty());
  log.Number(1, true);
  EXPECT_THAT(log.Unsettled(), ElementsAre(1));
}

}  // namespace
}  // namespace pathways
