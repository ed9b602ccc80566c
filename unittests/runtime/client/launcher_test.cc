//===- launcher_test.cc - Launches of a client ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "unittests/runtime/client/client_parts.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LauncherTest : public ::testing::Test {
 protected:
  static HostArray Number(float value) {
    HostArray array{ElementType::kF32, {1}, {}};
    array.data.resize(sizeof(value));
    std::memcpy(array.data.data(), &value, sizeof(value));
    return array;
  }
  absl::StatusOr<RunHandle> Launch(LaunchArgument argument) {
    LaunchArguments arguments;
    arguments.push_back(std::move(argument));
    return launcher_.Launch(program_, std::move(arguments), /*steps=*/1,
                            LaunchOptions());
  }
  // Returns the launch that was sent since the last call.
  proto::LaunchRequest Sent() {
    auto sent = parts_.it.Take(proto::Control::kLaunchRequest);
    EXPECT_EQ(sent.size(), 1u);
    return sent.empty() ? proto::LaunchRequest() : sent[0].launch_request();
  }
  void End(uint64_t run, absl::StatusCode code = absl::StatusCode::kOk) {
    proto::LaunchEnded ended;
    ended.set_launch(run);
    ended.set_code(static_cast<int>(code));
    ended.set_completed(code == absl::StatusCode::kOk);
    launcher_.OnLaunchEnded(ended);
  }

  FreeList run_memory_;
  ClientParts parts_;
  Launcher launcher_{
      {&parts_.it.context, &parts_.it.actor, &parts_.it.channel, &parts_.owner,
       &parts_.gate, &parts_.store, &parts_.reader, &parts_.programs,
       &parts_.runs, &parts_.arrays, &parts_.holds, &run_memory_},
      /*run_ahead=*/2};
  const ProgramHandle program_ = parts_.Load();
};

TEST_F(LauncherTest, SendsValuesWithTheirLaunch) {
  const absl::StatusOr<RunHandle> run = Launch(Number(3));
  ASSERT_TRUE(run.ok()) << run.status();
  const proto::LaunchRequest sent = Sent();
  EXPECT_EQ(sent.launch(), run->id);
  EXPECT_EQ(sent.program(), 5u);
  ASSERT_EQ(sent.arguments_size(), 1);
  EXPECT_TRUE(sent.arguments(0).fresh());
  EXPECT_FALSE(sent.arguments(0).keep());
  ASSERT_EQ(sent.results_size(), 1);
  EXPECT_TRUE(parts_.holds.Holds(sent.results(0).object()));
  EXPECT_EQ(parts_.it.actor.transfers().size(), 1u);
  End(run->id);
  EXPECT_EQ(parts_.it.actor.transfers().size(), 0u);
  EXPECT_TRUE((*parts_.runs.Find(run->id))->done.load());
  EXPECT_EQ(parts_.runs.unended(), 0u);
}

TEST_F(LauncherTest, SendsNothingAfterAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      Launch(HostArray{ElementType::kF32, {2}, {}}).status()));
  EXPECT_TRUE(
      absl::IsNotFound(Launch(parts_.owner.Make<ArrayHandle>(8)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Launch(ArrayHandle{1, 0}).status()));
  EXPECT_THAT(parts_.it.Take(proto::Control::kLaunchRequest), IsEmpty());
  EXPECT_EQ(parts_.runs.size(), 0u);
  // The program can be rebound.
  EXPECT_TRUE(parts_.gate.BeginRebind(program_).ok());
}

TEST_F(LauncherTest, AnArrayStaysWhereALaunchHasBroughtIt) {
  const ArrayHandle array =
      *parts_.store.Put(std::make_shared<const ArrayValue>(Number(3)));
  const RunHandle first = *Launch(array);
  const proto::LaunchRequest brings = Sent();
  EXPECT_TRUE(brings.arguments(0).keep());
  End(first.id);
  EXPECT_EQ(parts_.store.Locate(array)->dense, nullptr);
  ASSERT_TRUE(Launch(array).ok());
  const proto::LaunchRequest uses = Sent();
  EXPECT_FALSE(uses.arguments(0).fresh());
  EXPECT_EQ(uses.arguments(0).object(), brings.arguments(0).object());
}

TEST_F(LauncherTest, AnArrayReturnsIfTheLaunchFails) {
  const ArrayHandle array =
      *parts_.store.Put(std::make_shared<const ArrayValue>(Number(3)));
  const RunHandle run = *Launch(array);
  const uint64_t object = Sent().arguments(0).object();
  End(run.id, absl::StatusCode::kInternal);
  EXPECT_NE(parts_.store.Locate(array)->dense, nullptr);
  EXPECT_FALSE(parts_.holds.Holds(object));
  const auto releases = parts_.it.Take(proto::Control::kReleaseRequest);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].release_request().objects_size(), 2);
}

TEST_F(LauncherTest, AFailedResultIsSentWithItsError) {
  const RunHandle run = *Launch(Number(3));
  Sent();
  const ArrayHandle result = parts_.owner.Make<ArrayHandle>(
      parts_.arrays.Keep(*parts_.runs.Find(run.id), 0));
  End(run.id, absl::StatusCode::kInternal);
  ASSERT_TRUE(Launch(result).ok());
  const proto::LaunchRequest sent = Sent();
  EXPECT_EQ(sent.arguments(0).no_values().code(),
            static_cast<int>(absl::StatusCode::kInternal));
}

TEST_F(LauncherTest, WaitsForRoom) {
  const RunHandle first = *Launch(Number(1));
  const RunHandle second = *Launch(Number(2));
  int waits = 0;
  parts_.it.world.on_wait = [&] {
    ++waits;
    End(first.id);
    End(second.id);
  };
  EXPECT_TRUE(Launch(Number(3)).ok());
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(parts_.runs.unended(), 1u);
}

TEST_F(LauncherTest, TheEndOfTheLastRunUnloadsADiscardedProgram) {
  const RunHandle run = *Launch(Number(3));
  EXPECT_TRUE(parts_.catalog.Discard(program_).ok());
  parts_.it.HandleSent();
  EXPECT_THAT(parts_.unloads, IsEmpty());
  End(run.id);
  parts_.it.HandleSent();
  EXPECT_THAT(parts_.unloads, ElementsAre(5));
}

TEST_F(LauncherTest, CallsWatchersWithTheStatus) {
  const RunHandle run = *Launch(Number(3));
  absl::Status status;
  parts_.it.context.watchers.Add(
      run.owner, run.id, [&](const absl::Status& end) { status = end; });
  End(run.id, absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::IsInternal(status));
  End(run.id);  // a second message changes nothing
  EXPECT_FALSE((*parts_.runs.Find(run.id))->completed);
}

}  // namespace
}  // namespace pathways::testing
