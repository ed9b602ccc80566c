//===- saved_array_test.cc - Arrays that are read from files --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/saved_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "runtime/checkpoint/array_writer.h"
#include "runtime/checkpoint/crc32.h"
#include "unittests/runtime/checkpoint/test_folder.h"

namespace pathways {
namespace {

using ::testing::AllOf;
using testing::Edit;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TestFolder;
using testing::WriteFile;

class SavedArrayTest : public ::testing::Test {
 protected:
  // Two blocks of 3x2xi8 with the elements 0 to 5 and 6 to 11.
  void SetUp() override { Save("a", ElementType::kI8); }
  void Save(const std::string& name, ElementType element, char first = 0) {
    auto folder = SaveFolder::Create(folder_ / name);
    ASSERT_TRUE(folder.ok()) << folder.status();
    auto writer = ArrayWriter::Create(folder->get(), "", element,
                                      {{3, 4}, {{}, {"x"}}, {}, {}},
                                      {{"x", 2}, {"y", 3}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (char block = 0; block < 2; ++block) {
      std::string data(6, first);
      for (char i = 0; i < 6; ++i) data[i] += 6 * block + i;
      ASSERT_TRUE(writer->Write(data.data()).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    ASSERT_TRUE((*folder)->Commit().ok());
  }
  // What opening it says.
  absl::Status Open() { return SavedArray::Open(folder_ / "a").status(); }
  void ExpectError(absl::StatusCode code, const std::string& text) {
    const absl::Status status = Open();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(folder_.path()), HasSubstr(text)));
  }
  void ExpectDamage(const std::string& text) {
    ExpectError(absl::StatusCode::kDataLoss, text);
  }
  // An index that is otherwise good.
  void EditIndex(const std::string& from, const std::string& to) {
    Edit(index_, from, to);
  }

  TestFolder folder_;
  const std::string index_ = folder_ / "a/index.json";
  const std::string block_ = folder_ / "a/block-1.npy";
};

TEST_F(SavedArrayTest, TheIndexIsAsDocumented) {
  const auto crc = [&](const char* file) {
    char text[16];
    snprintf(text, sizeof text, "0x%08x",
             Crc32(0, ReadFile(folder_ / (std::string("a/") + file))));
    return std::string(text);
  };
  EXPECT_EQ(ReadFile(index_), R"({
  "format": "pathways-array",
  "version": 1,
  "element": "i8",
  "shape": [3, 4],
  "mesh": [{"axis": "x", "size": 2}, {"axis": "y", "size": 3}],
  "sharding": [[], ["x"]],
  "blocks": [
    {"file": "block-0.npy", "offset": [0, 0], "shape": [3, 2], "bytes": 134, "crc32": ")" +
                                  crc("block-0.npy") + R"("},
    {"file": "block-1.npy", "offset": [0, 2], "shape": [3, 2], "bytes": 134, "crc32": ")" +
                                  crc("block-1.npy") + R"("}
  ]
}
)");
}

TEST_F(SavedArrayTest, ReadsAnyPart) {
  const auto array = SavedArray::Open(folder_ / "a///");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ((*array)->folder(), folder_ / "a");
  const std::string all("\0\1\6\7\2\3\10\11\4\5\12\13", 12);
  const HostArray got = *(*array)->ReadAll();
  EXPECT_EQ(std::string(got.data.begin(), got.data.end()), all);
  for (size_t begin = 0; begin <= all.size(); ++begin) {
    for (size_t end = begin; end <= all.size(); ++end) {
      std::string part(end - begin, 'x');
      ASSERT_TRUE((*array)->Read({{begin, part.size(), part.data()}}).ok());
      EXPECT_EQ(part, all.substr(begin, part.size()));
    }
  }
}

TEST_F(SavedArrayTest, NothingWasSaved) {
  EXPECT_TRUE(absl::IsNotFound(SavedArray::Open(folder_ / "no").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SavedArray::Open(index_).status()));
  std::filesystem::remove(index_);
  ExpectError(absl::StatusCode::kNotFound, "has no index.json");
  ASSERT_EQ(mkfifo(index_.c_str(), 0600), 0);
  ExpectDamage("not a regular file");
}

TEST_F(SavedArrayTest, BlocksAreNotWhatWasWritten) {
  const std::string good = ReadFile(block_);
  std::filesystem::remove(block_);
  ExpectDamage("block-1.npy' is missing, but the index names it [PW5202]");
  ASSERT_EQ(mkfifo(block_.c_str(), 0600), 0);
  ExpectDamage("block-1.npy' is damaged: it is not a regular file");
  std::filesystem::remove(block_);
  WriteFile(block_, good.substr(0, 133));
  ExpectDamage("block-1.npy' is damaged: it has 133 bytes, expected 134");
  WriteFile(block_, good + "x");
  ExpectDamage("it has 135 bytes, expected 134");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    WriteFile(block_, bad);
    ExpectDamage("block-1.npy' is damaged: its checksum is 0x");
  }
  WriteFile(block_, good);
  EXPECT_TRUE(Open().ok());
}

// A checksum does not make a file of another type good.
TEST_F(SavedArrayTest, ChecksumsAreNotAll) {
  const auto replace = [&](const std::string& bytes) {
    char from[16], to[16];
    snprintf(from, sizeof from, "0x%08x", Crc32(0, ReadFile(block_)));
    snprintf(to, sizeof to, "0x%08x", Crc32(0, bytes));
    EditIndex(from, to);
    WriteFile(block_, bytes);
  };
  const std::string good = ReadFile(block_);
  std::string bad = good;
  replace(bad.replace(bad.find("|i1"), 3, "|b1"));
  ExpectDamage("it has 3x2xi1, expected 3x2xi8");
  bad = good;
  replace(bad.replace(bad.find("(3, 2)"), 6, "(2, 3)"));
  ExpectDamage("it has 2x3xi8, expected 3x2xi8");
  bad = good;
  replace(bad.replace(bad.find("False"), 5, "True "));
  ExpectDamage("it has 3x2xi8 in Fortran order");
  bad = good;
  bad[0] = 'x';
  replace(bad);
  ExpectDamage("not a .npy file");
  // A header that is shorter than its size.
  bad = good;
  bad[8] = 119 - 64;
  bad.replace(bad.size() - 6 - 65, 1, "\n");
  replace(bad);
  EXPECT_TRUE(absl::IsDataLoss(Open())) << Open();
}

TEST_F(SavedArrayTest, BooleansAreZeroOrOne) {
  Save("b", ElementType::kI1);
  const absl::Status status = SavedArray::Open(folder_ / "b").status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("booleans"));
}

TEST_F(SavedArrayTest, AnIndexOfSomethingElse) {
  const std::string good = ReadFile(index_);
  const auto expect = [&](absl::StatusCode code, const std::string& from,
                          const std::string& to, const std::string& text) {
    EditIndex(from, to);
    ExpectError(code, "a/index.json: ");
    ExpectError(code, text);
    WriteFile(index_, good);
  };
  const auto damage = [&](const std::string& from, const std::string& to,
                          const std::string& text) {
    expect(absl::StatusCode::kDataLoss, from, to, text);
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  expect(kInvalid, "\"version\": 1", "\"version\": 3",
         "the version of the format is 3, expected 1 or 2");
  damage("\"version\": 1", "\"version\": 2", "it has no 'contributions'");
  const auto contributions = [](const std::string& what) {
    return "\"version\": 2, \"contributions\": " + what;
  };
  damage("\"version\": 1", contributions("7"), "expected an object");
  damage("\"version\": 1", contributions("{\"reduction\": \"add\"}"),
         "it has no 'sizes'");
  damage("\"version\": 1",
         contributions("{\"reduction\": \"mean\", \"sizes\": [3]}"),
         "'reduction' is \"mean\", expected add, mul, max, min, umax, "
         "umin, and, or or xor");
  damage("\"version\": 1",
         contributions("{\"reduction\": \"add\", \"sizes\": []}"),
         "'sizes' is [], expected the sizes of axes");
  damage("\"version\": 1",
         contributions("{\"reduction\": \"add\", \"sizes\": [2]}"),
         "its shape is [3, 4], expected a first dimension of 2");
  damage("\"version\": 1",
         contributions("{\"reduction\": \"add\", \"sizes\": [3, 0]}"),
         "over axes of sizes [3, 0], expected 1 to 16777216 ranks");
  damage("\"version\": 1",
         contributions("{\"reduction\": \"max\", \"sizes\": "
                       "[4294967296, 4294967296]}"),
         "expected 1 to 16777216 ranks");
  expect(kInvalid, "\"version\": 1,", "", "version of the format is missing");
  expect(kInvalid, "pathways-array", "else", "the format is \"else\"");
  damage("\"pathways-array\"", "7", "'format' is 7, expected a text");
  damage("{\n  \"format\"", "[{\n  \"format\"", "it is not JSON");
  damage("\"i8\"", "\"i9\"", "'element' is \"i9\"");
  damage("\"shape\": [3, 4]", "\"shape\": [3, 5]",
         "block 0 is [3, 2] at [0, 0], expected [3, 3] at [0, 0]");
  damage("\"shape\": [3, 4]", "\"shape\": [3, -4]", "'shape' is -4");
  damage("\"shape\": [3, 4]", "\"shape\": [3]", "an array of 3xi8");
  damage("\"shape\": [3, 4]", "\"shape\": [3, 4e0]", "'shape' is 4.0");
  damage("\"shape\": [3, 4]", "\"shape\": [3, 9223372036854775807]",
         "more than 281474976710656 elements");
  damage("\"shape\": [3, 4]", "\"shape\": [3, 9223372036854775808]",
         "expected a whole number");
  damage("\"size\": 2", "\"size\": 0", "an array of 3x4xi8: ");
  damage("\"size\": 2", "\"size\": 1", "it lists 2 blocks");
  damage("\"size\": 3", "\"size\": 9223372036854775807", "an array of");
  damage("[[], [\"x\"]]", "[[], [\"z\"]]", "an array of 3x4xi8: ");
  damage("[[], [\"x\"]]", "[[], [7]]", "expected the name of an axis");
  damage("[[], [\"x\"]]", "[{}, [\"x\"]]", "'sharding' is ");
  damage("\"sharding\"", "\"sharing\"", "it has no 'sharding'");
  damage("block-1.npy", "../block-1.npy", "block 1 is in \"../block-1.npy\"");
  damage("block-1.npy", "/etc/passwd", "the plain name of a file");
  damage("block-1.npy", "index.json", "the plain name of a file");
  damage("block-1.npy", "", "the plain name of a file");
  damage("\"offset\": [0, 2]", "\"offset\": [0, 1]", "block 1 is ");
  EditIndex("block-1.npy", "block-0.npy");
  ExpectDamage("its checksum is");
  WriteFile(index_, "");
  ExpectDamage("it is not JSON");
  WriteFile(index_, std::string(1 << 20, '['));
  ExpectDamage("it is not JSON");
  WriteFile(index_, "7");
  ExpectDamage("the index is damaged: it is 7");
}

// No damage does harm, whatever it says.
TEST_F(SavedArrayTest, SurvivesDamageOfTheIndex) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string good = ReadFile(index_);
  for (size_t length = 0; length + 2 < good.size(); ++length) {
    EXPECT_FALSE(ParseArrayIndex(good.substr(0, length)).ok()) << length;
  }
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % bad.size();
      if (random() % 2 == 0) {
        bad[at] = static_cast<char>(random());
      } else {
        bad.erase(at, random() % 8);
      }
    }
    const auto index = ParseArrayIndex(bad);
    if (!index.ok()) continue;
    EXPECT_EQ(static_cast<int64_t>(index->blocks.size()),
              BlockGrid(index->layout, index->mesh).size())
        << bad;
  }
}

TEST(SetIndexTest, NamesAreFoldersOfTheirOwn) {
  const std::vector<std::string> names = {"b0", "w.1", "x_$-"};
  const std::string text = PrintSetIndex(names);
  EXPECT_EQ(text, R"({
  "format": "pathways-arrays",
  "version": 1,
  "arrays": [
    "b0",
    "w.1",
    "x_$-"
  ]
}
)");
  EXPECT_EQ(*ParseSetIndex(text), names);
  EXPECT_TRUE(ParseSetIndex(PrintSetIndex({}))->empty());
  for (const char* bad :
       {"", ".", "..", ".x", "a/b", "index.json", "\n", "ä"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckArrayName(bad))) << bad;
    EXPECT_TRUE(absl::IsDataLoss(ParseSetIndex(PrintSetIndex({bad})).status()))
        << bad;
  }
  EXPECT_FALSE(CheckArrayName(std::string(256, 'a')).ok());
  EXPECT_TRUE(
      absl::IsDataLoss(ParseSetIndex(PrintSetIndex({"a", "a"})).status()));
}

}  // namespace
}  // namespace pathways
