//===- table_inputs_test.cc - Inputs of a host's tables -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/table_inputs.h"

#include <gtest/gtest.h>

#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

TEST(TableInputsTest, FindsShardsInTheCluster) {
  // Host 3 is the second one of the second island.
  const TestTables t("2x2x2", /*host=*/3,
                     MovePlan("p", /*size=*/4, /*from=*/0, /*to=*/1));
  EXPECT_EQ(t.in.first_device(), 6);
  EXPECT_EQ(t.in.action(1).name(), "first");
  const Topology::Place source = t.in.PlaceOf(/*slice=*/0, /*shard=*/1);
  EXPECT_EQ(source.host, 0);
  EXPECT_EQ(source.device, 1);
  const Topology::Place destination = t.in.PlaceOf(/*slice=*/1, /*shard=*/2);
  EXPECT_EQ(destination.host, 3);
  EXPECT_EQ(destination.device, 0);
}

TEST(TableInputsTest, WithoutFunctionsNoHostIsFarOrGetsLentPieces) {
  TestTables t("2x1x1", 0, EchoPlan());
  EXPECT_FALSE(t.in.lends(1));
  EXPECT_FALSE(t.in.is_far(1));
  t.reach.lends = [](int host) { return host == 1; };
  t.reach.is_far = [](int host) { return host == 2; };
  EXPECT_TRUE(t.in.lends(1));
  EXPECT_FALSE(t.in.lends(2));
  EXPECT_TRUE(t.in.is_far(2));
  EXPECT_FALSE(t.in.is_far(1));
}

}  // namespace
}  // namespace pathways::testing
