//===- input_spec_test.cc -------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/input_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/checkpoint/npy.h"
#include "tools/pw-run/values.h"
#include "unittests/runtime/base/process_limits.h"

namespace pathways::pw_run {
namespace {

using ::testing::HasSubstr;

Port MakePort(ElementType element, std::vector<int64_t> shape,
              bool stepped = false) {
  return {"x", element, std::move(shape), stepped};
}

// Returns the printed array, or the message of the error.
std::string Made(const Port& port, const std::string& spec, int64_t steps = 1) {
  absl::StatusOr<HostArray> array = MakeArray("input", port, steps, spec);
  if (array.ok()) return ArrayText(*array, 1000);
  EXPECT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(array.status().message());
}

TEST(InputSpecTest, Literals) {
  Port port = MakePort(ElementType::kF32, {2, 2});
  EXPECT_EQ(Made(port, "1,2;3,4"), "[[1, 2], [3, 4]]");
  EXPECT_EQ(Made(port, " 1 , 2 ; 3 , 4 "), "[[1, 2], [3, 4]]");
  EXPECT_EQ(Made(port, "[[1,2],[3,4]]"), "[[1, 2], [3, 4]]");
  EXPECT_EQ(Made(port, "0.5"), "[[0.5, 0.5], [0.5, 0.5]]");
  EXPECT_EQ(Made(port, "-1e-3"), "[[-0.001, -0.001], [-0.001, -0.001]]");
  EXPECT_EQ(Made(MakePort(ElementType::kI32, {2}), "1,2"), "[1, 2]");
  EXPECT_EQ(Made(MakePort(ElementType::kI32, {}), "7"), "7");
  EXPECT_EQ(Made(MakePort(ElementType::kI1, {2}), "true,false"),
            "[true, false]");
  EXPECT_EQ(Made(MakePort(ElementType::kF32, {0}), "[]"), "[]");
  EXPECT_EQ(Made(MakePort(ElementType::kF32, {2, 0}), "[[],[]]"), "[[], []]");
  EXPECT_EQ(Made(MakePort(ElementType::kF32, {1, 1, 2}), "[[[1,2]]]"),
            "[[[1, 2]]]");
}

TEST(InputSpecTest, BadLiterals) {
  Port port = MakePort(ElementType::kF32, {2, 2});
  EXPECT_EQ(Made(port, "1,2"),
            "input 'x': expected 2x2xf32, got 2xf32 [PW5103]");
  EXPECT_EQ(Made(port, "[1]"),
            "input 'x': expected 2x2xf32, got 1xf32 [PW5103]");
  EXPECT_EQ(Made(port, "1,2;3"), "input 'x': rows differ in length: 2 and 1");
  EXPECT_EQ(Made(port, "[[1],[2,3]]"),
            "input 'x': rows differ in length: 1 and 2");
  EXPECT_THAT(Made(port, "[1,[2]]"), HasSubstr("expected a number at"));
  EXPECT_THAT(Made(port, "[[1],2]"), HasSubstr("expected '[' at character 6"));
  EXPECT_THAT(Made(port, "[[],[[1]]]"), HasSubstr("expected a number at"));
  EXPECT_THAT(Made(port, "[[1,2],[3,4]"), HasSubstr("expected ',' or ']'"));
  EXPECT_THAT(Made(port, "[1]2"), HasSubstr("expected nothing more"));
  EXPECT_THAT(Made(port, "1,,2"),
              HasSubstr("expected a number at character 3"));
  EXPECT_THAT(Made(port, "1 2,3"), HasSubstr("expected nothing more"));
  EXPECT_THAT(Made(port, "]["), HasSubstr("expected '['"));
  EXPECT_THAT(Made(port, "a"), HasSubstr("'a' is not a number of type f32"));
  EXPECT_THAT(Made(port, std::string(100000, '[')),
              HasSubstr("expected fewer nested lists"));
  EXPECT_THAT(Made(MakePort(ElementType::kI8, {}), "300"),
              HasSubstr("'300' does not fit i8"));
}

TEST(InputSpecTest, Generators) {
  EXPECT_EQ(Made(MakePort(ElementType::kF16, {3}), "ramp"), "[0, 1, 2]");
  EXPECT_EQ(Made(MakePort(ElementType::kF32, {2}), "zeros"), "[0, 0]");
  EXPECT_EQ(Made(MakePort(ElementType::kI1, {2}), "ones"), "[true, true]");
  EXPECT_EQ(Made(MakePort(ElementType::kI1, {3}), "ramp"),
            "[false, true, false]");
  Port large = MakePort(ElementType::kBF16, {257});
  absl::StatusOr<HostArray> ramp = MakeArray("input", large, 1, "ramp");
  ASSERT_TRUE(ramp.ok());
  EXPECT_EQ(LoadFloat(ElementType::kBF16, ramp->data.data() + 2 * 255), 255);
  EXPECT_EQ(LoadFloat(ElementType::kBF16, ramp->data.data() + 2 * 256), 0);
}

// These values are part of the tool's behavior.
TEST(InputSpecTest, RandomIsTheSameEverywhere) {
  Port port = MakePort(ElementType::kF32, {2});
  EXPECT_EQ(Made(port, "random:0"), "[0.7666216, -0.13694406]");
  EXPECT_NE(Made(port, "random:0"), Made(port, "random:1"));
  absl::StatusOr<HostArray> many =
      MakeArray("input", MakePort(ElementType::kF32, {10000}), 1, "random:5");
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    double value = LoadFloat(ElementType::kF32, many->data.data() + 4 * i);
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_THAT(Made(port, "random"), HasSubstr("expected random:SEED"));
  EXPECT_THAT(Made(port, "random:-1"), HasSubstr("expected random:SEED"));
  EXPECT_THAT(Made(port, "random:18446744073709551616"),
              HasSubstr("expected random:SEED"));
}

TEST(InputSpecTest, RandomFloatsCanBeScaled) {
  Port port = MakePort(ElementType::kF32, {2});
  EXPECT_EQ(Made(port, "random:0:0.5"), "[0.3833108, -0.06847203]");
  EXPECT_EQ(Made(port, "random:0:1"), Made(port, "random:0"));
  EXPECT_EQ(Made(port, "random:0:-2e0"), "[-1.5332432, 0.2738881]");
  for (const char* spec : {"random:0:", "random:0:x", "random:0:inf",
                           "random:0:nan", "random:0:1e999"}) {
    EXPECT_EQ(Made(port, spec),
              std::string("input 'x': expected random:SEED:SCALE with a finite "
                          "scale, got '") +
                  spec + "'");
  }
  EXPECT_THAT(Made(port, "random:0:1:2"), HasSubstr("expected random:SEED"));
  EXPECT_THAT(Made(port, "random:-1:1"), HasSubstr("expected random:SEED"));
  EXPECT_EQ(Made(MakePort(ElementType::kI8, {2}), "random:0:2"),
            "input 'x': a scale needs floats, but elements are i8; expected "
            "random:SEED, got 'random:0:2'");
}

TEST(InputSpecTest, SteppedInputsHaveALeadingDimension) {
  Port port = MakePort(ElementType::kF32, {2}, /*stepped=*/true);
  EXPECT_EQ(Made(port, "1,2;3,4", 2), "[[1, 2], [3, 4]]");
  EXPECT_EQ(Made(port, "ramp", 3), "[[0, 1], [2, 3], [4, 5]]");
  EXPECT_EQ(
      Made(port, "1,2", 2),
      "input 'x': expected 2x2xf32 (2 steps of 2xf32), got 2xf32 [PW5103]");
}

TEST(InputSpecTest, Files) {
  std::string folder = ::testing::TempDir() + "input_spec_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/a.npy";
  HostArray array{ElementType::kI8, {2}, {5, 6}};
  std::ofstream(path, std::ios::binary) << SerializeNpy(array);
  Port port = MakePort(ElementType::kI8, {2});
  EXPECT_EQ(Made(port, "@" + path), "[5, 6]");
  EXPECT_EQ(Made(MakePort(ElementType::kI8, {3}), "@" + path),
            "input 'x': " + path + ": expected 3xi8, got 2xi8 [PW5103]");
  EXPECT_EQ(Made(MakePort(ElementType::kI32, {2}), "@" + path),
            "input 'x': " + path + ": expected 2xi32, got 2xi8 [PW5103]");
  std::ofstream(path, std::ios::binary) << "nonsense";
  EXPECT_THAT(Made(port, "@" + path), HasSubstr(path + ": not a .npy file"));
  EXPECT_THAT(Made(port, "@" + path + ".gone"),
              HasSubstr(".gone': No such file or directory"));
  EXPECT_THAT(Made(port, "@"), HasSubstr("No such file"));
  EXPECT_THAT(Made(port, "@" + folder), HasSubstr("Is a directory"));
  std::filesystem::remove_all(folder);
}

TEST(InputSpecTest, AFolderIsWhatEndsInASlash) {
  for (const char* spec : {"x/", "/", "./", "../x/"}) {
    EXPECT_TRUE(IsFolderSpec(spec)) << spec;
  }
  for (const char* spec : {"", "x", "@x/", "1/2"}) {
    EXPECT_FALSE(IsFolderSpec(spec)) << spec;
  }
  const Port port = MakePort(ElementType::kF32, {2});
  EXPECT_EQ(Made(port, "none/"),
            "input 'x': cannot read 'none': No such file or directory");
  EXPECT_EQ(MakeInputs({port}, 1, {{"x", "none/"}}).status().message(),
            "input 'x': cannot read 'none': No such file or directory");
}

TEST(InputSpecTest, HugeArgumentsAreRefusedNotAllocated) {
  Port port = MakePort(ElementType::kF32, {int64_t{1} << 47});
  EXPECT_THAT(Made(port, "zeros"), HasSubstr("bytes of memory"));
  EXPECT_THAT(Made(port, "1"), HasSubstr("140737488355328xf32"));
  port = MakePort(ElementType::kF32, {int64_t{1} << 40}, true);
  EXPECT_THAT(Made(port, "zeros", int64_t{1} << 30),
              HasSubstr("bytes of memory"));
}

TEST(InputSpecTest, SplitsNames) {
  auto specs = ParseNamedSpecs("--input", {"x=1", "y=@a=b.npy"});
  ASSERT_TRUE(specs.ok());
  EXPECT_EQ((*specs)[1].name, "y");
  EXPECT_EQ((*specs)[1].spec, "@a=b.npy");
  for (const char* bad : {"x", "x=", "=1", ""}) {
    EXPECT_EQ(ParseNamedSpecs("--input", {bad}).status().message(),
              std::string("--input: expected NAME=VALUE, got '") + bad + "'");
  }
  EXPECT_EQ(ParseNamedSpecs("--input", {"x=1", "x=2"}).status().message(),
            "--input: 'x' is given twice, as '1' and as '2'");
}

TEST(InputSpecTest, NamesInputsThatAreMissingOrUnknown) {
  std::vector<Port> ports = {MakePort(ElementType::kF32, {2}),
                             MakePort(ElementType::kI32, {}),
                             MakePort(ElementType::kF32, {3}, true)};
  ports[1].name = "weights";
  ports[2].name = "batch";
  EXPECT_EQ(MakeInputs(ports, 4, {{"x", "1,2"}}).status().message(),
            "inputs are missing:\n  --input=weights=...  i32\n"
            "  --input=batch=...  4x3xf32 (4 steps of 3xf32) [PW5104]");
  EXPECT_EQ(MakeInputs(ports, 4, {{"wieghts", "1"}}).status().message(),
            "the program has no input 'wieghts'; did you mean 'weights'?");
  EXPECT_EQ(MakeInputs(ports, 4, {{"zzzzz", "1"}}).status().message(),
            "the program has no input 'zzzzz'; it has x, weights, batch");
  EXPECT_EQ(MakeInputs({}, 4, {{"a", "1"}}).status().message(),
            "the program has no input 'a'; it has none");
  auto inputs = MakeInputs(
      ports, 1, {{"weights", "7"}, {"x", "1,2"}, {"batch", "zeros"}});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ(ArrayText(std::get<HostArray>((*inputs)[1]), 10), "7");
}

// Runs in a process of its own that has memory for less than a quarter of the
// array, or only for its file.
void MakeWithoutMemory(size_t left, const std::string& spec) {
  const Port port = MakePort(ElementType::kF32, {16777216});
  pathways::testing::LeaveMemory(left);
  const auto array = MakeArray("input", port, /*steps=*/1, spec);
  std::fprintf(stderr, "%s\n", array.status().ToString().c_str());
  std::_Exit(absl::IsResourceExhausted(array.status()) ? 7 : 1);
}

TEST(InputSpecDeathTest, WhatThereIsNoMemoryForIsNamed) {
  const auto exits = ::testing::ExitedWithCode(7);
  const std::string text =
      "input 'x': .*there is no memory for 16777216xf32 .67108864 bytes.";
  EXPECT_EXIT(MakeWithoutMemory(16 << 20, "ones"), exits, text);
  EXPECT_EXIT(MakeWithoutMemory(16 << 20, "0"), exits, text);
  std::string folder = ::testing::TempDir() + "/input_spec_test_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/zeros.npy";
  HostArray none{ElementType::kF32, {16777216}, {}};
  std::ofstream(path) << SerializeNpy(none);
  const size_t header = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, header + (64 << 20));
  EXPECT_EXIT(MakeWithoutMemory(16 << 20, "@" + path), exits,
              "input 'x': cannot read '.*zeros.npy': there is no memory for "
              "its 671[0-9]* bytes");
  EXPECT_EXIT(MakeWithoutMemory(96 << 20, "@" + path), exits, text);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pathways::pw_run
