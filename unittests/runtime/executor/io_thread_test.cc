//===- io_thread_test.cc - Work that a worker must not wait for -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/io_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

#include "unittests/runtime/executor/no_threads.h"

namespace pathways {
namespace {

// Returns the id of the thread that does the work.
std::future<std::thread::id> Ask(IoThread& side) {
  auto promise = std::make_shared<std::promise<std::thread::id>>();
  std::future<std::thread::id> future = promise->get_future();
  EXPECT_TRUE(
      side.Do([promise] { promise->set_value(std::this_thread::get_id()); }));
  return future;
}

TEST(IoThreadTest, AllIsDoneOnOneOtherThread) {
  IoThread side;
  const std::thread::id first = Ask(side).get();
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ(Ask(side).get(), first);
}

TEST(IoThreadTest, StopWaitsForWhatHasBegun) {
  IoThread side;
  std::promise<void> begun;
  bool is_done = false;
  EXPECT_TRUE(side.Do([&] {
    begun.set_value();
    is_done = true;
  }));
  begun.get_future().wait();
  side.Stop();
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(side.Do([] { ADD_FAILURE() << "it has stopped"; }));
}

TEST(IoThreadTest, WithoutAThreadTheWorkIsTheCallers) {
  IoThread side;
  int done = 0;
  {
    const testing::NoThreads none;
    EXPECT_FALSE(side.Do([&] { ++done; }));
  }
  EXPECT_EQ(done, 0);
  // When there are threads again, it has one.
  EXPECT_NE(Ask(side).get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace pathways
