//===- told_status_test.cc - A status that somebody else told -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/told_status.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pathways {
namespace {

TEST(ToldStatusTest, OnlyZeroIsOk) {
  EXPECT_TRUE(ToldStatus(0, "").ok());
  EXPECT_EQ(ToldStatus(5, "gone"), absl::NotFoundError("gone"));
  EXPECT_EQ(ToldStatus(16, "who"), absl::UnauthenticatedError("who"));
  for (const int64_t code : {int64_t{-1}, int64_t{17}, int64_t{1} << 30,
                             int64_t{1} << 32, INT64_MIN}) {
    EXPECT_EQ(ToldStatus(code, "").code(), absl::StatusCode::kUnknown) << code;
    EXPECT_EQ(ToldStatus(code, "why"), absl::UnknownError("why")) << code;
  }
}

}  // namespace
}  // namespace pathways
