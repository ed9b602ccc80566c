//===- status_from_wire_test.cc - A status that somebody else told --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/status_from_wire.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pathways {
namespace {

TEST(StatusFromWireTest, OnlyZeroIsOk) {
  EXPECT_TRUE(StatusFromWire(0, "").ok());
  EXPECT_EQ(StatusFromWire(5, "gone"), absl::NotFoundError("gone"));
  EXPECT_EQ(StatusFromWire(16, "who"), absl::UnauthenticatedError("who"));
  for (const int64_t code : {int64_t{-1}, int64_t{17}, int64_t{1} << 30,
                             int64_t{1} << 32, INT64_MIN}) {
    EXPECT_EQ(StatusFromWire(code, "").code(), absl::StatusCode::kUnknown)
        << code;
    EXPECT_EQ(StatusFromWire(code, "why"), absl::UnknownError("why")) << code;
  }
}

}  // namespace
}  // namespace pathways
