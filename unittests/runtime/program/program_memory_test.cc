//===- program_memory_test.cc - Memory of a program on one host -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/program_memory.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/buffer_bytes.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

// A program of one slice with three shards. Device 0 has shards 0 and 2, device
// 1 has shard 1, and device 2 has none. The kernel needs 100 bytes of scratch
// memory.
class ProgramMemoryTest : public ::testing::Test {
 protected:
  ProgramMemoryTest() : topology_(MakeTopology("1x1x3")) {
    proto::Plan plan =
        ChainBuilder({.slice = {.shards = 3, .span = 2}, .layout = Rows({60})})
            .Feed("u")
            .Run("g", "k")
            .Fetch("v")
            .Finish();
    plan.mutable_kernels(0)->mutable_segments(0)->set_scratch_bytes(100);
    plan.mutable_buffers(1)->set_memory(proto::HOST);
    plan.mutable_buffers(1)->set_offset(0);
    plan_ = Prepare(std::move(plan), topology_);
    devices_.resize(3);
    AddDevice(0, {0, 2});
    AddDevice(1, {1});
    memory_ = std::make_unique<ProgramMemory>(*plan_, devices_);
  }

  void AddDevice(uint32_t d, std::vector<int32_t> shards) {
    devices_[d] = std::make_unique<DeviceProgram>();
    devices_[d]->device = d;
    devices_[d]->shards = {std::move(shards)};
  }
  absl::Status AllocateDevices(uint64_t bytes, bool backed) {
    std::vector<Arena*> arenas;
    for (int d = 0; d < 3; ++d) {
      arenas_.emplace_back("device memory", bytes, backed);
      arenas.push_back(&arenas_.back());
    }
    return memory_->AllocateDevices(arenas);
  }
  const PreparedSlice& slice() const { return plan_->slices()[0]; }

  const Topology topology_;
  std::shared_ptr<const PreparedPlan> plan_;
  std::deque<Arena> arenas_;
  Arena host_arena_{"host memory", 1 << 20, /*backed=*/true};
  DevicePrograms devices_;
  std::unique_ptr<ProgramMemory> memory_;
};

TEST_F(ProgramMemoryTest, EachDeviceHoldsItsShardsAndScratchMemory) {
  ASSERT_TRUE(AllocateDevices(1 << 20, /*backed=*/true).ok());
  const uint64_t shard = AlignBuffer(slice().device_bytes);
  EXPECT_EQ(devices_[0]->memory.bytes(), 2 * shard + 100);
  EXPECT_EQ(devices_[1]->memory.bytes(), shard + 100);
  EXPECT_EQ(devices_[0]->scratch, devices_[0]->memory.data() + 2 * shard);
  EXPECT_EQ(arenas_[2].used(), 0u);
  const SlotOffset first = memory_->OffsetOf(/*buffer=*/0, /*device=*/0, 0);
  const SlotOffset second = memory_->OffsetOf(/*buffer=*/0, /*device=*/0, 1);
  EXPECT_EQ(first.memory, SlotOffset::kDevice);
  EXPECT_EQ(first.credits, 2u);
  EXPECT_EQ(first.stride, plan_->plan().buffers(0).slot_stride());
  EXPECT_EQ(second.offset, first.offset + shard);
  const SlotRef ref = memory_->RefOf(0, 0, 1);
  EXPECT_EQ(ref.base, devices_[0]->memory.data() + second.offset);
  EXPECT_EQ(ref.stride, second.stride);
}

TEST_F(ProgramMemoryTest, TheHostHoldsItsBuffersThenReservedRanges) {
  ASSERT_TRUE(AllocateDevices(1 << 20, /*backed=*/true).ok());
  const uint64_t shard = AlignBuffer(slice().host_bytes);
  ASSERT_GT(shard, 0u);
  EXPECT_EQ(memory_->host_bytes(), 3 * shard);
  EXPECT_EQ(memory_->Reserve(64, 2), 3 * shard);
  EXPECT_EQ(memory_->Reserve(1), 3 * shard + 128);
  const auto segment = memory_->AllocateHost(&host_arena_);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ(segment->bytes(), 3 * shard + 129);
  EXPECT_TRUE(memory_->has_host_memory());
  EXPECT_EQ(memory_->AddressOf(192), segment->data() + 192);
  // The host's buffers are in the order of devices and their shards.
  EXPECT_EQ(memory_->OffsetOf(1, 0, 1).memory, SlotOffset::kHost);
  EXPECT_EQ(memory_->RefOf(1, 0, 0).base, segment->data());
  EXPECT_EQ(memory_->RefOf(1, 0, 1).base, segment->data() + shard);
  EXPECT_EQ(memory_->RefOf(1, 1, 0).base, segment->data() + 2 * shard);
}

TEST_F(ProgramMemoryTest, ArenasThatOnlyCountGiveNoAddresses) {
  Arena counts("host memory", 1 << 20, /*backed=*/false);
  ASSERT_TRUE(AllocateDevices(1 << 20, /*backed=*/false).ok());
  const auto segment = memory_->AllocateHost(&counts);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_FALSE(memory_->has_host_memory());
  EXPECT_EQ(memory_->AddressOf(8), nullptr);
  EXPECT_EQ(devices_[0]->scratch, nullptr);
  const SlotRef ref = memory_->RefOf(0, 0, 1);
  EXPECT_EQ(ref.base, nullptr);
  EXPECT_EQ(ref.stride, 0u);
  EXPECT_EQ(ref.credits, 2u);
}

TEST_F(ProgramMemoryTest, FailsIfAnArenaLacksRoom) {
  EXPECT_EQ(AllocateDevices(8, /*backed=*/true).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(ProgramMemoryTest, FailsIfTheHostLacksRoom) {
  ASSERT_TRUE(AllocateDevices(1 << 20, /*backed=*/true).ok());
  const uint64_t at = memory_->host_bytes();
  EXPECT_EQ(memory_->Reserve(kMaxBytes, 3), at);
  EXPECT_EQ(memory_->host_bytes(), kMaxBytes);
  EXPECT_EQ(memory_->AllocateHost(&host_arena_).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(host_arena_.used(), 0u);
}

}  // namespace
}  // namespace pathways::testing
