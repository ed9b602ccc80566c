//===- group_bytes_test.cc - Bytes that a collective moves ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/group_bytes.h"

#include <gtest/gtest.h>

namespace pathways::layout {
namespace {

// Returns an exchange of four ranks with 8 elements of 4 bytes each.
ExchangeSpec MakeSpec(ExchangeKind kind, std::vector<int32_t> hosts) {
  ExchangeSpec spec;
  spec.kind = kind;
  spec.tree = ReductionTree({4});
  spec.hosts = std::move(hosts);
  spec.count = 8;
  spec.element_bytes = spec.wide_bytes = 4;
  spec.sources = {3, 0, 1, -1};
  return spec;
}

TEST(GroupBytesTest, DevicesOfOneHostReceiveFromEachOther) {
  auto count = [](ExchangeKind kind, const std::vector<int64_t>& devices) {
    return CountGroupBytes(MakeSpec(kind, {7, 7, 7, 7}), devices);
  };
  const std::vector<int64_t> apart = {0, 1, 2, 3}, shared = {0, 0, 1, 1};
  EXPECT_EQ(count(ExchangeKind::kAllGather, apart).total(), 4 * 3 * 32);
  EXPECT_EQ(count(ExchangeKind::kAllReduce, apart).total(), 2 * 3 * 32);
  EXPECT_EQ(count(ExchangeKind::kReduceScatter, apart).total(), 4 * 3 * 8);
  EXPECT_EQ(count(ExchangeKind::kAllToAll, apart).total(), 4 * 3 * 8);
  EXPECT_EQ(count(ExchangeKind::kPermute, apart).total(), 3 * 32);
  // Bytes that stay on a device do not move.
  EXPECT_EQ(count(ExchangeKind::kAllGather, shared).total(), 4 * 32);
  EXPECT_EQ(count(ExchangeKind::kAllToAll, shared).total(), 2 * 4 * 8);
  EXPECT_EQ(count(ExchangeKind::kPermute, shared).total(), 2 * 32);
  const GroupBytes counted = count(ExchangeKind::kAllGather, shared);
  EXPECT_EQ(counted.hosts.at(7).devices, 2);
  EXPECT_TRUE(counted.between.empty());
  EXPECT_EQ(counted.rounds, 0);
}

TEST(GroupBytesTest, HostsSendWhatOthersLackOnce) {
  const GroupBytes counted = CountGroupBytes(
      MakeSpec(ExchangeKind::kAllGather, {0, 0, 1, 1}), {0, 1, 2, 3});
  EXPECT_EQ(counted.between.size(), 2);
  EXPECT_EQ(counted.between.at({0, 1}), 2 * 32);
  EXPECT_EQ(counted.between.at({1, 0}), 2 * 32);
  EXPECT_EQ(counted.hosts.at(0).bytes, 2 * 32);
  EXPECT_EQ(counted.total(), 2 * (2 * 32) + 2 * (2 * 32));
  EXPECT_EQ(counted.rounds, 1);
}

}  // namespace
}  // namespace pathways::layout
