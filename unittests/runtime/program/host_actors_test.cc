//===- host_actors_test.cc - Numbers that follow from the machines --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_actors.h"

#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

TEST(HostActorsTest, TheDirectoryFollowsFromTheTopology) {
  const Directory directory = DirectoryOf(MakeTopology("3x2x1"));
  EXPECT_EQ(directory.num_islands(), 3u);
  EXPECT_EQ(directory.num_hosts(), 6u);
  for (uint32_t host = 0; host < 6; ++host) {
    EXPECT_EQ(directory.IslandOf(host), host / 2);
    EXPECT_EQ(directory.place(static_cast<int32_t>(host)).epoch, 1u);
    EXPECT_EQ(directory.HostOfExecutor(directory.executor(host)),
              static_cast<int32_t>(host));
  }
}

}  // namespace
}  // namespace pathways::testing
