//===- program_catalog_test.cc - Lookup and end of loaded programs --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_catalog.h"

#include <gtest/gtest.h>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/test_program.h"

namespace pathways::testing {
namespace {

class ProgramCatalogTest : public ::testing::Test {
 protected:
  // Answers requests to unload and to settle.
  void LetRequestsSucceed() {
    it_.on_message = [&](const proto::Control& message) {
      if (message.has_unload_request()) {
        it_.Answer(message.unload_request().request());
      } else if (message.has_settle_request()) {
        it_.Answer(message.settle_request().request());
      }
    };
  }

  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  LoadedPrograms programs_;
  RunTable runs_;
  ProgramCatalog catalog_{&it_.channel, &owner_, &programs_, &runs_};
};

TEST_F(ProgramCatalogTest, FindsItsOwnProgramsAlone) {
  const SharedProgram program = ProgramForTest(3);
  const std::vector<ProgramHandle> handles = catalog_.Add({program});
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_EQ(*catalog_.Find(handles[0]), program);
  const HandleOwner bo("bo");
  EXPECT_TRUE(absl::IsInvalidArgument(
      catalog_.Find(bo.Make<ProgramHandle>(3)).status()));
}

TEST_F(ProgramCatalogTest, UnloadsADiscardedProgramAfterItsRuns) {
  const ProgramHandle handle = catalog_.Add({ProgramForTest(3)}).front();
  runs_.Add(RunForTest(1, **catalog_.Find(handle)));
  EXPECT_TRUE(catalog_.Discard(handle).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(catalog_.Find(handle).status()));
  EXPECT_TRUE(it_.Take(proto::Control::kUnloadRequest).empty());
  ObjectList objects;
  runs_.End(1, RunEnd(), &objects);
  {
    MutexLock lock(&it_.channel.mutex());
    UnloadIfDiscarded(3, runs_, &programs_, &it_.channel);
  }
  LetRequestsSucceed();
  EXPECT_TRUE(catalog_.AwaitReleases().ok());
  ASSERT_EQ(it_.messages.size(), 2u);
  EXPECT_EQ(it_.messages[0].unload_request().program(), 3u);
  EXPECT_TRUE(it_.messages[1].has_settle_request());
}

TEST_F(ProgramCatalogTest, AProgramStaysIfItsUnloadFails) {
  const ProgramHandle handle = catalog_.Add({ProgramForTest(3)}).front();
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.unload_request().request(),
               absl::StatusCode::kFailedPrecondition, "a launch is open");
  };
  EXPECT_EQ(catalog_.Unload(handle),
            absl::FailedPreconditionError("a launch is open"));
  EXPECT_TRUE(catalog_.Find(handle).ok());
  LetRequestsSucceed();
  EXPECT_TRUE(catalog_.Unload(handle).ok());
  EXPECT_FALSE(catalog_.Find(handle).ok());
}

TEST_F(ProgramCatalogTest, ALostProgramIsUnloadedWithoutARequest) {
  const ProgramHandle handle = catalog_.Add({ProgramForTest(3)}).front();
  catalog_.Lose(**catalog_.Find(handle), absl::UnavailableError("gone"));
  EXPECT_TRUE(catalog_.IsLost(**catalog_.Find(handle)));
  EXPECT_TRUE(catalog_.Unload(handle).ok());
  EXPECT_TRUE(it_.Take(proto::Control::kUnloadRequest).empty());
}

TEST_F(ProgramCatalogTest, AReplacementOfADiscardedProgramIsGivenUp) {
  const ProgramHandle handle = catalog_.Add({ProgramForTest(3)}).front();
  EXPECT_TRUE(catalog_.Replace(handle, ProgramForTest(4)));
  EXPECT_EQ((*catalog_.Find(handle))->handle(), 4u);
  EXPECT_TRUE(catalog_.Discard(handle).ok());
  EXPECT_FALSE(catalog_.Replace(handle, ProgramForTest(5)));
  const auto unloads = it_.Take(proto::Control::kUnloadRequest);
  ASSERT_EQ(unloads.size(), 2u);
  EXPECT_EQ(unloads[0].unload_request().program(), 4u);
  EXPECT_EQ(unloads[1].unload_request().program(), 5u);
}

TEST_F(ProgramCatalogTest, WaitsForLaunchesOneByOne) {
  const SharedProgram program = ProgramForTest(3);
  const auto first = RunForTest(1, *program), second = RunForTest(2, *program);
  runs_.Add(first);
  runs_.Add(second);
  int waits = 0;
  it_.world.on_wait = [&] {
    const auto& run = waits++ == 0 ? first : second;
    ObjectList objects;
    runs_.End(run->id, RunEnd(), &objects);
    run->done.Set();
  };
  EXPECT_TRUE(catalog_.AwaitLaunches(*program).ok());
  EXPECT_EQ(waits, 2);
}

}  // namespace
}  // namespace pathways::testing
