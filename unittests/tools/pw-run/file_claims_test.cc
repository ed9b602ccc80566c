//===- file_claims_test.cc ------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/file_claims.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pathways::pw_run {
namespace {

namespace fs = std::filesystem;

class FileClaimsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "file_claims_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Write("program");
    fs::create_directory(Path("sub"));
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  void Write(const std::string& name) { std::ofstream(Path(name)) << "x"; }
  // Claims an output `name` after the program and after outputs "a" of --one
  // and "old", which exists, of --two.
  std::string Claim(const std::string& name) {
    Write("old");
    FileClaims claims;
    claims.AddInput("the program", Path("program"));
    claims.AddInput("--input=x", Path("gone"));
    EXPECT_TRUE(claims.AddOutput("--one", Path("a")).ok());
    EXPECT_TRUE(claims.AddOutput("--two", Path("old")).ok());
    return std::string(claims.AddOutput("--new", Path(name)).message());
  }
  std::string Twice(const std::string& name, const std::string& by) {
    return "'" + Path(name) + "' would be written twice: by --new and by " + by;
  }

  fs::path folder_;
};

TEST_F(FileClaimsTest, OthersMayBeWritten) {
  EXPECT_EQ(Claim("b"), "");
  EXPECT_EQ(Claim("sub/a"), "");
  EXPECT_EQ(Claim("sub/program"), "");
  EXPECT_EQ(Claim("no/a"), "");  // opening the file reports the error
  fs::create_symlink("nowhere", Path("dangling"));
  EXPECT_EQ(Claim("dangling"), "");  // the link itself is replaced
}

TEST_F(FileClaimsTest, NamesOfOneFileAreFound) {
  EXPECT_EQ(Claim("a"), Twice("a", "--one"));
  EXPECT_EQ(Claim("./a"), Twice("./a", "--one, as '" + Path("a") + "'"));
  EXPECT_EQ(Claim("sub/../a"),
            Twice("sub/../a", "--one, as '" + Path("a") + "'"));
  fs::create_directory_symlink(".", Path("here"));
  EXPECT_EQ(Claim("here/a"), Twice("here/a", "--one, as '" + Path("a") + "'"));
  EXPECT_EQ(Claim("sub/../old"),
            Twice("sub/../old", "--two, as '" + Path("old") + "'"));
  fs::create_symlink("old", Path("soft"));
  EXPECT_EQ(Claim("soft"), Twice("soft", "--two, as '" + Path("old") + "'"));
  fs::create_hard_link(Path("old"), Path("hard"));
  EXPECT_EQ(Claim("hard"), Twice("hard", "--two, as '" + Path("old") + "'"));
}

TEST_F(FileClaimsTest, FoldersThatAreToBeMade) {
  FileClaims claims;
  EXPECT_TRUE(claims.AddOutput("--save=a", Path("new/deep/a")).ok());
  EXPECT_TRUE(claims.AddOutput("--save=b", Path("new/deep/b")).ok());
  EXPECT_EQ(claims.AddOutput("--save=c", Path("new/other/../deep/a")).message(),
            "'" + Path("new/other/../deep/a") +
                "' would be written twice: by --save=c and by --save=a, as '" +
                Path("new/deep/a") + "'");
}

TEST_F(FileClaimsTest, WhatIsReadIsNotWritten) {
  const std::string is_read = "' would be written by --new, but is read as ";
  EXPECT_EQ(Claim("program"), "'" + Path("program") + is_read + "the program");
  fs::create_hard_link(Path("program"), Path("hard"));
  EXPECT_EQ(Claim("hard"), "'" + Path("hard") + is_read + "the program, as '" +
                               Path("program") + "'");
  // The file may appear before it is read.
  EXPECT_EQ(Claim("gone"), "'" + Path("gone") + is_read + "--input=x");
}

TEST_F(FileClaimsTest, RelativeNames) {
  FileClaims claims;
  const std::string name = "file_claims_test_" + std::to_string(getpid());
  EXPECT_TRUE(claims.AddOutput("--one", name).ok());
  EXPECT_FALSE(claims.AddOutput("--two", "./" + name).ok());
  EXPECT_FALSE(
      claims.AddOutput("--two", (fs::current_path() / name).string()).ok());
}

TEST_F(FileClaimsTest, StreamsThatAreFiles) {
  FileClaims claims;
  const int log = open(Path("log").c_str(), O_WRONLY | O_CREAT, 0600);
  const int program = open(Path("program").c_str(), O_RDONLY);
  const int null = open("/dev/null", O_RDWR);
  claims.AddInput("standard input", program);
  claims.AddOutput("standard output", log);
  claims.AddOutput("standard error", log);  // "2>&1" is fine
  claims.AddOutput("another", null);
  claims.AddOutput("closed", -1);
  EXPECT_EQ(claims.AddOutput("--trace", Path("log")).message(),
            "'" + Path("log") +
                "' would be written twice: by --trace and by standard output");
  EXPECT_EQ(claims.AddOutput("--trace", Path("program")).message(),
            "'" + Path("program") +
                "' would be written by --trace, but is read as standard input");
  for (int fd : {log, program, null}) close(fd);
}

// Writing to a device loses no data.
TEST_F(FileClaimsTest, DevicesAreWrittenByAnybody) {
  FileClaims claims;
  EXPECT_TRUE(claims.AddOutput("--one", "/dev/null").ok());
  EXPECT_TRUE(claims.AddOutput("--two", "/dev/null").ok());
}

}  // namespace
}  // namespace pathways::pw_run
