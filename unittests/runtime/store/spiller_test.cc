//===- spiller_test.cc - Arrays leave memory, and come back ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/spiller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint64_t kMega = uint64_t{1} << 20;

// A store with ten megabytes of memory. What is to be done elsewhere is done
// when the test says so.
class SpillerTest : public ::testing::Test {
 protected:
  SpillerTest() { Start({.folder = "disk", .bytes = 20 * kMega}); }

  void Start(const SpillOptions& options) {
    spiller_.reset();
    auto disk = std::make_unique<MemoryDisk>("disk");
    disk_ = disk.get();
    spiller_ =
        std::make_unique<Spiller>(&store_, &arena_, std::move(disk), options,
                                  [this](uint64_t, std::function<void()> work) {
                                    work_ = std::move(work);
                                  });
  }
  void Make(uint64_t id, uint64_t bytes) {
    const HostStore::Ref object = store_.Create(id, bytes, "an array");
    ASSERT_TRUE(object->status.ok()) << object->status;
    std::memset(object->data(), static_cast<int>(id), bytes);
  }
  void Work() {
    if (work_ != nullptr) std::exchange(work_, nullptr)();
    spiller_->Finish();
  }
  bool Spill() {
    const bool begun = spiller_->Spill() == Spiller::Step::kBegun;
    if (begun) Work();
    return begun;
  }
  absl::Status Bring(uint64_t id) {
    spiller_->Bring({store_.Use(id)});
    Work();
    return store_.Find(id)->status;
  }
  std::vector<uint64_t> Away(uint64_t last) {
    std::vector<uint64_t> away;
    for (uint64_t id = 1; id <= last; ++id) {
      const HostStore::Ref object = store_.Find(id);
      if (object != nullptr && object->away()) away.push_back(id);
    }
    return away;
  }
  void ExpectBytes(uint64_t id) {
    const HostStore::Ref object = store_.Find(id);
    ASSERT_NE(object->data(), nullptr) << id;
    EXPECT_EQ(std::string(object->data(), object->bytes),
              std::string(object->bytes, static_cast<char>(id)))
        << id;
  }

  Arena arena_{"host memory of host0", 10 * kMega, /*backed=*/true};
  HostStore store_{&arena_};
  MemoryDisk* disk_ = nullptr;
  std::function<void()> work_;
  std::unique_ptr<Spiller> spiller_;
};

TEST_F(SpillerTest, TheOneThatWasUsedLongestAgoLeavesFirst) {
  for (uint64_t id = 1; id <= 4; ++id) Make(id, 2 * kMega);
  store_.Use(1);
  ASSERT_TRUE(Spill());
  EXPECT_THAT(Away(4), ElementsAre(2));
  ASSERT_TRUE(Spill());
  EXPECT_THAT(Away(4), ElementsAre(2, 3));
  EXPECT_EQ(arena_.used(), 4 * kMega);
  EXPECT_EQ(spiller_->spilled_bytes(), 4 * kMega);
  EXPECT_EQ(Bring(2), absl::OkStatus());
  ExpectBytes(2);
  EXPECT_THAT(Away(4), ElementsAre(3));
  EXPECT_EQ(spiller_->spilled_bytes(), 2 * kMega);
}

// It stays in its file meanwhile.
TEST_F(SpillerTest, WhatComesBackIsNotWrittenAgain) {
  for (uint64_t id = 1; id <= 2; ++id) Make(id, 2 * kMega);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(Spill() && Spill());
    EXPECT_THAT(Away(2), ElementsAre(1, 2));
    EXPECT_EQ(spiller_->spilled_bytes(), 4 * kMega);
    EXPECT_EQ(disk_->written_bytes(), 4 * kMega);
    EXPECT_EQ(arena_.used(), 0u);
    for (uint64_t id = 1; id <= 2; ++id) {
      EXPECT_EQ(Bring(id), absl::OkStatus());
      ExpectBytes(id);
    }
  }
  // One that is used when it is to leave keeps its copy, too.
  {
    ASSERT_EQ(spiller_->Spill(), Spiller::Step::kBegun);
    const HostStore::Ref used = store_.Find(1);
    Work();
    EXPECT_THAT(Away(2), IsEmpty());
  }
  EXPECT_EQ(disk_->sizes().size(), 2u);
  store_.Drop(1);
  store_.Drop(2);
  EXPECT_THAT(disk_->sizes(), IsEmpty());
  EXPECT_EQ(spiller_->spilled_bytes(), 0u);
}

// For what has none: where files have a bound, and on a disk that is full.
TEST_F(SpillerTest, CopiesGiveWay) {
  Start({.folder = "disk", .bytes = 5 * kMega});
  for (uint64_t id = 1; id <= 2; ++id) {
    Make(id, 2 * kMega);
    ASSERT_TRUE(Spill());
  }
  EXPECT_EQ(Bring(1), absl::OkStatus());
  Make(3, 3 * kMega);
  const HostStore::Ref used = store_.Find(1);
  ASSERT_TRUE(Spill());
  EXPECT_THAT(Away(3), ElementsAre(2, 3));
  EXPECT_THAT(disk_->sizes(),
              ElementsAre(Pair(2, 2 * kMega), Pair(3, 3 * kMega)));
  store_.Drop(3);
  EXPECT_EQ(Bring(2), absl::OkStatus());
  Make(4, kMega);
  const HostStore::Ref other = store_.Find(2);
  disk_->FailWrites(absl::ResourceExhaustedError("disk: No space left"));
  ASSERT_TRUE(Spill());
  EXPECT_THAT(disk_->sizes(), IsEmpty());
  disk_->FailWrites(absl::OkStatus());
  ASSERT_TRUE(Spill());
  EXPECT_THAT(Away(4), ElementsAre(4));
  ExpectBytes(1);
  ExpectBytes(2);
}

TEST_F(SpillerTest, WhatIsUsedOrIncompleteStays) {
  Make(1, 2 * kMega);
  Make(2, 2 * kMega);
  store_.Find(2)->filled = false;
  store_.Expect(3, 2 * kMega, "an array");
  {
    const HostStore::Ref used = store_.Find(1);
    EXPECT_EQ(spiller_->Spill(), Spiller::Step::kPinned);
  }
  ASSERT_TRUE(Spill());
  EXPECT_THAT(Away(3), ElementsAre(1));
  EXPECT_EQ(spiller_->Spill(), Spiller::Step::kPinned);
}

TEST_F(SpillerTest, SmallOnesShareAFile) {
  constexpr uint64_t kSmall = 64 << 10;
  for (uint64_t id = 1; id <= 40; ++id) Make(id, kSmall);
  ASSERT_TRUE(Spill());
  EXPECT_EQ(Away(40).size(), kMega / kSmall);
  EXPECT_THAT(disk_->sizes(), ElementsAre(Pair(1, kMega)));
  for (uint64_t id = 1; id <= 16; ++id) {
    EXPECT_EQ(disk_->sizes().size(), 1u);
    if (id % 2 == 0) {
      store_.Drop(id);
      continue;
    }
    EXPECT_EQ(Bring(id), absl::OkStatus());
    ExpectBytes(id);
  }
  EXPECT_EQ(spiller_->spilled_bytes(), 0u);
  EXPECT_EQ(disk_->sizes().size(), 1u);
  for (uint64_t id = 1; id <= 16; ++id) store_.Drop(id);
  EXPECT_THAT(disk_->sizes(), IsEmpty());
}

TEST_F(SpillerTest, WhatIsUsedOrDroppedWhileItIsWrittenDoesNotLeave) {
  for (uint64_t id = 1; id <= 3; ++id) Make(id, kMega / 4);
  ASSERT_EQ(spiller_->Spill(), Spiller::Step::kBegun);
  {
    const HostStore::Ref used = store_.Find(1);
    store_.Drop(2);
    Work();
    EXPECT_THAT(Away(3), ElementsAre(3));
    ExpectBytes(1);
  }
  EXPECT_EQ(spiller_->spilled_bytes(), kMega / 4);
  // The last array removes the file as well.
  store_.Drop(1);
  store_.Drop(3);
  EXPECT_THAT(disk_->sizes(), IsEmpty());
  Make(4, kMega);
  ASSERT_EQ(spiller_->Spill(), Spiller::Step::kBegun);
  store_.Drop(4);
  Work();
  EXPECT_THAT(disk_->sizes(), IsEmpty());
}

TEST_F(SpillerTest, WhatIsDroppedWhileItIsReadGoes) {
  Make(1, kMega);
  ASSERT_TRUE(Spill());
  spiller_->Bring({store_.Use(1)});
  EXPECT_EQ(arena_.used(), kMega);
  store_.Drop(1);
  Work();
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_THAT(disk_->sizes(), IsEmpty());
}

TEST_F(SpillerTest, BeginsAtOneMarkAndEndsAtTheOther) {
  for (uint64_t id = 1; id <= 8; ++id) Make(id, kMega);
  EXPECT_FALSE(spiller_->IsHigh());
  Make(9, 1);
  while (spiller_->IsHigh()) ASSERT_TRUE(Spill());
  EXPECT_EQ(arena_.used(), 5 * kMega + 1);
  EXPECT_THAT(Away(9), ElementsAre(1, 2, 3));
  Make(10, kMega);
  EXPECT_FALSE(spiller_->IsHigh());
}

TEST_F(SpillerTest, FilesHaveABound) {
  Start({.folder = "disk", .bytes = 3 * kMega});
  for (uint64_t id = 1; id <= 5; ++id) Make(id, 2 * kMega);
  ASSERT_TRUE(Spill());
  EXPECT_EQ(spiller_->Spill(), Spiller::Step::kFailed);
  const HostStore::Ref more = store_.Create(6, 3 * kMega, "result 'y'");
  EXPECT_EQ(
      more->status.message(),
      "result 'y' needs 3145728 bytes of host memory of host0, where "
      "8388608 of 10485760 bytes are used, and no array can be spilled: disk "
      "has 2097152 of the 3145728 bytes that it may have, but 2097152 more "
      "bytes must be spilled [PW3402]");
  EXPECT_EQ(more->status.code(), absl::StatusCode::kResourceExhausted);
  // Not for good, but while something comes back.
  EXPECT_EQ(spiller_->Spill(), Spiller::Step::kFailed);
  spiller_->Forgive();
  ASSERT_EQ(spiller_->Spill(/*coming=*/2 * kMega), Spiller::Step::kBegun);
  Work();
  EXPECT_EQ(Bring(1), absl::OkStatus());
  EXPECT_EQ(spiller_->Spill(), Spiller::Step::kFailed);
  // A file that is gone makes room.
  store_.Drop(2);
  EXPECT_TRUE(Spill());
}

TEST_F(SpillerTest, ADiskThatFailsIsTriedAgainForWhoNeedsIt) {
  Make(1, 2 * kMega);
  disk_->FailWrites(absl::ResourceExhaustedError("disk: No space left"));
  EXPECT_TRUE(Spill());
  EXPECT_THAT(Away(1), IsEmpty());
  ExpectBytes(1);
  disk_->FailWrites(absl::OkStatus());
  EXPECT_EQ(spiller_->Spill(), Spiller::Step::kFailed);
  EXPECT_THAT(spiller_->Explain(absl::ResourceExhaustedError("x")).message(),
              HasSubstr("x, and no array can be spilled: disk: No space left"));
  spiller_->Forgive();
  EXPECT_TRUE(Spill());
  EXPECT_THAT(Away(1), ElementsAre(1));
}

TEST_F(SpillerTest, ADamagedFileCostsWhatLiesThere) {
  for (uint64_t id = 1; id <= 2; ++id) Make(id, kMega / 2);
  ASSERT_TRUE(Spill());
  ASSERT_TRUE(disk_->Damage(1, kMega / 2 + 7));
  EXPECT_EQ(Bring(1), absl::OkStatus());
  ExpectBytes(1);
  const absl::Status lost = Bring(2);
  EXPECT_EQ(lost.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(lost.message()),
              ::testing::MatchesRegex(
                  "an array that was spilled is lost: disk/1 at byte 524288: "
                  "the checksum of 524288 bytes is [0-9a-f]{8}, expected "
                  "[0-9a-f]{8} \\[PW3403\\]"));
  EXPECT_EQ(store_.Find(2)->data(), nullptr);
  store_.Drop(1);
  EXPECT_THAT(disk_->sizes(), IsEmpty());
  disk_->Remove(1);
  Make(3, kMega);
  ASSERT_TRUE(Spill());
  disk_->Remove(2);
  EXPECT_EQ(Bring(3).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pathways
