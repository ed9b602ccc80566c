//===- relocator_test.cc - Programs and arrays on other devices -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/relocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/client/client_parts.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kNoRoom = absl::StatusCode::kResourceExhausted;

class RelocatorTest : public ::testing::Test {
 protected:
  absl::Status MoveOffDevice0() {
    return relocator_.Rebind(program_, {true, false}, RebindOptions());
  }

  ClientParts parts_;
  Relocator relocator_{&parts_.it.channel, &parts_.topology, &parts_.catalog,
                       &parts_.gate,       &parts_.loader,   &parts_.drains,
                       &parts_.store,      &parts_.programs};
  const ProgramHandle program_ = parts_.Load();
};

TEST_F(RelocatorTest, LoadsAtTheNewPlaceBeforeItUnloads) {
  EXPECT_TRUE(MoveOffDevice0().ok());
  EXPECT_EQ(parts_.DeviceOf(program_), 1);
  EXPECT_EQ(parts_.NumberOf(program_), 6u);
  parts_.it.HandleSent();
  EXPECT_THAT(parts_.unloads, ElementsAre(5));
  // It is there already.
  EXPECT_TRUE(MoveOffDevice0().ok());
  EXPECT_THAT(parts_.loads, ElementsAre(5, 6));
  EXPECT_TRUE(parts_.gate.BeginCall(program_).ok());
}

TEST_F(RelocatorTest, UnloadsFirstIfThereIsNoRoomForBoth) {
  parts_.load_errors = {kNoRoom};
  EXPECT_TRUE(MoveOffDevice0().ok());
  EXPECT_THAT(parts_.unloads, ElementsAre(5));
  EXPECT_EQ(parts_.DeviceOf(program_), 1);
}

TEST_F(RelocatorTest, ReturnsToTheOldPlaceIfTheNewOneRefuses) {
  parts_.load_errors = {kNoRoom, kNoRoom, kOk};
  EXPECT_EQ(MoveOffDevice0(), absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(parts_.DeviceOf(program_), 0);
  EXPECT_EQ(parts_.NumberOf(program_), 6u);
}

TEST_F(RelocatorTest, AProgramThatNeitherPlaceTakesIsLostUntilItIsRestored) {
  parts_.load_errors = {kNoRoom, kNoRoom, kNoRoom};
  const absl::Status moved = MoveOffDevice0();
  EXPECT_TRUE(absl::IsResourceExhausted(moved));
  EXPECT_THAT(std::string(moved.message()), HasSubstr("no longer loaded"));
  EXPECT_TRUE(parts_.catalog.IsLost(**parts_.catalog.Find(program_)));
  EXPECT_FALSE(parts_.gate.BeginCall(program_).ok());
  EXPECT_TRUE(
      relocator_.Restore(program_, /*avoid=*/nullptr, RebindOptions()).ok());
  EXPECT_EQ(parts_.DeviceOf(program_), 0);
  EXPECT_TRUE(parts_.gate.BeginCall(program_).ok());
}

TEST_F(RelocatorTest, PredictsWhetherAProgramMoves) {
  EXPECT_TRUE(*relocator_.Moves(program_, {true, false}, false));
  EXPECT_FALSE(*relocator_.Moves(program_, {false, true}, false));
  EXPECT_TRUE(absl::IsResourceExhausted(
      relocator_.Moves(program_, {true, true}, false).status()));
}

TEST_F(RelocatorTest, MovesOffDrainedDevicesOnce) {
  relocator_.MoveOffDrained(program_);
  parts_.it.HandleSent();
  EXPECT_THAT(parts_.it.Take(proto::Control::kDevicesRequest), IsEmpty());
  proto::DrainSeen seen;
  seen.add_programs(5);
  relocator_.OnDrainSeen(seen);
  parts_.away = {0};
  relocator_.MoveOffDrained(program_);
  EXPECT_EQ(parts_.DeviceOf(program_), 1);
  EXPECT_EQ(parts_.it.Take(proto::Control::kDevicesRequest).size(), 1u);
  relocator_.MoveOffDrained(program_);
  EXPECT_THAT(parts_.it.Take(proto::Control::kDevicesRequest), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
