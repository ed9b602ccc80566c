//===- buffer_bytes_test.cc - Sizes of buffers ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/buffer_bytes.h"

#include "gtest/gtest.h"

namespace pathways {
namespace {

TEST(BufferBytesTest, AlignsUp) {
  EXPECT_EQ(AlignBuffer(0), 0);
  EXPECT_EQ(AlignBuffer(1), kBufferAlignment);
  EXPECT_EQ(AlignBuffer(kBufferAlignment), kBufferAlignment);
  EXPECT_EQ(AlignBuffer(kBufferAlignment + 1), 2 * kBufferAlignment);
  EXPECT_EQ(AlignBuffer(kMaxBytes), kMaxBytes);
}

TEST(BufferBytesTest, SumsStayAtTheTop) {
  EXPECT_EQ(AddBytes(1, 2), 3);
  EXPECT_EQ(AddBytes(1, 2, 3), 7);
  EXPECT_EQ(AddBytes(kMaxBytes - 1, 1), kMaxBytes);
  EXPECT_EQ(AddBytes(kMaxBytes - 1, 2), kMaxBytes);
  EXPECT_EQ(AddBytes(kMaxBytes, 0), kMaxBytes);
  EXPECT_EQ(AddBytes(0, UINT64_MAX, UINT64_MAX), kMaxBytes);
  EXPECT_EQ(AddBytes(kMaxBytes, kMaxBytes), kMaxBytes);
}

}  // namespace
}  // namespace pathways
