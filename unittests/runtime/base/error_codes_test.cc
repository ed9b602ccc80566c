//===- error_codes_test.cc ------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/error_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_split.h"

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ErrorCodesTest, ATagIsTheEndOfItsMessage) {
  EXPECT_STREQ(Tag(ErrorId::kNoDeviceMemory), " [PW3101]");
  EXPECT_EQ(TagOf("full [PW3101]"), " [PW3101]");
  EXPECT_EQ(WithoutTag("full [PW3101]"), "full");
  // One of a later version, too.
  EXPECT_EQ(TagOf("full [PW9999]"), " [PW9999]");
  for (const char* text : {"", "PW3101", "[PW3101]", "full [PW310x]",
                           "full [PW3101].", "full [PW3101] ", "full PW3101"}) {
    EXPECT_EQ(TagOf(text), "") << text;
    EXPECT_EQ(WithoutTag(text), text);
  }
}

TEST(ErrorCodesTest, AnErrorHasOneCodeThatOfItsCause) {
  absl::Status full = absl::ResourceExhaustedError("full");
  full.SetPayload("kind", absl::Cord("a"));
  const absl::Status coded = Coded(ErrorId::kNoDeviceMemory, full);
  EXPECT_EQ(coded.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(coded.message(), "full [PW3101]");
  EXPECT_EQ(coded.GetPayload("kind"), absl::Cord("a"));
  EXPECT_EQ(Coded(ErrorId::kHostGone, coded), coded);
  EXPECT_TRUE(Coded(ErrorId::kHostGone, absl::OkStatus()).ok());
}

TEST(ErrorCodesTest, EachIsExplainedInLinesThatFit) {
  EXPECT_EQ(ExplainError("PW0000"), "");
  EXPECT_EQ(ExplainError("3101"), "");
  EXPECT_EQ(ExplainError("PW3101 "), "");
  int codes = 0;
  for (absl::string_view line :
       absl::StrSplit(ListErrors(), '\n', absl::SkipEmpty())) {
    ++codes;
    const absl::string_view code = line.substr(0, 6);
    const std::string text = ExplainError(code);
    EXPECT_THAT(text, AllOf(StartsWith(code), HasSubstr(line.substr(8)),
                            HasSubstr("\n\nCause: "), HasSubstr("\n\nCure:  "),
                            EndsWith("\n")));
    for (absl::string_view part : absl::StrSplit(text, '\n')) {
      EXPECT_LE(part.size(), 80u) << part;
    }
  }
  EXPECT_GT(codes, 10);
}

}  // namespace
}  // namespace pathways
