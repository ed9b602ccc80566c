//===- memory_test.cc -----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/memory.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace pathways {
namespace {

TEST(MemoryTest, WhatThereIsNoMemoryForIsFalse) {
  std::vector<char> bytes;
  EXPECT_TRUE(HasMemoryFor([&] { bytes.resize(16); }));
  EXPECT_FALSE(HasMemoryFor([] { throw std::bad_alloc(); }));
  // More than any vector can have; it stays as it was.
  EXPECT_FALSE(HasMemoryFor([&] { bytes.resize(SIZE_MAX); }));
  EXPECT_EQ(bytes.size(), 16u);
}

TEST(MemoryTest, TextsNameTypeAndBytes) {
  EXPECT_EQ(NoMemoryText(ElementType::kF32, {64, 256}),
            "there is no memory for 64x256xf32 (65536 bytes)");
  EXPECT_EQ(NoMemoryText(ElementType::kI8, {}),
            "there is no memory for i8 (1 bytes)");
  EXPECT_EQ(NoMemoryText(65536), "there is no memory for its 65536 bytes");
}

}  // namespace
}  // namespace pathways
