//===- memory_test.cc -----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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
            "there is no memory for 64x256xf32 (65536 bytes) [PW3104]");
  EXPECT_EQ(NoMemoryText(ElementType::kI8, {}),
            "there is no memory for i8 (1 bytes) [PW3104]");
  EXPECT_EQ(NoMemoryText(65536),
            "there is no memory for its 65536 bytes [PW3104]");
}

// Wherever it begins and ends.
TEST(MemoryTest, TouchedPagesAreThere) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  constexpr uint64_t kPages = 1500;
  void* memory = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char* const data = static_cast<char*>(memory);
  auto there = [&] {
    std::vector<unsigned char> pages(kPages);
    EXPECT_EQ(mincore(memory, kPages * page, pages.data()), 0);
    return std::count_if(pages.begin(), pages.end(),
                         [](unsigned char p) { return p & 1; });
  };
  EXPECT_EQ(there(), 0);
  EXPECT_TRUE(TouchPages(data + page + 17, 0));
  EXPECT_TRUE(TouchPages(data + 3 * page - 1, 2));
  EXPECT_EQ(there(), 2);
  EXPECT_TRUE(TouchPages(data + 16, kPages * page - 32));
  EXPECT_EQ(there(), static_cast<int64_t>(kPages));
  munmap(memory, kPages * page);
}

}  // namespace
}  // namespace pathways
