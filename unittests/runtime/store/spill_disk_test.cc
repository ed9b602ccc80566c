//===- spill_disk_test.cc - Files of spilled arrays -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/spill_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/checkpoint/test_folder.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

class FolderDiskTest : public ::testing::Test {
 protected:
  std::unique_ptr<SpillDisk> Open(const std::string& cluster = "c1") {
    absl::StatusOr<std::unique_ptr<SpillDisk>> disk =
        FolderDisk::Open(folder_.path(), cluster, "host0");
    EXPECT_TRUE(disk.ok()) << disk.status();
    return disk.ok() ? *std::move(disk) : nullptr;
  }
  absl::Status Refused(const std::string& cluster) {
    return FolderDisk::Open(folder_.path(), cluster, "host0").status();
  }
  std::string own() const { return absl::StrCat(folder_.path(), "/host0"); }

  TestFolder folder_;
};

TEST_F(FolderDiskTest, WhatIsWrittenIsRead) {
  {
    const std::unique_ptr<SpillDisk> disk = Open();
    const std::string a = "first", b(100000, 'b');
    ASSERT_EQ(disk->Write(1, {{a.data(), a.size()}, {b.data(), b.size()}}),
              absl::OkStatus());
    std::string back(b.size(), 0);
    ASSERT_EQ(disk->Read(1, a.size(), b.size(), back.data()), absl::OkStatus());
    EXPECT_EQ(back, b);
    disk->Free(1, 0, a.size());
    ASSERT_EQ(disk->Read(1, a.size(), b.size(), back.data()), absl::OkStatus());
    EXPECT_EQ(back, b);
    EXPECT_EQ(disk->Read(1, 6, b.size(), back.data()),
              absl::DataLossError(
                  absl::StrCat(own(),
                               "/1.spill has 100005 bytes that can be read, "
                               "expected 100006")));
    EXPECT_EQ(disk->Read(2, 0, 1, back.data()),
              absl::DataLossError(
                  absl::StrCat(own(), "/2.spill: No such file or directory")));
    disk->Remove(1);
    EXPECT_FALSE(fs::exists(disk->NameOf(1)));
    ASSERT_EQ(disk->Write(3, {{a.data(), a.size()}}), absl::OkStatus());
  }
  // Nothing is left of it.
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(FolderDiskTest, FolderIsThereAndCanBeWritten) {
  const absl::Status none =
      FolderDisk::Open(folder_.path() + "/none", "c1", "host0").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(none.message(),
            absl::StrCat("the spill folder ", folder_.path(),
                         "/none: No such file or directory [PW3401]"));
  std::ofstream(folder_.path() + "/file") << "x";
  EXPECT_EQ(
      FolderDisk::Open(folder_.path() + "/file", "c1", "host0").status().code(),
      absl::StatusCode::kNotFound);
  // A user who may write everything may write this folder too.
  if (geteuid() == 0) return;
  ASSERT_EQ(chmod(folder_.path().c_str(), 0500), 0);
  EXPECT_EQ(Refused("c1").code(), absl::StatusCode::kPermissionDenied);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
}

TEST_F(FolderDiskTest, AHostThatLivesKeepsItsFolder) {
  const std::unique_ptr<SpillDisk> disk = Open("c1");
  ASSERT_EQ(disk->Write(1, {{"x", 1}}), absl::OkStatus());
  const absl::Status refused = Refused("c2");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            absl::StrCat("the spill folder ", own(),
                         " cannot be used by host 'host0' of cluster c2: it is "
                         "in use by host 'host0' of cluster c1 [PW3401]"));
  EXPECT_EQ(Refused("c1").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fs::exists(disk->NameOf(1)));
}

TEST_F(FolderDiskTest, WhatAKilledProcessLeftIsRemovedByItsSuccessorAlone) {
  const pid_t child = fork();
  if (child == 0) {
    const std::unique_ptr<SpillDisk> disk = Open("c1");
    if (disk == nullptr || !disk->Write(1, {{"x", 1}}).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string left = own() + "/1.spill";
  ASSERT_TRUE(fs::exists(left));
  EXPECT_THAT(std::string(Refused("c2").message()),
              HasSubstr("cannot be used by host 'host0' of cluster c2: it has "
                        "files of host 'host0' of cluster c1"));
  EXPECT_TRUE(fs::exists(left));
  const std::unique_ptr<SpillDisk> next = Open("c1");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(next->Write(1, {{"x", 1}}), absl::OkStatus());
}

}  // namespace
}  // namespace pathways::testing
