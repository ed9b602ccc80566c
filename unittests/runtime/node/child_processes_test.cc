//===- child_processes_test.cc - Children come, end, and are ended --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/child_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pathways {
namespace {

class ChildProcessesTest : public ::testing::Test {
 protected:
  ChildProcessesTest() {
    auto made = ChildProcesses::Create(
        [this](int child, const std::string& how, bool killed) {
          std::lock_guard<std::mutex> lock(mutex_);
          EXPECT_EQ(killed, how.starts_with("signal"));
          EXPECT_TRUE(ends_.emplace(child, how).second) << child;
          changed_.notify_all();
        });
    EXPECT_TRUE(made.ok()) << made.status();
    children_ = *std::move(made);
  }
  int Start(const std::string& script) {
    auto child = children_->Start({"sh", "-c", script});
    EXPECT_TRUE(child.ok()) << child.status();
    return child.value_or(-1);
  }
  std::string AwaitEnd(int child) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return ends_.count(child) > 0; });
    return ends_[child];
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::string> ends_;
  std::unique_ptr<ChildProcesses> children_;
};

TEST_F(ChildProcessesTest, EndsAreToldOnce) {
  const int good = Start("exit 0"), bad = Start("exit 7");
  const int killed = Start("kill -9 $$");
  EXPECT_EQ(AwaitEnd(killed), "signal 9");
  EXPECT_EQ(AwaitEnd(bad), "exit status 7");
  EXPECT_EQ(AwaitEnd(good), "exit status 0");
}

TEST_F(ChildProcessesTest, ThePipeEndsWithTheParent) {
  // Ends when its descriptor 3 does, and not before.
  const int child = Start("read line <&3; exit 5");
  children_->Stop(absl::InfiniteDuration());
  EXPECT_EQ(AwaitEnd(child), "exit status 5");
}

TEST_F(ChildProcessesTest, WhoDoesNotGoIsKilled) {
  const int child = Start("trap '' TERM INT HUP; exec tail -f /dev/null");
  children_->Stop(absl::ZeroDuration());
  EXPECT_EQ(AwaitEnd(child), "signal 9");
  auto late = children_->Start({"true"});
  EXPECT_FALSE(late.ok());
}

TEST_F(ChildProcessesTest, WhatIsNoProgramIsNamed) {
  auto child = children_->Start({"/nowhere/pw-node", "worker"});
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(child.status().message()),
              ::testing::HasSubstr("cannot start '/nowhere/pw-node'"));
}

}  // namespace
}  // namespace pathways
