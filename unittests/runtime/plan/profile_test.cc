//===- profile_test.cc - Measured costs of parts of a program -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kFingerprint[] = "0123456789abcdef0123456789abcdef";
constexpr char kGood[] = R"(
  version: 1 program: "p" fingerprint: "0123456789abcdef0123456789abcdef"
  computations { name: "f" signature: "00ff" ns: 70 runs: 3 }
  computations { name: "f" signature: "00fe" ns: 80 runs: 3 }
  movements { kind: SEND bytes: 100 ns: 10 }
  movements { kind: SEND bytes: 300 ns: 40 }
  movements { kind: FEED bytes: 0 ns: 5 }
  ici { bytes_per_second: 2e9 latency_seconds: 1e-6 }
)";

class ProfileTest : public ::testing::Test {
 protected:
  ~ProfileTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<Profile> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return Profile::Read(path_);
  }
  // kGood with something else in it, or more behind it.
  std::string ErrorOf(const std::string& from, const std::string& to) {
    std::string text = kGood;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const absl::Status status = Read(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("profile '", path_, "'")));
    return std::string(status.message());
  }
  std::string ErrorWith(const std::string& more) {
    return ErrorOf("ici {", absl::StrCat(more, " ici {"));
  }

  static std::string MakeFolder() {
    std::string pattern = ::testing::TempDir() + "profileXXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string folder_ = MakeFolder(), path_ = folder_ + "/p.profile";
};

TEST_F(ProfileTest, FindsWhatWasMeasured) {
  absl::StatusOr<Profile> profile = Read(kGood);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->ComputationNs({"f", "00ff"}), 70u);
  EXPECT_EQ(profile->ComputationNs({"f", "00fe"}), 80u);
  EXPECT_EQ(profile->ComputationNs({"g", "00ff"}), std::nullopt);
  EXPECT_EQ(profile->ici().bytes_per_second(), 2e9);
  EXPECT_EQ(profile->dcn().bytes_per_second(), 0);
  EXPECT_TRUE(profile->CheckProgram("p", kFingerprint).ok());
}

TEST_F(ProfileTest, SizesBetweenAndBeyond) {
  absl::StatusOr<Profile> profile = Read(kGood);
  ASSERT_TRUE(profile.ok()) << profile.status();
  auto send = [&](uint64_t bytes) {
    return profile->MovementNs(proto::SEND, bytes);
  };
  EXPECT_EQ(send(100), 10u);
  EXPECT_EQ(send(300), 40u);
  EXPECT_EQ(send(200), 25u);
  EXPECT_EQ(send(0), 10u);
  EXPECT_EQ(send(600), 80u);
  EXPECT_EQ(send(UINT64_MAX), uint64_t{1} << 50);
  EXPECT_EQ(profile->MovementNs(proto::FEED, 1000), 5u);
  EXPECT_EQ(profile->MovementNs(proto::RECV, 100), std::nullopt);
}

TEST_F(ProfileTest, AnotherProgramIsRefusedWithBoth) {
  absl::StatusOr<Profile> profile = Read(kGood);
  ASSERT_TRUE(profile.ok()) << profile.status();
  const std::string other(32, 'a');
  for (auto [name, fingerprint] :
       {std::make_pair("q", std::string(kFingerprint)),
        std::make_pair("p", other)}) {
    const absl::Status status = profile->CheckProgram(name, fingerprint);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(
        status.message(),
        absl::StrCat("profile '", path_, "': the profile is of program 'p' (",
                     kFingerprint, "), expected program '", name, "' (",
                     fingerprint, ") [PW2301]"));
  }
}

TEST_F(ProfileTest, NamesOfOthersAreShownPrintable) {
  std::string text = kGood;
  text.replace(text.find("\"p\""), 3, "\"p\\033\\377\"");
  absl::StatusOr<Profile> profile = Read(text);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_THAT(std::string(profile->CheckProgram("p", kFingerprint).message()),
              HasSubstr("is of program 'p\\x1b\\xff' ("));
}

TEST_F(ProfileTest, WrongFilesAreRefused) {
  EXPECT_TRUE(absl::IsNotFound(Profile::Read(folder_ + "/none").status()));
  EXPECT_THAT(std::string(Profile::Read(folder_).status().message()),
              HasSubstr("not a regular file"));
  EXPECT_THAT(ErrorOf("program", "progam"), HasSubstr(":2:20: "));
  EXPECT_THAT(ErrorOf("version: 1", ""), HasSubstr("version is 0, expected 1"));
  EXPECT_THAT(ErrorOf("version: 1", "version: 2"),
              HasSubstr("version is 2, expected 1"));
  EXPECT_THAT(ErrorOf("program: \"p\"", ""),
              HasSubstr("the name of the program is missing"));
  EXPECT_THAT(
      ErrorOf(kFingerprint, "0123"),
      HasSubstr("fingerprint is '0123', expected 32 hexadecimal digits"));
  EXPECT_THAT(ErrorOf("cdef\"", "cdeG\""), HasSubstr("expected 32 hex"));
  ASSERT_TRUE(Read("").status().message().size() > 0);
  ASSERT_EQ(truncate(path_.c_str(), kMaxProfileFileBytes + 1), 0);
  EXPECT_THAT(std::string(Profile::Read(path_).status().message()),
              HasSubstr("more than 67108864 bytes"));
}

TEST_F(ProfileTest, WrongEntriesAreRefused) {
  EXPECT_THAT(ErrorOf("ns: 70", "ns: 0"),
              HasSubstr("computation 'f' with signature '00ff' takes 0 ns, "
                        "expected 1 to 1125899906842624"));
  EXPECT_THAT(ErrorOf("ns: 70", "ns: 1125899906842625"),
              HasSubstr("takes 1125899906842625 ns"));
  EXPECT_THAT(ErrorOf("ns: 70", "ns: -1"), HasSubstr("Expected integer"));
  EXPECT_THAT(ErrorOf("ns: 70", "ns: nan"), HasSubstr("Expected integer"));
  EXPECT_THAT(ErrorOf("ns: 70", "ns: 1e99"), HasSubstr("Expected integer"));
  EXPECT_THAT(ErrorOf("name: \"f\"", ""),
              HasSubstr("must have both a name and a signature"));
  EXPECT_THAT(ErrorOf("00fe", "00ff"), HasSubstr("appears twice"));
  EXPECT_THAT(ErrorWith("movements { kind: GANG bytes: 1 ns: 1 }"),
              HasSubstr("a movement is of kind 1 ('gang')"));
  EXPECT_THAT(ErrorWith("movements { ns: 1 }"), HasSubstr("of kind 0"));
  EXPECT_THAT(ErrorWith("movements { kind: RECV bytes: 1 }"),
              HasSubstr("recv of 1 bytes takes 0 ns"));
  EXPECT_THAT(
      ErrorWith("movements { kind: RECV bytes: 18446744073709551615 ns: 1 }"),
      HasSubstr("recv of 18446744073709551615 bytes, expected at most"));
  EXPECT_THAT(ErrorWith("movements { kind: FEED bytes: 0 ns: 6 }"),
              HasSubstr("feed of 0 bytes appears twice"));
}

TEST_F(ProfileTest, WrongLinksAreRefused) {
  for (const char* rate : {"nan", "inf", "-1", "0.5", "1e19"}) {
    EXPECT_THAT(ErrorOf("2e9", rate), HasSubstr("bytes per second, expected"))
        << rate;
  }
  for (const char* latency : {"nan", "inf", "-1e-6", "3601"}) {
    EXPECT_THAT(ErrorOf("1e-6", latency), HasSubstr("ici has a latency of"))
        << latency;
  }
  EXPECT_THAT(ErrorWith("dcn { latency_seconds: -1 }"),
              HasSubstr("dcn has a latency of -1 s"));
}

TEST_F(ProfileTest, WhatIsPrintedIsRead) {
  proto::Profile profile;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kGood, &profile));
  absl::StatusOr<Profile> read = Read(PrintProfile(profile));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ComputationNs({"f", "00fe"}), 80u);
}

// Whatever the bytes, there is an answer.
TEST_F(ProfileTest, RandomBytes) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string text = kGood;
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    absl::StatusOr<Profile> profile = Read(text);
    if (profile.ok()) (void)profile->MovementNs(proto::SEND, random());
  }
}

TEST(ComputationTest, FollowsFromKernelAndShapes) {
  proto::Plan plan = SamplePlan();
  auto find = [&](const char* name) {
    for (const proto::Action& action : plan.actions()) {
      if (action.name() == name) return ComputationOf(plan, action);
    }
    return std::optional<Computation>();
  };
  const std::optional<Computation> layer = find("layer0");
  ASSERT_TRUE(layer.has_value());
  EXPECT_EQ(layer->name, "layer0");
  EXPECT_EQ(layer->signature.size(), 16u);
  // It runs nothing of a kernel.
  const std::optional<Computation> reduce = find("reduce");
  ASSERT_TRUE(reduce.has_value());
  EXPECT_EQ(reduce->name, "all_reduce");
  EXPECT_EQ(find("inplace"), std::nullopt);  // it has no steps

  // Code, places and costs are no part of it, shapes are.
  proto::Kernel* kernel = plan.mutable_kernels(0);
  kernel->set_hash("11");
  kernel->mutable_segments(0)->set_scratch_bytes(1);
  EXPECT_EQ(find("layer0"), layer);
  kernel->mutable_segments(0)->mutable_operands(0)->set_shape(0, 77);
  EXPECT_NE(find("layer0"), layer);
}

}  // namespace
}  // namespace pathways::testing
