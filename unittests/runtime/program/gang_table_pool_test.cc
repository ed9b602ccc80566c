//===- gang_table_pool_test.cc - Gang tables that devices share -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/gang_table_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace pathways::testing {
namespace {

GangTables TablesOf(uint32_t action) {
  GangTables tables;
  tables.gangs.emplace_back().action = action;
  return tables;
}

TEST(GangTablePoolTest, EqualTablesAreOne) {
  GangTablePool pool;
  const auto first = pool.Share(TablesOf(1));
  const auto second = pool.Share(TablesOf(2));
  EXPECT_NE(first, second);
  EXPECT_EQ(first->gangs[0].action, 1u);
  EXPECT_EQ(pool.Share(TablesOf(1)), first);
  EXPECT_EQ(pool.Share(TablesOf(2)), second);
}

TEST(GangTablePoolTest, ComparesWithTheNewestTablesAlone) {
  GangTablePool pool;
  const auto oldest = pool.Share(TablesOf(0));
  const auto next = pool.Share(TablesOf(1));
  for (uint32_t i = 2; i <= GangTablePool::kMaxCompared; ++i) {
    pool.Share(TablesOf(i));
  }
  EXPECT_EQ(pool.Share(TablesOf(1)), next);
  EXPECT_NE(pool.Share(TablesOf(0)), oldest);
}

}  // namespace
}  // namespace pathways::testing
