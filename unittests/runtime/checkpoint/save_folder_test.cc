//===- save_folder_test.cc - Folders that appear whole or not at all ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/save_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/array_writer.h"
#include "runtime/checkpoint/checkpoint_folder.h"
#include "unittests/runtime/checkpoint/test_folder.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ReadFile;
using testing::TestFolder;
using testing::WriteFile;

TEST(SaveFolderTest, AppearsWithAllThatIsInIt) {
  TestFolder folder;
  auto save = SaveFolder::Create(folder / "a/");
  ASSERT_TRUE(save.ok()) << save.status();
  EXPECT_EQ((*save)->path(), folder / "a");
  ASSERT_TRUE((*save)->AddFolder("b").ok());
  ASSERT_TRUE((*save)->AddFile("b/c", {"12", "", "3"}).ok());
  EXPECT_THAT(folder.List(), ElementsAre("a.saving0"));
  ASSERT_TRUE((*save)->Commit().ok());
  save->reset();
  EXPECT_THAT(folder.List(), ElementsAre("a"));
  EXPECT_EQ(ReadFile(folder / "a/b/c"), "123");
}

TEST(SaveFolderTest, LeavesNothingUnlessItIsCommitted) {
  TestFolder folder;
  auto save = SaveFolder::Create(folder / "a");
  ASSERT_TRUE((*save)->AddFolder("b").ok());
  ASSERT_TRUE((*save)->AddFile("b/c", {"x"}).ok());
  ASSERT_TRUE((*save)->AddFile("d", {"x"}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists((*save)->AddFile("d", {"x"})));
  save->reset();
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(SaveFolderTest, ReplacesAnEmptyFolderAlone) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_symlink("a", folder / "link");
  auto save = SaveFolder::Create(folder / "link");
  ASSERT_TRUE((*save)->AddFile("b", {}).ok());
  ASSERT_TRUE((*save)->Commit().ok());
  EXPECT_THAT(folder.List(), ElementsAre("a", "link"));
  EXPECT_THAT(folder.List("a"), ElementsAre("b"));

  const absl::Status full = SaveFolder::Create(folder / "a").status();
  EXPECT_TRUE(absl::IsAlreadyExists(full)) << full;
  EXPECT_THAT(std::string(full.message()), HasSubstr("it contains 'b'"));
  const absl::Status file = SaveFolder::Create(folder / "a/b").status();
  EXPECT_TRUE(absl::IsAlreadyExists(file)) << file;
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  const absl::Status link = SaveFolder::Create(folder / "dangling").status();
  EXPECT_TRUE(absl::IsAlreadyExists(link)) << link;
  EXPECT_TRUE(absl::IsInvalidArgument(SaveFolder::Create("").status()));
  const absl::Status in_file = SaveFolder::Create(folder / "a/b/c").status();
  EXPECT_TRUE(absl::IsNotFound(in_file)) << in_file;
}

// Unfinished folders of other savers do no harm, and the second saver to commit
// loses.
TEST(SaveFolderTest, UnfinishedFoldersStayApart) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "a.saving0");
  auto one = SaveFolder::Create(folder / "a");
  auto other = SaveFolder::Create(folder / "a");
  ASSERT_TRUE((*one)->AddFile("1", {}).ok() && (*other)->AddFile("2", {}).ok());
  ASSERT_TRUE((*one)->Commit().ok());
  const absl::Status late = (*other)->Commit();
  EXPECT_EQ(late, absl::AlreadyExistsError(absl::StrCat(
                      "cannot save to '", folder / "a",
                      "': the folder is not empty, it contains '1' [PW5201]")));
  other->reset();
  EXPECT_THAT(folder.List(), ElementsAre("a", "a.saving0"));
  EXPECT_THAT(folder.List("a"), ElementsAre("1"));
}

TEST(SaveFolderTest, MakesTheFoldersThatItIsToBeIn) {
  TestFolder folder;
  auto save = SaveFolder::Create(folder / "new/one/a");
  ASSERT_TRUE(save.ok()) << save.status();
  auto other = SaveFolder::Create(folder / "new/other/b");
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE((*save)->AddFile("1", {}).ok());
  // The saver's own folders are removed without Commit(), and those that others
  // use stay.
  save->reset();
  EXPECT_THAT(folder.List("new"), ElementsAre("other"));
  ASSERT_TRUE((*other)->AddFile("2", {}).ok() && (*other)->Commit().ok());
  other->reset();
  EXPECT_THAT(folder.List("new/other"), ElementsAre("b"));
  EXPECT_THAT(folder.List("new/other/b"), ElementsAre("2"));
  SaveFolder::Create(folder / "third/c")->reset();
  EXPECT_THAT(folder.List(), ElementsAre("new"));
}

TEST(CutFolderTest, WhatTheDeadHaveLeftGoesWithTheNextCut) {
  TestFolder folder;
  const std::string checkpoints = folder / "deep/checkpoints";
  const absl::StatusOr<std::string> none =
      OpenCheckpointFolder(checkpoints + "/");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(*none, "");
  const auto save = [&](int64_t steps) {
    auto checkpoint = SaveFolder::Create(CheckpointPath(checkpoints, steps));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    EXPECT_TRUE((*checkpoint)->AddFile("x", {}).ok());
    EXPECT_TRUE((*checkpoint)->Commit().ok());
  };
  save(8);
  save(16);
  const auto die = [&] {
    auto checkpoint = SaveFolder::Create(CheckpointPath(checkpoints, 12));
    (void)(*checkpoint)->AddFile("x", {});
    raise(SIGKILL);
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGKILL), "");
  std::filesystem::create_directory(checkpoints + "/checkpoint-8.mine");
  std::filesystem::create_directory(checkpoints + "/mine");
  EXPECT_EQ(*OpenCheckpointFolder(checkpoints),
            CheckpointPath(checkpoints, 16));
  auto writing = SaveFolder::Create(CheckpointPath(checkpoints, 10));
  save(24);
  EXPECT_THAT(folder.List("deep/checkpoints"),
              ElementsAre("checkpoint-10.saving0", "checkpoint-12.saving0",
                          "checkpoint-16", "checkpoint-24", "checkpoint-8",
                          "checkpoint-8.mine", "mine"));
  RemoveCheckpointsBefore(checkpoints + "/", 24);
  // Folders that are being written stay, and so do folders that are no
  // checkpoints.
  EXPECT_THAT(folder.List("deep/checkpoints"),
              ElementsAre("checkpoint-10.saving0", "checkpoint-24",
                          "checkpoint-8.mine", "mine"));
}

// The next save removes what killed processes left there, and touches no other
// place.
TEST(SaveFolderTest, WhatTheDeadHaveLeftGoesWithTheNextSave) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "a.saving1");
  WriteFile(folder / "a.saving1/mine", "x");
  const auto leave = [&] {
    std::vector<std::unique_ptr<SaveFolder>> saves;
    for (const char* name : {"a", "a", "a", "other"}) {
      saves.push_back(*SaveFolder::Create(folder / name));
      (void)saves.back()->AddFolder("b");
      (void)saves.back()->AddFile("b/c", {"x"});
    }
    raise(SIGKILL);
  };
  EXPECT_EXIT(leave(), ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_THAT(folder.List(), ElementsAre("a.saving0", "a.saving1", "a.saving2",
                                         "a.saving3", "other.saving0"));
  auto save = SaveFolder::Create(folder / "a");
  ASSERT_TRUE(save.ok()) << save.status();
  ASSERT_TRUE((*save)->AddFile("new", {}).ok());
  // One that lives is left alone, and so is what is no save's.
  auto other = SaveFolder::Create(folder / "a");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(folder.List("a.saving0"), ElementsAre(".saving", "new"));
  ASSERT_TRUE((*save)->Commit().ok());
  EXPECT_THAT(folder.List("a"), ElementsAre("new"));
  other->reset();
  EXPECT_THAT(folder.List(), ElementsAre("a", "a.saving1", "other.saving0"));
  EXPECT_EQ(ReadFile(folder / "a.saving1/mine"), "x");
}

// A file that may not grow is what a full disk is.
TEST(SaveFolderTest, NoRoom) {
  TestFolder folder;
  const auto save_large = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto save = SaveFolder::Create(folder / "a");
    auto writer =
        ArrayWriter::Create(save->get(), "", ElementType::kI8,
                            {{2, 5000}, {{"x"}, {}}, {}, {}}, {{"x", 2}});
    const absl::Status status = writer->Write(std::string(5000, 'x').data());
    save->reset();
    const bool is_gone = folder.List().empty();
    fprintf(stderr, "%s, %s\n", status.ToString().c_str(),
            is_gone ? "gone" : "left");
    _exit(0);
  };
  EXPECT_EXIT(save_large(), ::testing::ExitedWithCode(0),
              "RESOURCE_EXHAUSTED: cannot write '.*/a/block-0.npy': "
              "File too large, gone");
}

TEST(SaveFolderTest, NoPermission) {
  TestFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const auto save = [&] {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(1);
    fprintf(stderr, "%s\n",
            SaveFolder::Create(folder / "a").status().ToString().c_str());
    _exit(0);
  };
  EXPECT_EXIT(save(), ::testing::ExitedWithCode(0),
              "PERMISSION_DENIED: cannot save to '.*/a': Permission");
}

TEST(ArrayWriterTest, RefusesWhatNobodyCouldRead) {
  TestFolder folder;
  auto save = SaveFolder::Create(folder / "a");
  const auto expect = [&](const layout::Layout& layout,
                          const layout::Mesh& mesh, const std::string& text) {
    const absl::Status status =
        ArrayWriter::Create(save->get(), "", ElementType::kF32, layout, mesh)
            .status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  };
  expect({{4}, {}, {}, {}}, {}, "an array of 4xf32: ");
  expect({{4}, {{"x"}}, {}, {}}, {}, "an array of 4xf32: ");
  expect({{4}, {{}}, {"x"}, layout::Reduction::kAdd}, {{"x", 2}}, "partial");
  expect({{1 << 24}, {{"x"}}, {}, {}}, {{"x", 1 << 24}},
         "it has 16777216 blocks, expected at most 1048576");
  expect({std::vector<int64_t>(65, 1),
          std::vector<std::vector<std::string>>(65),
          {},
          {}},
         {}, "65 dimensions, expected at most 64");
}

}  // namespace
}  // namespace pathways
