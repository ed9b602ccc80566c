//===- npz_test.cc --------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "runtime/base/little_endian.h"

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostArray NpzArray(ElementType element, std::vector<int64_t> shape) {
  HostArray array;
  array.element = element;
  array.shape = std::move(shape);
  array.data.resize(array.numElements() * elementBytes(element));
  for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = i & 1;
  return array;
}

std::string Archive(
    const std::vector<std::pair<std::string, HostArray>>& arrays,
    uint64_t zip64_from = 0xffffffff) {
  std::string bytes;
  NpzWriter writer(
      [&bytes](absl::string_view part) {
        bytes.append(part.data(), part.size());
        return absl::OkStatus();
      },
      zip64_from);
  for (const auto& [key, array] : arrays) {
    EXPECT_TRUE(writer.Add(key, array).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  return bytes;
}

std::string NpzErrorOf(const std::string& bytes) {
  absl::StatusOr<NpzReader> reader = NpzReader::Open(bytes);
  absl::Status status = reader.status();
  for (size_t i = 0; reader.ok() && i < reader->keys().size(); ++i) {
    status = reader->Read(i).status();
    if (!status.ok()) break;
  }
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

// Replaces `size` bytes behind the last occurrence of `record` by a number.
std::string With(std::string bytes, const char* record, size_t offset, int size,
                 uint64_t value) {
  const size_t at = bytes.rfind(record);
  StoreLittleEndian(value, size, bytes.data() + at + offset);
  return bytes;
}

constexpr char kLocal[] = "PK\3\4", kEntry[] = "PK\1\2", kEnd[] = "PK\5\6";

TEST(NpzTest, ReadsWhatItWrites) {
  std::vector<std::pair<std::string, HostArray>> arrays;
  for (int element = 1; element <= 13; ++element) {
    arrays.emplace_back("result[0]['" + std::to_string(element) + "']",
                        NpzArray(static_cast<ElementType>(element), {2, 3}));
  }
  arrays.emplace_back("", NpzArray(ElementType::kF32, {}));
  arrays.emplace_back("\xc3\xa4", NpzArray(ElementType::kF32, {0, 3}));
  const std::string bytes = Archive(arrays);
  EXPECT_EQ(Archive(arrays), bytes);
  absl::StatusOr<NpzReader> reader = NpzReader::Open(bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ(reader->keys().size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(reader->keys()[i], arrays[i].first);
    absl::StatusOr<NpyHeader> header = reader->ReadHeader(i);
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->element, arrays[i].second.element);
    EXPECT_EQ(header->shape, arrays[i].second.shape);
    absl::StatusOr<HostArray> array = reader->Read(i);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->shape, arrays[i].second.shape);
    EXPECT_EQ(array->data, arrays[i].second.data);
  }
}

TEST(NpzTest, ReadsAnEmptyArchive) {
  absl::StatusOr<NpzReader> reader = NpzReader::Open(Archive({}));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(reader->keys(), ElementsAre());
}

// Written by Python's zipfile with the method ZIP_DEFLATED: "a.npy" with four
// f4, all 1.
constexpr unsigned char kDeflatedFile[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
    0x21, 0x00, 0x8f, 0x3c, 0x1b, 0x36, 0x4a, 0x00, 0x00, 0x00, 0x90, 0x00,
    0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x6e, 0x70, 0x79, 0x9b,
    0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e,
    0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2,
    0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f,
    0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a,
    0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x26, 0x3a, 0x9a, 0x3a,
    0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x86, 0x06, 0x7b, 0x64, 0x0c,
    0x00, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08,
    0x00, 0x00, 0x00, 0x21, 0x00, 0x8f, 0x3c, 0x1b, 0x36, 0x4a, 0x00, 0x00,
    0x00, 0x90, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x61,
    0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x6d, 0x00, 0x00, 0x00,
    0x00, 0x00};

TEST(NpzTest, ReadsDeflatedMembers) {
  const std::string bytes(reinterpret_cast<const char*>(kDeflatedFile),
                          sizeof kDeflatedFile);
  absl::StatusOr<NpzReader> reader = NpzReader::Open(bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_THAT(reader->keys(), ElementsAre("a"));
  EXPECT_EQ(reader->ReadHeader(0)->shape, std::vector<int64_t>{4});
  absl::StatusOr<HostArray> array = reader->Read(0);
  ASSERT_TRUE(array.ok()) << array.status();
  const std::vector<float> ones(4, 1.0f);
  EXPECT_EQ(std::memcmp(array->data.data(), ones.data(), 16), 0);

  // The size that is stated is the size that is inflated.
  for (uint64_t size : {143, 145}) {
    EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 24, 4, size)),
                AllOf(HasSubstr("'a': the archive is damaged"),
                      HasSubstr("deflated bytes to become")));
  }
  EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 24, 4, 1 << 30)),
              HasSubstr("'a.npy' has 1073741824 bytes, but"));
  // Blocks of a kind that does not exist.
  std::string broken = bytes;
  broken[30 + 5] = '\x07';
  EXPECT_THAT(NpzErrorOf(broken), HasSubstr("the archive is damaged"));
}

TEST(NpzTest, RefusesWhatIsNoArchive) {
  EXPECT_EQ(NpzErrorOf(""), "the file is empty");
  EXPECT_EQ(NpzErrorOf("\x93NUMPY"),
            "not a .npz file: it is no ZIP archive [PW5111]");
  const std::string bytes = Archive({{"x", NpzArray(ElementType::kF32, {3})}});
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_NE(NpzErrorOf(bytes.substr(0, size)), "") << size;
  }
  EXPECT_EQ(NpzErrorOf(bytes.substr(0, bytes.size() - 1)),
            "the archive is damaged: it has no end, so it may be truncated "
            "[PW5111]");
  EXPECT_THAT(NpzErrorOf("#!" + bytes), HasSubstr("its list of members has"));
}

TEST(NpzTest, RefusesDamagedMembers) {
  const std::string bytes = Archive({{"x", NpzArray(ElementType::kF32, {3})}});
  std::string other = bytes;
  other[other.rfind(kEntry) - 1] ^= 1;
  EXPECT_THAT(NpzErrorOf(other), AllOf(HasSubstr("'x': the archive is damaged: "
                                                 "its CRC-32 is "),
                                       HasSubstr("[PW5111]")));
  EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 20, 4, 139)),
              HasSubstr("'x.npy' has 140 bytes, but 139 in the file"));
  EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 42, 4, 1)),
              HasSubstr("'x.npy' does not begin at byte 1"));
  EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 42, 4, 0xffffffff)),
              HasSubstr("'x.npy' has no zip64 sizes"));
  EXPECT_THAT(NpzErrorOf(With(bytes, kEntry, 28, 2, 6)),
              HasSubstr("its list of members ends too early"));
  EXPECT_THAT(NpzErrorOf(With(With(bytes, kEnd, 8, 2, 0), kEnd, 10, 2, 0)),
              HasSubstr("its list of 0 members has 51 bytes more"));
  EXPECT_THAT(NpzErrorOf(With(bytes, kLocal, 26, 2, 60000)),
              HasSubstr("but the file ends before them"));
  for (int at : {8, 10}) {
    EXPECT_NE(NpzErrorOf(With(bytes, kEnd, at, 2, 2)), "");
  }
}

TEST(NpzTest, RefusesWhatNumPyDoesNotWrite) {
  const std::string bytes = Archive({{"x", NpzArray(ElementType::kF32, {3})}});
  EXPECT_EQ(NpzErrorOf(With(bytes, kEntry, 8, 2, 1)),
            "'x.npy' is encrypted [PW5111]");
  EXPECT_EQ(NpzErrorOf(With(bytes, kEntry, 10, 2, 12)),
            "'x.npy' is compressed by method 12; expected 0 (stored) or 8 "
            "(deflated), as numpy.savez writes [PW5111]");
  std::string other = bytes;
  other[other.rfind(kEntry) + 46 + 2] = 'N';
  EXPECT_EQ(NpzErrorOf(other),
            "'x.Npy' is no .npy file; expected only arrays in the archive "
            "[PW5111]");
  const HostArray array = NpzArray(ElementType::kF32, {3});
  EXPECT_EQ(NpzErrorOf(Archive({{"x", array}, {"x", array}})),
            "'x' is in the archive twice [PW5111]");
  EXPECT_EQ(NpzErrorOf(With(bytes, kEnd, 4, 2, 1)),
            "the archive is one of several files [PW5111]");
  // An entry whose bytes are no array.
  EXPECT_THAT(NpzErrorOf(With(With(bytes, kEntry, 16, 4, 0), kEntry, 24, 4, 0)),
              HasSubstr("'x.npy' has 0 bytes, but 140 in the file"));
}

TEST(NpzTest, ReadsTheEndsOfLargeArchives) {
  const std::string bytes = Archive({{"x", NpzArray(ElementType::kF32, {3})}});
  const size_t end = bytes.rfind(kEnd);
  const uint64_t at = bytes.rfind(kEntry);
  std::string large = bytes.substr(0, end);
  const auto append = [&large](int size, uint64_t value) {
    AppendLittleEndian(value, size, &large);
  };
  append(4, 0x06064b50);
  append(8, 44);
  for (int size : {2, 2, 4, 4}) append(size, 0);
  for (uint64_t value : {uint64_t{1}, uint64_t{1}, end - at, at}) {
    append(8, value);
  }
  append(4, 0x07064b50);
  append(4, 0);
  append(8, end);
  append(4, 1);
  large += With(With(bytes.substr(end), kEnd, 12, 4, 0xffffffff), kEnd, 16, 4,
                0xffffffff);
  EXPECT_EQ(NpzErrorOf(large), "");
  StoreLittleEndian(end + 1, 8, large.data() + large.size() - 22 - 12);
  EXPECT_THAT(NpzErrorOf(large), HasSubstr("its zip64 end is not at byte"));
}

TEST(NpzTest, WritesLargeSizesInFieldsOfTheirOwn) {
  const std::vector<std::pair<std::string, HostArray>> arrays = {
      {"x", NpzArray(ElementType::kF32, {3})},
      {"y", NpzArray(ElementType::kI8, {100})}};
  for (uint64_t from : {0, 140, 141, 180, 228, 250, 400}) {
    const std::string bytes = Archive(arrays, from);
    EXPECT_EQ(NpzErrorOf(bytes), "") << from;
    absl::StatusOr<NpzReader> reader = NpzReader::Open(bytes);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(reader->Read(1)->data, arrays[1].second.data);
  }
  // Both sizes are behind the name, and the fields for small ones say so.
  const std::string bytes = Archive(arrays, 0);
  EXPECT_EQ(LoadLittleEndian(bytes.data() + 18, 8), ~uint64_t{0});
  const char* field = bytes.data() + 30 + 5;
  EXPECT_EQ(LoadLittleEndian(field, 4), 0x00100001);
  for (int at : {4, 12}) EXPECT_EQ(LoadLittleEndian(field + at, 8), 140);
  EXPECT_NE(bytes.find("PK\6\6"), std::string::npos);
  EXPECT_NE(bytes.find("PK\6\7"), std::string::npos);
}

TEST(NpzTest, SurvivesAnyChange) {
  const std::string bytes =
      Archive({{"x", NpzArray(ElementType::kF32, {3})},
               {"y", NpzArray(ElementType::kI1, {2, 2})}});
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      (void)NpzErrorOf(changed);
    }
  }
}

}  // namespace
}  // namespace pathways
