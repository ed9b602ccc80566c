//===- store_test.cc - Bounds, labels and references ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace pathways {
namespace {

// Returns the flags that the system has for the memory at `data`, two letters
// each.
std::string FlagsOf(const void* data) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= at && at < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line;
    }
  }
  return "";
}

bool HasHugePages() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
}

TEST(ArenaTest, BoundIsKeptAndMemoryComesBack) {
  Arena arena("island0/host0/device0", 1000, /*backed=*/true);
  {
    absl::StatusOr<Arena::Segment> a = arena.Allocate(600, "program 'a'");
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % 128, 0u);
    for (int i = 0; i < 600; ++i) ASSERT_EQ(a->data()[i], 0);
    a->data()[599] = 1;
    EXPECT_EQ(arena.Allocate(401, "program 'b'").status().message(),
              "program 'b' needs 401 bytes of island0/host0/device0, where 600 "
              "of 1000 bytes are used [PW3102]");
    EXPECT_TRUE(arena.Allocate(400, "program 'b'").ok());  // freed at once
    Arena::Segment moved = *std::move(a);
    EXPECT_EQ(arena.used(), 600u);
  }
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.peak(), 1000u);
}

TEST(ArenaTest, UnbackedOnlyCounts) {
  Arena arena("device", uint64_t{1} << 50, /*backed=*/false);
  absl::StatusOr<Arena::Segment> a = arena.Allocate(uint64_t{1} << 49, "x");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->data(), nullptr);
  EXPECT_EQ(arena.used(), uint64_t{1} << 49);
}

TEST(ArenaTest, TheSystemMayHaveLess) {
  Arena arena("device", uint64_t{1} << 60, /*backed=*/true);
  absl::Status status =
      arena.Allocate(uint64_t{1} << 59, "program 'a'").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "program 'a' needs 576460752303423488 bytes of device: the system "
            "cannot provide 576460752303423488 bytes of memory [PW3103]");
  EXPECT_EQ(arena.used(), 0u);
}

// To clear a huge page takes longer than a worker may be held up by a piece of
// what it receives.
TEST(MappingTest, WhatIsWrittenInPiecesHasSmallPages) {
  for (Mapping::Pages pages : {Mapping::kTouched, Mapping::kUntouched}) {
    absl::StatusOr<Mapping> mapping = Mapping::Create(uint64_t{8} << 20, pages);
    ASSERT_TRUE(mapping.ok()) << mapping.status();
    const std::string flags = FlagsOf(mapping->data());
    if (flags.empty()) GTEST_SKIP() << "the system does not say";
    const bool huge = flags.find(" hg") != std::string::npos;
    EXPECT_EQ(huge, pages == Mapping::kTouched && HasHugePages()) << flags;
  }
}

TEST(ArenaTest, LargeSegmentsAreAlignedAndZero) {
  constexpr uint64_t kBytes = (uint64_t{5} << 20) + 17;
  Arena arena("device", uint64_t{1} << 30, /*backed=*/true);
  absl::StatusOr<Arena::Segment> a = arena.Allocate(kBytes, "program 'a'");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % (2 << 20), 0u);
  for (uint64_t i = 0; i < kBytes; i += 4096) ASSERT_EQ(a->data()[i], 0);
  EXPECT_EQ(a->data()[kBytes - 1], 0);
  // All of it is there already: no page is touched for the first time now.
  std::vector<unsigned char> present((kBytes + 4095) / 4096);
  ASSERT_EQ(mincore(a->data(), kBytes, present.data()), 0);
  for (unsigned char page : present) ASSERT_EQ(page & 1, 1);
}

TEST(ArenaTest, PagesThatWereTakenStayForTheNextOfTheirSize) {
  Arena arena("host", 10 << 20, /*backed=*/true);
  auto take = [&](uint64_t bytes) { return *arena.Take(bytes, "array"); };
  const char* first = nullptr;
  {
    Arena::Segment a = take(4 << 20);
    first = a.data();
    std::memset(a.data(), 7, a.bytes());
  }
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_NE(take(1 << 20).data(), first);
  Arena::Segment again = take(4 << 20);
  EXPECT_EQ(again.data(), first);
  // Allocated memory holds zeros, whoever had its pages before.
  again = Arena::Segment();
  Arena::Segment fresh = *arena.Allocate(4 << 20, "program");
  for (uint64_t i = 0; i < fresh.bytes(); ++i) ASSERT_EQ(fresh.data()[i], 0);
  // Spare pages make room for what is used.
  EXPECT_TRUE(arena.Allocate(6 << 20, "program").ok());
  EXPECT_FALSE(arena.Take(7 << 20, "array").ok());
}

TEST(ArenaTest, KeepsTheLastSegmentsThatWereFreed) {
  Arena arena("host", 1 << 20, /*backed=*/true);
  std::vector<const char*> data;
  {
    std::vector<Arena::Segment> segments;
    for (size_t i = 0; i <= Arena::kMaxSpares; ++i) {
      segments.push_back(*arena.Take(100 + i, "array"));
      data.push_back(segments.back().data());
    }
    for (Arena::Segment& segment : segments) segment = Arena::Segment();
  }
  EXPECT_EQ(arena.used(), 0u);
  for (size_t i = 1; i <= Arena::kMaxSpares; ++i) {
    EXPECT_EQ(arena.Take(100 + i, "array")->data(), data[i]) << i;
  }
}

TEST(ArenaTest, ChargesShareTheBound) {
  Arena arena("host memory of host0", 100, /*backed=*/true);
  absl::StatusOr<Arena::Segment> a = arena.Charge(60, "array 'a'");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->data(), nullptr);
  EXPECT_FALSE(arena.Allocate(41, "b").ok());
  EXPECT_EQ(arena.Charge(41, "array 'b'").status().message(),
            "array 'b' needs 41 bytes of host memory of host0, where 60 of 100 "
            "bytes are used [PW3102]");
}

TEST(ArenaTest, ABoundMayBecomeSmallerThanWhatIsUsed) {
  Arena arena("host", 100, /*backed=*/false);
  absl::StatusOr<Arena::Segment> first = arena.Charge(60, "x");
  ASSERT_TRUE(first.ok());
  arena.Bound(50);
  EXPECT_EQ(arena.room(), 0u);
  EXPECT_EQ(arena.used(), 60u);
  EXPECT_EQ(
      arena.Charge(1, "y").status(),
      absl::ResourceExhaustedError(
          "y needs 1 bytes of host, where 60 of 50 bytes are used [PW3102]"));
  *first = Arena::Segment();
  EXPECT_EQ(arena.room(), 50u);
  arena.Bound(100);
  EXPECT_TRUE(arena.Charge(100, "z").ok());
}

TEST(HostStoreTest, WhatIsExpectedIsNotComplete) {
  Arena arena("host", 1 << 20, /*backed=*/true);
  HostStore store(&arena);
  for (uint64_t bytes : {6, 1 << 17}) {  // of both kinds of memory
    HostStore::Ref object = store.Expect(1, bytes, "argument 'x'");
    EXPECT_EQ(arena.used(), bytes);
    EXPECT_FALSE(object->complete());
    object->data()[bytes - 1] = 'a';
    object->received = bytes;
    EXPECT_TRUE(store.Find(1)->complete());
    store.Drop(1);
    EXPECT_EQ(store.Find(1), nullptr);
    EXPECT_EQ(arena.used(), bytes);  // somebody writes it
    object = nullptr;
    EXPECT_EQ(arena.used(), 0u);
  }
}

TEST(HostStoreTest, AnObjectIsThereUntilItsLastRefIsGone) {
  Arena arena("host", 1 << 20, /*backed=*/true);
  HostStore store(&arena);
  HostStore::Ref first = store.Create(1, 8, "result 'y'");
  HostStore::Ref second = first;
  const HostStore::Ref third = std::move(first);
  store.Drop(1);
  second = nullptr;
  EXPECT_EQ(arena.used(), 8u);
  second = third;
  EXPECT_EQ(second.get(), third.get());
  EXPECT_EQ(first, nullptr);
}

TEST(HostStoreTest, WhatIsGoneIsUsedAgainAsIfNew) {
  Arena arena("host", 100, /*backed=*/true);
  HostStore store(&arena);
  HostStore::Ref object = store.Expect(1, 8, "argument 'x'");
  const HostStore::Object* const record = object.get();
  const char* const data = object->data();
  object->filled = false;
  object->poisoned = true;
  object->writer = 7;
  object->status = absl::InternalError("bad");
  store.Drop(1);
  object = nullptr;
  EXPECT_EQ(arena.used(), 0u);
  object = store.Create(2, 8, "result 'y'");
  EXPECT_EQ(object.get(), record);
  EXPECT_EQ(object->data(), data);
  EXPECT_EQ(object->id, 2u);
  EXPECT_TRUE(object->complete() && object->filled && object->status.ok());
  EXPECT_FALSE(object->poisoned);
  EXPECT_EQ(object->writer, 0u);
  // Nor is the memory of one that had none.
  EXPECT_FALSE(store.Create(3, 200, "result 'z'")->status.ok());
  store.Drop(3);
  EXPECT_TRUE(store.Create(4, 92, "result 'z'")->status.ok());
}

TEST(HostStoreTest, AnObjectWithoutRoomSaysWhy) {
  Arena arena("host memory of host0", 10, /*backed=*/true);
  HostStore store(&arena);
  HostStore::Ref small = store.Create(1, 4, "result 'y'");
  EXPECT_TRUE(small->status.ok() && small->complete() &&
              small->data() != nullptr);
  HostStore::Ref object = store.Expect(2, 8, "argument 'x'");
  EXPECT_EQ(object->status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(object->status.message(),
            "argument 'x' needs 8 bytes of host memory of host0, where 4 of 10 "
            "bytes are used [PW3102]");
  store.Drop(2);
  EXPECT_EQ(arena.used(), 4u);
  store.Drop(1);
  EXPECT_EQ(arena.used(), 4u);  // somebody reads it
  small = nullptr;
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(store.num_objects(), 0u);
}

}  // namespace
}  // namespace pathways
