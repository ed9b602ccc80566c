//===- handles_test.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/handles.h"

#include <set>

#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

TEST(HandlesTest, MadeOfNothingTheyAreNobodys) {
  EXPECT_EQ(ProgramHandle().owner, 0u);
  EXPECT_EQ(RunHandle().owner, 0u);
  EXPECT_EQ(ArrayHandle().owner, 0u);
  EXPECT_EQ(ArrayType().element, ElementType::kInvalid);
}

// This holds also for clients that have the same name and address one after the
// other.
TEST(HandlesTest, NoTwoClientsOfAProcessAreOneOwner) {
  std::set<uint64_t> owners;
  for (int cluster = 0; cluster < 2; ++cluster) {
    auto runtime = Start("1x1x1", Sim());
    for (int i = 0; i < 3; ++i) {
      const ArrayHandle array = *runtime->Put(Floats({1}, {1}));
      EXPECT_NE(array.owner, 0u);
      EXPECT_TRUE(owners.insert(array.owner).second) << array.owner;
      runtime.Reconnect();
      EXPECT_EQ(runtime->Get(array).status().code(),
                absl::StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace pathways::testing
