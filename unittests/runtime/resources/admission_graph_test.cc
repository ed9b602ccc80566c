//===- admission_graph_test.cc - Clients that wait for memory of others ---===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/admission_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBound = 10;

std::vector<size_t> Stuck(const std::map<uint32_t, DeviceBytes>& held,
                          const std::vector<MemoryWish>& wishes) {
  return FindStuck(
      [](const DeviceBytes& taken,
         absl::Span<const MemoryWish* const> together) {
        DeviceBytes used = taken;
        for (const MemoryWish* wish : together) {
          for (const auto& [device, bytes] : wish->bytes) {
            used[device] += bytes;
            if (used[device] > kBound) return false;
          }
        }
        return true;
      },
      held, wishes);
}

TEST(AdmissionGraphTest, WhoWaitsForARunningClientIsServed) {
  EXPECT_THAT(Stuck({{1, {{0, 10}}}}, {{2, {{0, 6}}}, {3, {{0, 6}}}}),
              IsEmpty());
}

TEST(AdmissionGraphTest, WhatIsLargerThanItsDeviceIsStuck) {
  EXPECT_THAT(Stuck({}, {{1, {{0, 11}}}, {2, {{0, 10}}}}), ElementsAre(0));
}

TEST(AdmissionGraphTest, WhoWaitsForItselfIsStuck) {
  EXPECT_THAT(Stuck({{1, {{0, 6}}}}, {{1, {{0, 6}}}}), ElementsAre(0));
  EXPECT_THAT(Stuck({}, {{1, {{0, 6}}}, {1, {{0, 6}}}}), ElementsAre(0, 1));
}

TEST(AdmissionGraphTest, CirclesOfTwoAndThree) {
  EXPECT_THAT(
      Stuck({{1, {{0, 6}}}, {2, {{1, 6}}}}, {{1, {{1, 6}}}, {2, {{0, 6}}}}),
      ElementsAre(0, 1));
  const std::map<uint32_t, DeviceBytes> held = {
      {1, {{0, 6}}}, {2, {{1, 6}}}, {3, {{2, 6}}}, {4, {{3, 9}}}};
  const std::vector<MemoryWish> wishes = {
      {1, {{1, 6}}}, {2, {{2, 6}}}, {3, {{0, 6}}}, {5, {{3, 9}}}};
  EXPECT_THAT(Stuck(held, wishes), ElementsAre(0, 1, 2));
  // All clients can continue without the last wish.
  EXPECT_THAT(Stuck(held, {wishes[0], wishes[1], wishes[3]}), IsEmpty());
}

// Returns true if all wishes can be granted, by trying every order.
bool CanEnd(std::map<uint32_t, DeviceBytes> held,
            std::map<uint32_t, DeviceBytes> wanted) {
  DeviceBytes taken;
  for (const auto& [client, bytes] : held) {
    if (wanted.count(client) == 0) continue;
    for (const auto& [device, count] : bytes) taken[device] += count;
  }
  if (wanted.empty()) return true;
  for (const auto& [client, bytes] : wanted) {
    bool fits = true;
    for (const auto& [device, count] : bytes) {
      fits &= taken[device] + count <= kBound;
    }
    if (!fits) continue;
    auto later = wanted;
    later.erase(client);
    auto left = held;
    left.erase(client);
    if (CanEnd(left, later)) return true;
  }
  return false;
}

// The largest set of clients that can end is what is not stuck.
TEST(AdmissionGraphTest, RandomSystemsAgainstEveryOrder) {
  int stuck_ones = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::map<uint32_t, DeviceBytes> held;
    DeviceBytes used;
    for (uint32_t client = 0; client < 5; ++client) {
      for (int64_t device = 0; device < 3; ++device) {
        const uint64_t bytes = pick(2) * (1 + pick(6));
        if (bytes == 0 || used[device] + bytes > kBound) continue;
        held[client][device] = bytes;
        used[device] += bytes;
      }
    }
    std::vector<MemoryWish> wishes;
    std::map<uint32_t, DeviceBytes> wanted;
    for (uint32_t i = 0; i < 1 + pick(5); ++i) {
      MemoryWish wish;
      wish.client = pick(5);
      for (int64_t device = 0; device < 3; ++device) {
        if (pick(2) == 0) wish.bytes[device] = 1 + pick(9);
      }
      for (const auto& [device, count] : wish.bytes) {
        wanted[wish.client][device] += count;
      }
      wanted[wish.client];
      wishes.push_back(wish);
    }
    const std::vector<size_t> stuck = Stuck(held, wishes);
    std::set<uint32_t> stuck_clients;
    for (size_t i : stuck) stuck_clients.insert(wishes[i].client);
    stuck_ones += !stuck.empty();
    EXPECT_EQ(CanEnd(held, wanted), stuck.empty());
    // Clients that are not stuck can end while the others keep what they hold.
    std::map<uint32_t, DeviceBytes> others = wanted, blocked = held;
    DeviceBytes hold;
    for (uint32_t client : stuck_clients) {
      others.erase(client);
      for (const auto& [device, count] : held[client]) hold[device] += count;
      blocked.erase(client);
    }
    // One more client that never ends would hold that much.
    for (auto& [client, bytes] : others) {
      for (auto& [device, count] : bytes) {
        count += count > 0 ? hold[device] : 0;
      }
    }
    EXPECT_TRUE(CanEnd(blocked, others));
  }
  EXPECT_GT(stuck_ones, 100);
}

}  // namespace
}  // namespace pathways
