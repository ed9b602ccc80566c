//===- suspension_test.cc - Suspending and resuming a client --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unittests/runtime/client/client_parts.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class SuspensionTest : public ::testing::Test {
 protected:
  ClientParts parts_;
  Suspension suspension_{&parts_.it.channel, &parts_.owner,   &parts_.it.world,
                         &parts_.topology,   &parts_.catalog, &parts_.gate,
                         &parts_.loader,     &parts_.drains,  &parts_.store,
                         &parts_.programs};
  const ProgramHandle program_ = parts_.Load();
};

TEST_F(SuspensionTest, UnloadsProgramsAndLoadsThemAgain) {
  EXPECT_TRUE(suspension_.Suspend("").ok());
  EXPECT_THAT(parts_.unloads, ElementsAre(5));
  EXPECT_EQ(suspension_.Suspend(""),
            absl::FailedPreconditionError("client 'ann' is suspended already"));
  parts_.away = {0};
  EXPECT_TRUE(suspension_.Resume(RebindOptions()).ok());
  EXPECT_EQ(parts_.NumberOf(program_), 6u);
  EXPECT_EQ(parts_.DeviceOf(program_), 1);
  EXPECT_EQ(suspension_.Resume(RebindOptions()),
            absl::FailedPreconditionError("client 'ann' is not suspended"));
  EXPECT_TRUE(parts_.gate.BeginCall(program_).ok());
}

TEST_F(SuspensionTest, CallsWaitUntilTheClientIsResumed) {
  EXPECT_TRUE(suspension_.AwaitResumed().ok());
  EXPECT_TRUE(suspension_.Suspend("").ok());
  int waits = 0;
  parts_.it.world.on_wait = [&] {
    parts_.it.HandleSent();
    if (waits++ > 0) return;
    EXPECT_TRUE(suspension_.Resume(RebindOptions()).ok());
  };
  EXPECT_TRUE(suspension_.AwaitResumed().ok());
  EXPECT_GT(waits, 0);
}

TEST_F(SuspensionTest, WaitsForLaunches) {
  const auto run = RunForTest(1, **parts_.catalog.Find(program_));
  parts_.runs.Add(run);
  parts_.it.world.on_wait = [&] {
    parts_.it.HandleSent();
    ObjectList objects;
    if (!run->ended) {
      EXPECT_TRUE(parts_.unloads.empty());
      parts_.runs.End(1, RunEnd(), &objects);
      run->done.Set();
    }
  };
  EXPECT_TRUE(suspension_.Suspend("").ok());
  EXPECT_TRUE(run->ended);
  EXPECT_THAT(parts_.unloads, ElementsAre(5));
}

TEST_F(SuspensionTest, ResumeMayBeRepeatedAfterAnError) {
  EXPECT_TRUE(suspension_.Suspend("").ok());
  parts_.load_errors = {absl::StatusCode::kResourceExhausted};
  EXPECT_TRUE(absl::IsResourceExhausted(suspension_.Resume(RebindOptions())));
  EXPECT_TRUE(suspension_.Resume(RebindOptions()).ok());
  EXPECT_EQ(parts_.NumberOf(program_), 6u);
}

TEST_F(SuspensionTest, AProgramThatWasDiscardedIsNotLoadedAgain) {
  EXPECT_TRUE(suspension_.Suspend("").ok());
  EXPECT_TRUE(parts_.catalog.Discard(program_).ok());
  EXPECT_TRUE(suspension_.Resume(RebindOptions()).ok());
  EXPECT_THAT(parts_.loads, ElementsAre(5));
}

TEST_F(SuspensionTest, TheClientContinuesIfAnArrayCannotBeMoved) {
  const auto run = RunForTest(1, **parts_.catalog.Find(program_));
  run->results.resize(1);
  run->results[0].type =
      std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {1}});
  run->results[0].bytes = 4;
  run->results[0].placed = {9, (*parts_.catalog.Find(program_))->placement(0)};
  run->ended = run->completed = true;
  parts_.holds.Hold(9);
  parts_.arrays.Keep(run, 0);
  parts_.it.on_message = [&](const proto::Control& message) {
    if (!message.has_fetch_request()) return parts_.On(message);
    parts_.it.Answer(message.fetch_request().request(),
                     absl::StatusCode::kInternal, "broken");
  };
  EXPECT_EQ(suspension_.Suspend(""), absl::InternalError("broken"));
  EXPECT_TRUE(parts_.unloads.empty());
  EXPECT_TRUE(suspension_.AwaitResumed().ok());
  EXPECT_TRUE(parts_.gate.BeginCall(program_).ok());
}

}  // namespace
}  // namespace pathways::testing
