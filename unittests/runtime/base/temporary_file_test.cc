//===- temporary_file_test.cc ---------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/temporary_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace pathways {
namespace {

namespace fs = std::filesystem;

class TemporaryFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "temporary_file_XXXXXX";
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
  // Returns the exit status of a process that runs `body`.
  template <typename Body>
  int StatusOf(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      body();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  fs::path folder_;
};

std::string Read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(TemporaryFileTest, IsThereUntilItIsCommitted) {
  TemporaryFile file;
  EXPECT_FALSE(file.exists());
  ASSERT_EQ(file.Create(Path("a."), ".tmp", 0640), 0);
  EXPECT_TRUE(file.exists());
  EXPECT_EQ(NumFiles(), 1u);
  EXPECT_TRUE(fs::exists(file.path()));
  EXPECT_EQ(file.path().rfind(Path("a."), 0), 0u);
  EXPECT_EQ(file.path().substr(file.path().size() - 4), ".tmp");
  EXPECT_EQ(WriteAll(file.fd(), std::string(100'000, 'x')), 0);
  std::ofstream(Path("b")) << "old";
  EXPECT_EQ(file.Commit(Path("b")), 0);
  EXPECT_FALSE(file.exists());
  EXPECT_EQ(NumFiles(), 1u);
  EXPECT_EQ(Read(Path("b")), std::string(100'000, 'x'));
  // There is nothing left to do for it.
  file = TemporaryFile();
  EXPECT_EQ(NumFiles(), 1u);
}

TEST_F(TemporaryFileTest, LeavesNothingBehind) {
  {
    TemporaryFile first, second;
    ASSERT_EQ(first.Create(Path(""), "", 0600), 0);
    ASSERT_EQ(second.Create(Path(""), "", 0600), 0);
    EXPECT_EQ(NumFiles(), 2u);
    TemporaryFile moved(std::move(first));
    EXPECT_EQ(NumFiles(), 2u);
    ASSERT_EQ(moved.Create(Path("again"), "", 0600), 0);
    EXPECT_EQ(NumFiles(), 2u);
  }
  EXPECT_EQ(NumFiles(), 0u);
  TemporaryFile file;
  ASSERT_EQ(file.Create(Path(""), "", 0600), 0);
  EXPECT_EQ(file.Commit(Path("no/such")), ENOENT);
  EXPECT_FALSE(file.exists());
  EXPECT_EQ(NumFiles(), 0u);
}

TEST_F(TemporaryFileTest, SaysWhyThereIsNone) {
  TemporaryFile file;
  EXPECT_EQ(file.Create(Path("no/such"), "", 0600), ENOENT);
  EXPECT_EQ(file.Create(Path(std::string(300, 'x')), "", 0600), ENAMETOOLONG);
  EXPECT_EQ(file.Create(Path(std::string(5000, '/')), "", 0600), ENAMETOOLONG);
  EXPECT_FALSE(file.exists());
  EXPECT_EQ(WriteAll(-1, "x"), EBADF);
  EXPECT_EQ(WriteAll(-1, ""), 0);
}

TEST_F(TemporaryFileTest, SignalsRemoveThem) {
  for (int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ}) {
    const int status = StatusOf([&] {
      // A shell that runs tests in the background ignores SIGINT and SIGQUIT.
      ::signal(signal, SIG_DFL);
      RemoveTemporaryFilesOnSignals();
      TemporaryFile gone, done, there;
      if (gone.Create(Path(""), "", 0600) != 0) _exit(1);
      if (done.Create(Path(""), "", 0600) != 0) _exit(1);
      if (done.Commit(Path("done")) != 0) _exit(1);
      gone = TemporaryFile();
      if (there.Create(Path(""), "", 0600) != 0) _exit(1);
      raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status)) << signal << ": " << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(fs::exists(Path("done"))) << signal;
    EXPECT_EQ(NumFiles(), 1u) << signal;
  }
}

// Nohup ignores a signal so, and a program may handle a signal itself.
TEST_F(TemporaryFileTest, SignalsThatAreIgnoredStayIgnored) {
  const int status = StatusOf([&] {
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, [](int) { _exit(7); });
    RemoveTemporaryFilesOnSignals();
    TemporaryFile file;
    if (file.Create(Path(""), "", 0600) != 0) _exit(1);
    raise(SIGHUP);
    if (!fs::exists(file.path())) _exit(2);
    raise(SIGINT);
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace pathways
