//===- files_test.cc ------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace pathways::pw_run {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "files_test_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  size_t NumFiles() const {
    return std::distance(fs::directory_iterator(folder_),
                         fs::directory_iterator());
  }
  fs::path folder_;
};

TEST_F(FilesTest, WritesWholeFilesOrNone) {
  std::ofstream(Path("a")) << "old";
  {
    absl::StatusOr<OutputFile> file = OutputFile::Open(Path("a"));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(*ReadWholeFile(Path("a")), "old");
  }
  EXPECT_EQ(*ReadWholeFile(Path("a")), "old");
  EXPECT_EQ(NumFiles(), 1);  // the uncommitted file left nothing
  absl::StatusOr<OutputFile> file = OutputFile::Open(Path("a"));
  ASSERT_TRUE(file->Commit("new").ok());
  EXPECT_EQ(*ReadWholeFile(Path("a")), "new");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(FilesTest, KeepsTheModeOfAFile) {
  std::ofstream(Path("a")) << "old";
  fs::permissions(Path("a"), fs::perms(0640));
  ASSERT_TRUE(OutputFile::Open(Path("a"))->Commit("new").ok());
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::perms(0640));
}

TEST_F(FilesTest, LinksStay) {
  std::ofstream(Path("a")) << "old";
  fs::create_symlink("a", Path("link"));
  ASSERT_TRUE(OutputFile::Open(Path("link"))->Commit("new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadWholeFile(Path("a")), "new");
}

TEST_F(FilesTest, NamesWhatCannotBeWritten) {
  EXPECT_EQ(OutputFile::Open(Path("no/b")).status().message(),
            "cannot write '" + Path("no/b") + "': No such file or directory");
  EXPECT_THAT(std::string(OutputFile::Open(folder_).status().message()),
              HasSubstr("Is a directory"));
  std::ofstream(Path("plain")) << "x";
  EXPECT_THAT(std::string(OutputFile::Open(Path("plain/b")).status().message()),
              HasSubstr("Not a directory"));
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(FilesTest, WritesDevicesDirectly) {
  absl::StatusOr<OutputFile> file = OutputFile::Open("/dev/null");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->Commit("gone").ok());
  absl::StatusOr<OutputFile> full = OutputFile::Open("/dev/full");
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->Commit("x").message(),
            "cannot write '/dev/full': No space left on device");
}

// A pipe without a writer must not block the reader.
TEST_F(FilesTest, ReadsRegularFilesOnly) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadWholeFile(Path("pipe")).status().message(),
            "cannot read '" + Path("pipe") + "': it is not a regular file");
  EXPECT_THAT(std::string(ReadWholeFile("/dev/zero").status().message()),
              HasSubstr("not a regular file"));
  EXPECT_THAT(std::string(ReadWholeFile(folder_).status().message()),
              HasSubstr("Is a directory"));
}

TEST_F(FilesTest, ReadsPipesToTheirEnd) {
  const std::string pipe = Path("pipe"), bytes(200'000, 'x');
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto write = [&](size_t count) {
    return std::thread(
        [&, count] { std::ofstream(pipe) << bytes.substr(0, count); });
  };
  // The first of the two waits for the other one.
  std::thread writer = write(bytes.size());
  auto read = ReadFileOrStream(pipe, bytes.size());
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, bytes);
  writer = write(0);
  read = ReadFileOrStream(pipe, bytes.size());
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, "");
  // Regular files are read as before, whatever their size.
  std::ofstream(Path("a")) << "file";
  EXPECT_EQ(*ReadFileOrStream(Path("a"), 1), "file");
}

TEST_F(FilesTest, WaitsForNoPipeForEver) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFileOrStream(Path("pipe"), 10, absl::Milliseconds(1))
                .status()
                .message(),
            "cannot read '" + Path("pipe") +
                "': no process opened this pipe for writing within 1ms");
  EXPECT_EQ(ReadFileOrStream("/dev/zero", 100'000).status().message(),
            "cannot read '/dev/zero': it has more than 100000 bytes, the most "
            "that the array and its header need");
  EXPECT_EQ(*ReadFileOrStream("/dev/null", 10), "");
  EXPECT_THAT(std::string(ReadFileOrStream(folder_, 10).status().message()),
              HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace pathways::pw_run
