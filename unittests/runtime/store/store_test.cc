//===- store_test.cc - Bounds, labels and references ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/store.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

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
              "of 1000 bytes are used");
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
            "has no 576460752303423488 bytes of memory left");
  EXPECT_EQ(arena.used(), 0u);
}

std::shared_ptr<const HostArray> Bytes(int64_t count) {
  auto array = std::make_shared<HostArray>();
  array->element = ElementType::kI8;
  array->shape = {count};
  array->data.resize(count);
  return array;
}

TEST(ObjectStoreTest, CountsReferencesAndOwners) {
  ObjectStore store(100);
  const uint64_t a = *store.Put(Bytes(40), "ann");
  const uint64_t b = *store.Put(Bytes(50), "bo");
  EXPECT_EQ(store.Put(Bytes(11), "ann").status().message(),
            "array 11xi8 of client 'ann' needs 11 bytes of host memory, where "
            "90 of 100 bytes are used");
  EXPECT_TRUE(store.Retain(a).ok());
  EXPECT_TRUE(store.Release(a).ok());
  EXPECT_EQ(store.used(), 90u);  // a run has it
  EXPECT_EQ(store.Release(a).message(), "no array 1, or it was released");
  EXPECT_EQ(store.Retain(a).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Get(a).status().code(), absl::StatusCode::kNotFound);
  store.Unretain(a);
  EXPECT_EQ(store.used(), 50u);
  store.ReleaseClient("ann");
  EXPECT_TRUE(store.Get(b).ok());
  store.ReleaseClient("bo");
  EXPECT_EQ(store.used(), 0u);
  EXPECT_EQ(store.num_objects(), 0u);
}

}  // namespace
}  // namespace pathways
