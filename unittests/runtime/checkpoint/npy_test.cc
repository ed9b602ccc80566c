//===- npy_test.cc --------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>

namespace pathways {
namespace {

using ::testing::HasSubstr;

// A file of version `major` with this header text and data.
std::string Npy(const std::string& header, const std::string& data,
                int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  size_t bytes = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(bytes >> (8 * i) & 0xff);
  }
  return file + header + data;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }\n";
}

std::string ErrorOf(const std::string& bytes) {
  absl::StatusOr<HostArray> array = ParseNpy(bytes);
  if (array.ok()) return "";
  EXPECT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(array.status().message());
}

TEST(NpyTest, ReadsWhatItWrites) {
  for (int element = 1; element <= 13; ++element) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0}, {4, 0, 2}, {1, 1, 1, 2}}) {
      HostArray array;
      array.element = static_cast<ElementType>(element);
      array.shape = shape;
      array.data.resize(array.numElements() * elementBytes(array.element));
      for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = i & 1;
      std::string bytes = SerializeNpy(array);
      EXPECT_EQ((bytes.size() - array.data.size()) % 64, 0);
      absl::StatusOr<HostArray> back = ParseNpy(bytes);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->element, array.element);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->data, array.data);
    }
  }
}

// The bytes of numpy.save(f, numpy.array([[1, 2, 3]], 'f4')), NumPy 1.24.
TEST(NpyTest, WritesTheBytesOfNumPy) {
  HostArray array{ElementType::kF32, {1, 3}, ArrayBytes(12, 0)};
  const float values[3] = {1, 2, 3};
  std::memcpy(array.data.data(), values, 12);
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  header.resize(117, ' ');
  header += '\n';
  EXPECT_EQ(SerializeNpy(array),
            Npy(header, std::string(array.data.begin(), array.data.end())));
}

TEST(NpyTest, NamesIntegersAsNumPyDoes) {
  for (auto [element, name] : {std::pair{ElementType::kI8, "|i1"},
                               {ElementType::kI16, "<i2"},
                               {ElementType::kI32, "<i4"},
                               {ElementType::kI64, "<i8"},
                               {ElementType::kUI8, "|u1"},
                               {ElementType::kUI16, "<u2"},
                               {ElementType::kUI32, "<u4"},
                               {ElementType::kUI64, "<u8"}}) {
    EXPECT_THAT(SerializeNpyHeader(element, {3}),
                HasSubstr(std::string("'descr': '") + name + "'"));
  }
  absl::StatusOr<HostArray> array = ParseNpy(Npy(Header("<u1", "(3,)"), "abc"));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->element, ElementType::kUI8);
}

TEST(NpyTest, ReadsLaterVersions) {
  for (int major : {1, 2, 3}) {
    absl::StatusOr<HostArray> array =
        ParseNpy(Npy(Header("|i1", "(3,)"), "abc", major));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->shape, std::vector<int64_t>{3});
  }
  EXPECT_THAT(ErrorOf(Npy(Header("|i1", "(3,)"), "abc", 4)),
              HasSubstr("version 4.0 of the format is not supported"));
}

TEST(NpyTest, TurnsFortranOrderAround) {
  absl::StatusOr<HostArray> array =
      ParseNpy(Npy(Header("|i1", "(2, 3)", "True"), "adbecf"));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(std::string(array->data.begin(), array->data.end()), "abcdef");
  array = ParseNpy(Npy(Header("|i1", "(0, 3)", "True"), ""));
  ASSERT_TRUE(array.ok()) << array.status();
}

TEST(NpyTest, NamesWhatIsWrongWithTheFile) {
  EXPECT_EQ(ErrorOf(""), "the file is empty");
  EXPECT_THAT(ErrorOf("PK\x03\x04 and more"), HasSubstr("not a .npy file"));
  EXPECT_THAT(ErrorOf("\x93NUM"), HasSubstr("truncated: it has 4 bytes"));
  EXPECT_THAT(
      ErrorOf(Npy(Header("<f4", "(3,)"), "1234")),
      HasSubstr("truncated: 3xf32 takes 12 bytes of data, but the file has 4"));
  EXPECT_THAT(
      ErrorOf(Npy(Header("<f4", "(1,)"), "12345")),
      HasSubstr("too long: 1xf32 takes 4 bytes of data, but the file has 5"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "()"), "")), HasSubstr("truncated"));
}

TEST(NpyTest, RefusesOtherElementTypes) {
  EXPECT_THAT(ErrorOf(Npy(Header(">f4", "(1,)"), "1234")),
              HasSubstr("'>f4' is big endian"));
  EXPECT_THAT(ErrorOf(Npy(Header("|O", "(1,)"), "1234")),
              HasSubstr("Python objects"));
  EXPECT_THAT(ErrorOf(Npy(Header("<c8", "(1,)"), "12345678")),
              HasSubstr("unknown element type '<c8'"));
  EXPECT_THAT(ErrorOf(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': (1,)}",
                          "1234")),
              HasSubstr("structured element types"));
  EXPECT_THAT(ErrorOf(Npy(Header("|b1", "(2,)"), "\x01\x02")),
              HasSubstr("element 1 is 2, expected 0 or 1 for a boolean"));
}

TEST(NpyTest, RefusesMalformedHeaders) {
  EXPECT_THAT(ErrorOf(Npy("", "")), HasSubstr("expected a dictionary"));
  EXPECT_THAT(
      ErrorOf(Npy("{", "")),
      ::testing::AllOf(HasSubstr("malformed header"), HasSubstr(" [PW5102]")));
  EXPECT_THAT(ErrorOf(Npy("{}", "")), HasSubstr("the header has no 'descr'"));
  EXPECT_THAT(ErrorOf(Npy("{'descr': '<f4'}", "")),
              HasSubstr("no 'fortran_order'"));
  EXPECT_THAT(ErrorOf(Npy("{'descr': '<f4', 'descr': '<f4'}", "")),
              HasSubstr("a repeated key 'descr'"));
  EXPECT_THAT(ErrorOf(Npy("{'order': 'C'}", "")),
              HasSubstr("an unknown key 'order'"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1,)") + "x", "1234")),
              HasSubstr("nothing after the dictionary"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(-1,)"), "")),
              HasSubstr("a number in 'shape'"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1"), "")), HasSubstr("malformed"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1,)", "Maybe"), "")),
              HasSubstr("True or False"));
}

// Sizes are refused before anything is allocated.
TEST(NpyTest, RefusesHugeSizes) {
  EXPECT_THAT(ErrorOf(Npy(Header("<f8", "(4611686018427387904, 4)"), "")),
              HasSubstr("has too many elements"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f8", "(0, 4611686018427387904, 4)"), "")),
              HasSubstr("has too many elements"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f8", "(99999999999999999999,)"), "")),
              HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(
      ErrorOf(Npy(Header("<f8", "(1000000000000,)"), "")),
      HasSubstr("takes 8000000000000 bytes of data, but the file has 0"));
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", many + ")"), "1234")),
              HasSubstr("more than 64 dimensions"));
  std::string huge = Npy("", "", 2);
  huge[8] = huge[9] = huge[10] = huge[11] = '\xff';
  EXPECT_THAT(ErrorOf(huge), HasSubstr("the header has 4294967295 bytes"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1,)"), "").substr(0, 30)),
              HasSubstr("truncated: its header has"));
}

// Any bytes are an array or an error; an array is well formed.
TEST(NpyTest, SurvivesDamage) {
  constexpr uint32_t kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::string good = Npy(Header("<f4", "(2, 3)"), std::string(24, 'x'));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(ParseNpy(good.substr(0, length)).ok()) << length;
  }
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (uint32_t flips = random() % 4 + 1; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    absl::StatusOr<HostArray> array = ParseNpy(bytes);
    if (!array.ok()) continue;
    ++accepted;
    ASSERT_EQ(array->data.size(),
              array->numElements() * elementBytes(array->element));
  }
  EXPECT_GT(accepted, 0);
}

TEST(NpyTest, CountsElements) {
  EXPECT_EQ(CheckedElements(ElementType::kF32, {}), 1);
  EXPECT_EQ(CheckedElements(ElementType::kF32, {2, 0}), 0);
  EXPECT_EQ(CheckedElements(ElementType::kF32, {-1}), -1);
  EXPECT_EQ(CheckedElements(ElementType::kI8, {INT64_MAX}), INT64_MAX);
  EXPECT_EQ(CheckedElements(ElementType::kF16, {INT64_MAX}), -1);
}

}  // namespace
}  // namespace pathways
