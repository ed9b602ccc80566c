//===- loaded_programs_test.cc - Programs that a client has loaded --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/loaded_programs.h"

#include <gtest/gtest.h>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/test_program.h"

namespace pathways::testing {
namespace {

TEST(LoadedProgramsTest, AProgramKeepsItsHandleWhenItIsReplaced) {
  LoadedPrograms table;
  const SharedProgram first = ProgramForTest(3), second = ProgramForTest(8);
  table.Add(first);
  EXPECT_EQ(*table.Find(3), first);
  EXPECT_TRUE(table.Replace(3, second));
  EXPECT_EQ(*table.Find(3), second);
  EXPECT_EQ(table.Find(8).status(),
            absl::FailedPreconditionError("program 8 is not loaded [PW6102]"));
  EXPECT_TRUE(table.Erase(3));
  EXPECT_FALSE(table.Erase(3));
  EXPECT_FALSE(table.Replace(3, first));
  EXPECT_TRUE(table.programs().empty());
}

TEST(LoadedProgramsTest, ADiscardedProgramIsTakenOnceItsRunsHaveEnded) {
  LoadedPrograms table;
  RunTable runs;
  const SharedProgram program = ProgramForTest(3);
  runs.Add(RunForTest(1, *program));
  EXPECT_FALSE(table.TakeDiscarded(3, runs));
  table.Discard(3);
  EXPECT_FALSE(table.TakeDiscarded(3, runs));
  ObjectList objects;
  runs.End(1, RunEnd(), &objects);
  EXPECT_TRUE(table.TakeDiscarded(3, runs));
  EXPECT_FALSE(table.TakeDiscarded(3, runs));
}

TEST(LoadedProgramsTest, AnUnloadIsRequestedOnce) {
  AnsweredChannel it;
  LoadedPrograms table;
  const RunTable runs;
  table.Discard(3);
  {
    MutexLock lock(&it.channel.mutex());
    UnloadIfDiscarded(3, runs, &table, &it.channel);
    UnloadIfDiscarded(3, runs, &table, &it.channel);
  }
  const auto unloads = it.Take(proto::Control::kUnloadRequest);
  ASSERT_EQ(unloads.size(), 1u);
  EXPECT_EQ(unloads[0].unload_request().program(), 3u);
  EXPECT_EQ(table.TakeUnloads().size(), 1u);
  EXPECT_TRUE(table.TakeUnloads().empty());
}

}  // namespace
}  // namespace pathways::testing
