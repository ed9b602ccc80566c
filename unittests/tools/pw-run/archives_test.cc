//===- archives_test.cc ---------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/archives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tools/pw-run/files.h"
#include "tools/pw-run/input_spec.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Port MakePort(std::string name, std::vector<int64_t> shape,
              bool stepped = false) {
  return {std::move(name), ElementType::kI8, std::move(shape), stepped};
}

HostArray Filled(std::vector<int64_t> shape, char value) {
  HostArray array;
  array.element = ElementType::kI8;
  array.shape = std::move(shape);
  array.data.resize(array.numElements());
  for (char& byte : array.data) byte = value;
  return array;
}

// Writes an archive and returns its path.
std::string WriteArchive(
    const std::string& name,
    const std::vector<std::pair<std::string, HostArray>>& arrays) {
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/archives_test_", name, ".npz");
  absl::StatusOr<OutputFile> file = OutputFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  NpzWriter writer(
      [&file](absl::string_view bytes) { return file->Append(bytes); });
  for (const auto& [key, array] : arrays) {
    EXPECT_TRUE(writer.Add(key, array).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(file->Commit("").ok());
  return path;
}

// Returns the message of the error, without the folder.
std::string MessageOf(const absl::Status& status) {
  std::string message(status.message());
  const std::string folder = absl::StrCat(::testing::TempDir(), "/");
  for (size_t at; (at = message.find(folder)) != std::string::npos;) {
    message.erase(at, folder.size());
  }
  return message;
}

std::string OpenError(const std::vector<std::string>& paths,
                      PortKind kind = PortKind::kInput) {
  return MessageOf(
      Archives::Open(paths, {MakePort("w", {2}), MakePort("bias", {})}, kind)
          .status());
}

TEST(ArchivesTest, FindsNamesBeforePositions) {
  const std::vector<Port> ports = {MakePort("1", {}), MakePort("b", {}),
                                   MakePort("arg4", {}), MakePort("d", {}),
                                   MakePort("e", {})};
  const std::string path = WriteArchive("names", {{"1", Filled({}, 0)},
                                                  {"arr_1", Filled({}, 1)},
                                                  {"arg4", Filled({}, 2)},
                                                  {"arg3", Filled({}, 3)}});
  absl::StatusOr<Archives> archives =
      Archives::Open({path}, ports, PortKind::kInput);
  ASSERT_TRUE(archives.ok()) << archives.status();
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(archives->Has(i)) << i;
    EXPECT_EQ(archives->Read(i, 1)->data[0], static_cast<char>(i));
  }
  EXPECT_FALSE(archives->Has(4));
}

TEST(ArchivesTest, RefusesKeysOfNothing) {
  EXPECT_EQ(OpenError({WriteArchive("typo", {{"bia", Filled({}, 0)}})}),
            "archives_test_typo.npz: the program has no input 'bia'; did you "
            "mean 'bias'? [PW5111]");
  EXPECT_EQ(OpenError({WriteArchive("far", {{"arr_2", Filled({}, 0)}})}),
            "archives_test_far.npz: the program has no input 2, as key 'arr_2' "
            "says; it has 2 [PW5111]");
  // Arguments have no names of results.
  EXPECT_THAT(OpenError({WriteArchive("kind", {{"result0", Filled({}, 0)}})}),
              HasSubstr("no input 'result0'"));
  EXPECT_EQ(OpenError({WriteArchive("kind", {{"result0", Filled({2}, 0)}})},
                      PortKind::kResult),
            "");
}

TEST(ArchivesTest, RefusesTwoValuesOfOnePort) {
  EXPECT_EQ(OpenError({WriteArchive(
                "twice", {{"w", Filled({2}, 0)}, {"0", Filled({2}, 0)}})}),
            "input 'w' has two values: 'w' in archives_test_twice.npz and '0' "
            "in archives_test_twice.npz [PW5111]");
  const std::string path = WriteArchive("one", {{"w", Filled({2}, 0)}});
  EXPECT_THAT(OpenError({path, path}), HasSubstr("has two values"));
}

TEST(ArchivesTest, RefusesFilesThatAreNone) {
  EXPECT_EQ(OpenError({"none.npz"}),
            "cannot read 'none.npz': No such file or directory");
  const std::string path = absl::StrCat(::testing::TempDir(), "/not.npz");
  ASSERT_TRUE(OutputFile::Open(path)->Commit("no archive").ok());
  EXPECT_EQ(OpenError({path}),
            "not.npz: not a .npz file: it is no ZIP archive [PW5111]");
}

TEST(ArchivesTest, ComparesTypes) {
  const std::string path = WriteArchive(
      "types", {{"w", Filled({3}, 0)}, {"steps", Filled({4, 2}, 0)}});
  const std::vector<Port> ports = {MakePort("w", {2}),
                                   MakePort("steps", {2}, /*stepped=*/true)};
  for (PortKind kind : {PortKind::kInput, PortKind::kResult}) {
    absl::StatusOr<Archives> archives = Archives::Open({path}, ports, kind);
    ASSERT_TRUE(archives.ok()) << archives.status();
    EXPECT_EQ(
        MessageOf(archives->Read(0, 4).status()),
        absl::StrCat(
            kind == PortKind::kInput ? "input" : "expected value of result",
            " 'w': archives_test_types.npz: 'w': expected 2xi8, "
            "got 3xi8 [PW5103]"));
    EXPECT_TRUE(archives->Read(1, 4).ok());
    EXPECT_THAT(archives->Read(1, 3).status().message(),
                HasSubstr("expected 3x2xi8 (3 steps of 2xi8), got 4x2xi8"));
  }
}

TEST(ArchivesTest, SpecsReplaceValues) {
  const std::vector<Port> ports = {MakePort("w", {2}), MakePort("bias", {})};
  const std::string path =
      WriteArchive("replaced", {{"w", Filled({2}, 1)}, {"1", Filled({}, 2)}});
  absl::StatusOr<Archives> archives =
      Archives::Open({path}, ports, PortKind::kInput);
  ASSERT_TRUE(archives.ok()) << archives.status();
  auto inputs = MakeInputs(ports, 1, {{"w", "5"}}, &*archives);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ(ArrayText(std::get<HostArray>((*inputs)[0]), 10), "[5, 5]");
  EXPECT_EQ(ArrayText(std::get<HostArray>((*inputs)[1]), 10), "2");

  archives = Archives::Open({WriteArchive("part", {{"w", Filled({2}, 1)}})},
                            ports, PortKind::kInput);
  ASSERT_TRUE(archives.ok()) << archives.status();
  EXPECT_EQ(MakeInputs(ports, 1, {}, &*archives).status().message(),
            "inputs are missing:\n  --input=bias=...  i8 [PW5104]");
}

TEST(ArchivesTest, TakesWholeFilesFromValues) {
  std::vector<std::string> values = {"@a.npz", "x=@b.npz", "@c.npy", "@",
                                     "@d=1.npz"};
  EXPECT_THAT(TakeArchives(&values), ElementsAre("a.npz", "d=1.npz"));
  EXPECT_THAT(values, ElementsAre("x=@b.npz", "@c.npy", "@"));
}

}  // namespace
}  // namespace pathways::pw_run
