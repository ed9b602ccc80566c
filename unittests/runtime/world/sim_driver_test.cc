//===- sim_driver_test.cc - The thread that runs a simulation ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SimDriverTest, OneThreadDrives) {
  SimDriver driver;
  EXPECT_FALSE(driver.IsThisThread());
  driver.Start();
  EXPECT_TRUE(driver.IsThisThread());
  std::thread([&] { EXPECT_FALSE(driver.IsThisThread()); }).join();
  driver.Finish();
  EXPECT_FALSE(driver.IsThisThread());
}

TEST(SimDriverTest, WhatIsPostedRunsInOrderOnWhoDrives) {
  SimDriver driver;
  std::vector<int> ran;
  const auto post = [&](int number) {
    driver.Post([&, number] {
      EXPECT_TRUE(driver.IsThisThread());
      ran.push_back(number);
    });
  };
  std::thread([&] {
    post(1);
    post(2);
  }).join();
  EXPECT_THAT(ran, IsEmpty());
  driver.Start();
  EXPECT_THAT(ran, ElementsAre(1, 2));
  std::thread([&] { post(3); }).join();
  EXPECT_THAT(ran, ElementsAre(1, 2));
  driver.RunPosted();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
  driver.RunPosted();
  driver.Finish();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

// A call that is posted by a posted call runs with the next calls.
TEST(SimDriverTest, ACallMayPost) {
  SimDriver driver;
  int ran = 0;
  driver.Post([&] {
    ++ran;
    driver.Post([&] { ++ran; });
  });
  driver.Start();
  EXPECT_EQ(ran, 1);
  driver.RunPosted();
  EXPECT_EQ(ran, 2);
  driver.Finish();
}

TEST(SimDriverTest, RunWaitsForWhoDrives) {
  SimDriver driver;
  bool finished = false;
  driver.Start();
  // On the thread that drives, the call runs at once.
  int ran = 0;
  driver.Run([&] { ++ran; });
  EXPECT_EQ(ran, 1);
  std::thread other([&] {
    driver.Run([&] {
      EXPECT_TRUE(finished);
      ++ran;
    });
  });
  finished = true;
  driver.Finish();
  other.join();
  EXPECT_EQ(ran, 2);
}

TEST(SimDriverTest, DriversTakeTurns) {
  SimDriver driver;
  int turns = 0;  // turns of all driving threads
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 100; ++turn) {
        driver.Start();
        ++turns;
        driver.Finish();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, 400);
}

TEST(SimDriverTest, NothingRunsAfterStop) {
  SimDriver driver;
  int ran = 0, cleared = 0;
  driver.Post([&] { ++ran; });
  EXPECT_FALSE(driver.stopped());
  for (int i = 0; i < 2; ++i) {
    driver.Stop([&] { ++cleared; });
    EXPECT_TRUE(driver.stopped());
    EXPECT_EQ(cleared, i + 1);
    driver.Post([&] { ++ran; });
    driver.Start();
    driver.RunPosted();
    driver.Finish();
  }
  EXPECT_EQ(ran, 0);
}

// A handler may stop the world.
TEST(SimDriverTest, WhoDrivesMayStop) {
  SimDriver driver;
  bool cleared = false;
  driver.Start();
  driver.Stop([&] { cleared = true; });
  EXPECT_TRUE(cleared);
  EXPECT_TRUE(driver.IsThisThread());
  driver.Finish();
}

}  // namespace
}  // namespace pathways
