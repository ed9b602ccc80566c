//===- handle_owner_test.cc - Owner of the handles of a client ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/handle_owner.h"

#include <gtest/gtest.h>

#include "runtime/client/handles.h"

namespace pathways {
namespace {

TEST(HandleOwnerTest, ChecksWhoseAHandleIs) {
  const HandleOwner ann("ann"), bo("bo");
  const auto array = ann.Make<ArrayHandle>(7);
  EXPECT_EQ(array.id, 7u);
  EXPECT_TRUE(ann.Check(array, "array").ok());
  EXPECT_EQ(
      bo.Check(array, "array"),
      absl::InvalidArgumentError("array 7 is not of client 'bo' [PW6111]"));
  EXPECT_FALSE(ann.Check(ArrayHandle{7, 0}, "array").ok());
}

TEST(HandleOwnerTest, ClientsOfOneNameHaveOtherNumbers) {
  const HandleOwner first("ann"), second("ann");
  EXPECT_NE(first.number(), second.number());
  EXPECT_FALSE(second.Check(first.Make<RunHandle>(1), "run").ok());
}

}  // namespace
}  // namespace pathways
