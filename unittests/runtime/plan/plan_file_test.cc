//===- plan_file_test.cc - Plans as files and bytes -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/verify.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<uint8_t> Blobs() {
  std::vector<uint8_t> blobs(testing::kSampleBlobBytes);
  for (size_t i = 0; i < blobs.size(); ++i) blobs[i] = 7 * i + 1;
  return blobs;
}

std::string SampleFile() {
  return SerializePlan(testing::SamplePlan(), Blobs());
}

uint64_t Load(const std::string& file, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= uint64_t{static_cast<uint8_t>(file[at + i])} << (8 * i);
  return value;
}
void Store(std::string* file, size_t at, int bytes, uint64_t value) {
  for (int i = 0; i < bytes; ++i) (*file)[at + i] = value >> (8 * i);
}

struct SectionInfo {
  size_t entry;  // position of its entry in the section table
  uint32_t kind;
  uint64_t offset;
  uint64_t bytes;
};
// Returns the sections of a well-formed file.
std::vector<SectionInfo> Sections(const std::string& file) {
  std::vector<SectionInfo> sections;
  for (uint64_t i = 0; i < Load(file, 12, 4); ++i) {
    size_t entry = 32 + 32 * i;
    sections.push_back({entry, static_cast<uint32_t>(Load(file, entry, 4)),
                        Load(file, entry + 8, 8), Load(file, entry + 16, 8)});
  }
  return sections;
}

uint32_t Crc(const std::string& file, size_t at, size_t bytes) {
  return crc32(0, reinterpret_cast<const Bytef*>(file.data()) + at, bytes);
}
// Makes all checksums right again, with sections where they were in `original`.
void FixChecksums(std::string* file, const std::vector<SectionInfo>& original) {
  for (const SectionInfo& section : original)
    Store(file, section.entry + 4, 4,
          Crc(*file, section.offset, section.bytes));
  Store(file, 24, 4, Crc(*file, 32, 32 * original.size()));
}
void FixTableChecksum(std::string* file) {
  Store(file, 24, 4, Crc(*file, 32, 32 * Load(*file, 12, 4)));
}

std::string ErrorOf(const std::string& file) {
  absl::StatusOr<PlanData> plan = ParsePlan(file);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

// A folder that goes away with the test.
class PlanFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "pathways_plan_XXXXXX")
            .string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST(PlanBytesTest, RoundTrip) {
  proto::Plan plan = testing::SamplePlan();
  std::vector<uint8_t> blobs = Blobs();
  std::string file = SerializePlan(plan, blobs);
  EXPECT_TRUE(LooksLikePlan(file));
  EXPECT_EQ(file, SerializePlan(plan, blobs));
  absl::StatusOr<PlanData> read = ParsePlan(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tables.SerializeAsString(), plan.SerializeAsString());
  EXPECT_EQ(read->blobs, absl::MakeConstSpan(blobs));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->blobs.data()) % 64, 0u);
  // The bytes live as long as the owner, whatever becomes of the text.
  file.assign(file.size(), 'x');
  PlanData copy = *read;
  read = absl::CancelledError();
  EXPECT_EQ(copy.blobs, absl::MakeConstSpan(blobs));
  EXPECT_EQ(SerializePlan(copy.tables, copy.blobs), SampleFile());
}

TEST(PlanBytesTest, EmptyPlanRoundTrips) {
  std::string file = SerializePlan(proto::Plan(), {});
  EXPECT_EQ(file.size(), 32u);
  absl::StatusOr<PlanData> read = ParsePlan(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->blobs.empty());
  EXPECT_EQ(read->tables.ByteSizeLong(), 0u);
}

TEST(PlanBytesTest, LooksLikePlan) {
  EXPECT_FALSE(LooksLikePlan(""));
  EXPECT_FALSE(LooksLikePlan("PWPLAN"));
  EXPECT_FALSE(LooksLikePlan("PWPLAN\n\n........"));
  EXPECT_TRUE(LooksLikePlan("PWPLAN\r\n"));
}

TEST(PlanBytesTest, EveryTruncationIsRefused) {
  std::string file = SampleFile();
  for (size_t size = 0; size < file.size(); ++size) {
    absl::StatusOr<PlanData> plan = ParsePlan({file.data(), size});
    ASSERT_FALSE(plan.ok()) << "of " << size << " bytes";
    EXPECT_THAT(std::string(plan.status().message()), EndsWith(" [PW2201]"));
    if (size >= 32) {
      EXPECT_THAT(std::string(plan.status().message()),
                  AllOf(HasSubstr("truncated"), HasSubstr(std::to_string(size)),
                        HasSubstr(std::to_string(file.size()))));
    }
  }
}

TEST(PlanBytesTest, NotAPlan) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a plan"));
  EXPECT_THAT(ErrorOf("module {}"), HasSubstr("not a plan"));
  EXPECT_THAT(ErrorOf("PWPLAN\r\n"), HasSubstr("has 8 bytes"));
}

TEST(PlanBytesTest, OtherVersionNamesBoth) {
  std::string file = SampleFile();
  Store(&file, 8, 4, 7);
  EXPECT_THAT(ErrorOf(file),
              AllOf(HasSubstr("format version 7"), HasSubstr("knows 1")));
}

TEST(PlanBytesTest, ChecksumNamesSectionAndBothValues) {
  const std::string good = SampleFile();
  for (const SectionInfo& section : Sections(good)) {
    std::string file = good;
    file[section.offset] ^= 1;
    char expected[16], actual[16];
    std::snprintf(expected, sizeof(expected), "0x%08x",
                  Crc(good, section.offset, section.bytes));
    std::snprintf(actual, sizeof(actual), "0x%08x",
                  Crc(file, section.offset, section.bytes));
    static const char* kNames[] = {"",          "header",  "slices",  "layouts",
                                   "kernels",   "buffers", "actions", "edges",
                                   "interface", "blobs"};
    EXPECT_THAT(ErrorOf(file), AllOf(HasSubstr(kNames[section.kind]),
                                     HasSubstr(expected), HasSubstr(actual)));
  }
  std::string file = good;
  file[40] ^= 1;
  EXPECT_THAT(ErrorOf(file), HasSubstr("section table has checksum"));
}

TEST(PlanBytesTest, TrailingBytesAreRefused) {
  std::string file = SampleFile() + "x";
  EXPECT_THAT(ErrorOf(file), HasSubstr("followed by other bytes"));
  Store(&file, 16, 8, file.size());
  EXPECT_THAT(ErrorOf(file), HasSubstr("followed by other bytes"));
}

TEST(PlanBytesTest, SectionTableIsChecked) {
  const std::string good = SampleFile();
  const std::vector<SectionInfo> sections = Sections(good);
  auto with = [&](size_t at, int bytes, uint64_t value) {
    std::string file = good;
    Store(&file, at, bytes, value);
    if (at >= 32) FixTableChecksum(&file);
    return ErrorOf(file);
  };
  EXPECT_THAT(with(12, 4, 0xffffffff), HasSubstr("4294967295 sections"));
  EXPECT_THAT(with(28, 4, 5), HasSubstr("reserved word of its header is 5"));
  size_t second = sections[1].entry;
  EXPECT_THAT(with(second, 4, 1), HasSubstr("sections come in order of kind"));
  EXPECT_THAT(with(sections[0].entry, 4, 0), HasSubstr("kind 0"));
  EXPECT_THAT(with(second + 24, 8, 9), HasSubstr("reserved word of section"));
  EXPECT_THAT(with(second + 8, 8, sections[1].offset + 8),
              HasSubstr("not a multiple of 64"));
  EXPECT_THAT(with(second + 8, 8, sections[0].offset),
              HasSubstr("before what precedes it ends"));
  EXPECT_THAT(with(second + 8, 8, uint64_t{1} << 40),
              HasSubstr("1099511627776"));
  EXPECT_THAT(with(second + 16, 8, ~uint64_t{0} - 3),
              HasSubstr("18446744073709551612 bytes"));
  // Between sections.
  size_t gap = sections[0].offset + sections[0].bytes;
  ASSERT_LT(gap, sections[1].offset);
  EXPECT_THAT(with(gap, 1, 1), HasSubstr("expected 0"));
}

TEST(PlanBytesTest, SectionOfAnotherTableIsRefused) {
  // Two tables without the ones between them: each claims to be the next.
  proto::Plan plan;
  plan.add_slices()->set_name("s");
  std::string file = SerializePlan(plan, {});
  Store(&file, 32, 4, 3);
  FixTableChecksum(&file);
  EXPECT_THAT(ErrorOf(file), AllOf(HasSubstr("section 'layouts'"),
                                   HasSubstr("entries of 'slices'")));
  // A field that no plan has.
  file = SerializePlan(plan, {});
  std::vector<SectionInfo> sections = Sections(file);
  file[sections[0].offset] = (15 << 3) | 2;
  FixChecksums(&file, sections);
  EXPECT_THAT(ErrorOf(file), HasSubstr("a field that no plan has"));
  // No table at all.
  file = SerializePlan(plan, {});
  file[sections[0].offset] = 0x7f;
  FixChecksums(&file, sections);
  EXPECT_THAT(ErrorOf(file), HasSubstr("is not a table"));
}

TEST(PlanBytesTest, UnknownSectionsAreSkipped) {
  std::vector<uint8_t> blobs = Blobs();
  proto::Plan plan = testing::SamplePlan();
  std::string file = SerializePlan(plan, blobs);
  std::vector<SectionInfo> sections = Sections(file);
  ASSERT_EQ(sections.back().kind, 9u);
  Store(&file, sections.back().entry, 4, 77);
  FixTableChecksum(&file);
  absl::StatusOr<PlanData> read = ParsePlan(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->blobs.empty());
  EXPECT_EQ(read->tables.SerializeAsString(), plan.SerializeAsString());
}

// Whatever is accepted must be safe to look at.
void Look(const absl::StatusOr<PlanData>& plan) {
  if (!plan.ok()) return;
  std::vector<PlanIssue> issues = VerifyPlan(plan->tables, plan->blobs.size());
  absl::Status status = IssuesToStatus(plan->tables, issues);
  EXPECT_EQ(status.ok(), issues.empty());
}

TEST(PlanBytesTest, EveryFlippedBitIsFound) {
  const std::string good = SampleFile();
  const uint64_t seed = 20240611;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) {
    std::string file = good;
    size_t at = random() % file.size();
    file[at] ^= 1 << random() % 8;
    EXPECT_FALSE(ParsePlan(file).ok()) << "byte " << at;
  }
}

TEST(PlanBytesTest, FlipsBehindTheChecksumsDoNoHarm) {
  const uint64_t seed = 20240612;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    // The sample, and other plans in turn.
    const std::string good =
        i % 2 == 0 ? SampleFile()
                   : SerializePlan(testing::RandomPlan(i), Blobs());
    const std::vector<SectionInfo> sections = Sections(good);
    std::string file = good;
    for (uint64_t n = 1 + random() % 3; n-- > 0;)
      file[random() % sections.back().offset] ^= 1 << random() % 8;
    FixChecksums(&file, sections);
    absl::StatusOr<PlanData> plan = ParsePlan(file);
    accepted += plan.ok();
    Look(plan);
  }
  // Otherwise this would test the container alone.
  EXPECT_GT(accepted, 500);
}

TEST_F(PlanFileTest, WriteAndRead) {
  std::vector<uint8_t> blobs = Blobs();
  proto::Plan plan = testing::SamplePlan();
  std::string path = Path("a.plan");
  ASSERT_TRUE(WritePlanFile(path, plan, blobs).ok());
  absl::StatusOr<PlanData> read = ReadPlanFile(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tables.SerializeAsString(), plan.SerializeAsString());
  EXPECT_EQ(read->blobs, absl::MakeConstSpan(blobs));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->blobs.data()) % 64, 0u);
  // Replacing the file leaves what was read alone, and nothing else behind.
  ASSERT_TRUE(WritePlanFile(path, proto::Plan(), {}).ok());
  EXPECT_EQ(read->blobs, absl::MakeConstSpan(blobs));
  EXPECT_EQ(ReadPlanFile(path)->tables.ByteSizeLong(), 0u);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder_))
    ++files;
  EXPECT_EQ(files, 1u);
}

TEST_F(PlanFileTest, ReadErrorsNameThePath) {
  auto error = [](const std::string& path) {
    absl::Status status = ReadPlanFile(path).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    return status;
  };
  EXPECT_TRUE(absl::IsNotFound(error(Path("none.plan"))));
  EXPECT_THAT(std::string(error(folder_).message()),
              HasSubstr("not a regular file"));
  std::ofstream(Path("empty.plan")).flush();
  EXPECT_THAT(std::string(error(Path("empty.plan")).message()),
              HasSubstr("empty"));
  std::ofstream(Path("text.plan")) << "module {}";
  EXPECT_THAT(std::string(error(Path("text.plan")).message()),
              HasSubstr("not a plan"));
  // Nobody writes into this one: opening it must not wait.
  ASSERT_EQ(mkfifo(Path("fifo.plan").c_str(), 0600), 0);
  EXPECT_THAT(std::string(error(Path("fifo.plan")).message()),
              HasSubstr("not a regular file"));
}

TEST_F(PlanFileTest, WriteErrorsNameThePathAndTheReason) {
  auto error = [](const std::string& path) {
    absl::Status status = WritePlanFile(path, testing::SamplePlan(), Blobs());
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr("'" + path + "'"));
    return std::string(status.message());
  };
  EXPECT_THAT(error(Path("no/such/folder.plan")),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(error(folder_), HasSubstr("Is a directory"));
  EXPECT_THAT(error("/dev/full"), HasSubstr("No space left on device"));
}

TEST_F(PlanFileTest, WritingKeepsLinkAndMode) {
  std::string target = Path("target.plan");
  std::ofstream(target).flush();
  chmod(target.c_str(), 0640);
  std::filesystem::create_symlink(target, Path("link.plan"));
  ASSERT_TRUE(
      WritePlanFile(Path("link.plan"), testing::SamplePlan(), Blobs()).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link.plan")));
  EXPECT_TRUE(ReadPlanFile(target).ok());
  struct stat info;
  ASSERT_EQ(stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace pathways
