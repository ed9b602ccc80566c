//===- cluster_key_test.cc - Permissions of key files ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/cluster_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "unittests/runtime/transport/socket_folder.h"

namespace pathways {
namespace {

using testing::HasSubstr;

class ClusterKeyTest : public testing::Test {
 protected:
  absl::Status Read() { return ClusterKey::Read(path_).status(); }
  void Write(const std::string& text) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  }

  const SocketFolder folder_;
  const std::string path_ = folder_.path("key");
};

TEST_F(ClusterKeyTest, IsReadFromHexadecimalDigits) {
  const std::string digits = "00fF" + std::string(60, 'a');
  for (const std::string& text : {digits, digits + "\n"}) {
    Write(text);
    const auto key = ClusterKey::Read(path_);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ((*key)->bytes().size(), 32);
    EXPECT_EQ((*key)->bytes()[0], 0x00);
    EXPECT_EQ((*key)->bytes()[1], 0xff);
    EXPECT_EQ((*key)->bytes()[31], 0xaa);
  }
}

TEST_F(ClusterKeyTest, IsRefusedWhenTheFileHoldsSomethingElse) {
  for (const std::string& text :
       {std::string(), std::string(63, '5'), std::string(65, '5'),
        std::string(64, '5') + "\n\n", std::string(63, '5') + "g",
        std::string(10'000, '5')}) {
    Write(text);
    const absl::Status status = Read();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr(path_));
    EXPECT_THAT(status.message(), HasSubstr("64 hexadecimal digits"));
    EXPECT_THAT(status.message(), testing::Not(HasSubstr("555")));
  }
}

TEST_F(ClusterKeyTest, IsRefusedWhenOthersMayUseTheFile) {
  Write(std::string(64, '5'));
  for (int mode : {0640, 0604, 0620, 0644}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    const absl::Status status = Read();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(status.message(), HasSubstr(path_));
    EXPECT_THAT(status.message(), HasSubstr("expected 600 or 400"));
  }
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  EXPECT_TRUE(Read().ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(path_.c_str(), 1, 1), 0);
  const absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(status.message(), HasSubstr("belongs to user 1, expected 0"));
}

TEST_F(ClusterKeyTest, IsRefusedWhenThereIsNoPlainFile) {
  absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(status.message(), HasSubstr(path_));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), HasSubstr("is not a plain file"));
}

}  // namespace
}  // namespace pathways
