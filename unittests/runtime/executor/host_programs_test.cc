//===- host_programs_test.cc - Programs that are loaded on a host ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_programs.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace pathways {
namespace {

std::unique_ptr<HostProgram> Program(uint32_t number, uint32_t incarnation) {
  auto program = std::make_unique<HostProgram>();
  program->program = number;
  program->incarnation = incarnation;
  return program;
}

TEST(HostProgramsTest, FindsOnlyTheIncarnationThatIsLoaded) {
  HostPrograms programs;
  EXPECT_EQ(programs.Find(0, 0), nullptr);
  HostProgram* const program = programs.Add(Program(3, 5));
  EXPECT_EQ(programs.Find(3, 5), program);
  EXPECT_EQ(programs.Find(3, 4), nullptr);
  EXPECT_EQ(programs.Find(2, 5), nullptr);
  EXPECT_EQ(programs.Find(UINT32_MAX, 5), nullptr);
  EXPECT_EQ(programs.At(3), program);
  EXPECT_EQ(programs.At(2), nullptr);
  EXPECT_EQ(programs.all().size(), 4u);
}

TEST(HostProgramsTest, HidesAProgramThatIsStopping) {
  HostPrograms programs;
  HostProgram* const program = programs.Add(Program(0, 1));
  program->stopping = true;
  EXPECT_EQ(programs.Find(0, 1), nullptr);
  EXPECT_EQ(programs.FindAny(0, 1), program);
  EXPECT_EQ(programs.FindAny(0, 2), nullptr);
}

TEST(HostProgramsTest, ReusesTheNumberOfARemovedProgram) {
  HostPrograms programs;
  const HostProgram& first = *programs.Add(Program(0, 1));
  const std::unique_ptr<HostProgram> removed = programs.Remove(first);
  EXPECT_EQ(removed.get(), &first);
  EXPECT_EQ(programs.FindAny(0, 1), nullptr);
  EXPECT_EQ(programs.Find(0, 2), nullptr);
  EXPECT_EQ(programs.Add(Program(0, 2)), programs.Find(0, 2));
}

TEST(HostProgramsTest, RefusesEarlierIncarnationsToo) {
  HostPrograms programs;
  EXPECT_FALSE(programs.Refuses(1, 0));
  programs.Refuse(1, 4);
  programs.Refuse(1, 2);
  EXPECT_TRUE(programs.Refuses(1, 3));
  EXPECT_TRUE(programs.Refuses(1, 4));
  EXPECT_FALSE(programs.Refuses(1, 5));
  EXPECT_FALSE(programs.Refuses(2, 1));
  programs.Refuse(HostPrograms::kMaxPrograms, 1);
  EXPECT_FALSE(programs.Refuses(HostPrograms::kMaxPrograms, 1));
}

}  // namespace
}  // namespace pathways
