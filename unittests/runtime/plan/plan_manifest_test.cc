//===- plan_manifest_test.cc - Contents of a plan -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_manifest.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {
namespace {

PlanData Sample(uint8_t byte = 7) {
  return MakePlanData(SamplePlan(),
                      std::vector<uint8_t>(kSampleBlobBytes, byte));
}

TEST(PlanManifestTest, NamesTablesAndObjects) {
  const PlanData plan = Sample();
  const auto manifest = ManifestOf(plan);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  const std::string tables = *WriteTables(plan.tables);
  EXPECT_EQ(manifest->tables.bytes, tables.size());
  EXPECT_EQ(manifest->tables.hash, HashOf(tables));
  ASSERT_EQ(manifest->objects.size(), 1u);
  EXPECT_EQ(manifest->objects[0].bytes, 100u);
  EXPECT_EQ(manifest->objects[0].hash, HashOf(plan.blobs.subspan(64, 100)));
  EXPECT_EQ(manifest->TotalBytes(), 64 + 40 + tables.size() + 100);
}

TEST(PlanManifestTest, ComesBackFromItsBytes) {
  const PlanManifest manifest = *ManifestOf(Sample());
  const std::string bytes = manifest.Write();
  EXPECT_EQ(PlanManifest::Read(bytes), manifest);
  EXPECT_EQ(PlanManifest::SizeOf(bytes, 1000), bytes.size());
  EXPECT_EQ(PlanManifest::SizeOf(bytes, bytes.size() - 1), std::nullopt);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(PlanManifest::Read(bytes.substr(0, size)), std::nullopt);
  }
  // Magic, version, number of objects and what is reserved.
  for (size_t at : {0, 7, 8, 12, 15, 16, 23}) {
    std::string wrong = bytes;
    wrong[at] ^= 2;
    EXPECT_EQ(PlanManifest::Read(wrong), std::nullopt) << at;
  }
}

TEST(PlanManifestTest, SizesDoNotWrapAround) {
  PlanManifest manifest;
  manifest.tables.bytes = uint64_t{1} << 61;
  EXPECT_TRUE(manifest.TotalBytes().has_value());
  manifest.objects.push_back({UINT64_MAX - 10, {}});
  EXPECT_EQ(manifest.TotalBytes(), std::nullopt);
}

TEST(PlanManifestTest, ANameIsOfAllThatIsRun) {
  const PlanName name = *NameOf(Sample());
  EXPECT_EQ(name, *NameOf(Sample()));
  EXPECT_EQ(name.bytes, *ManifestOf(Sample())->TotalBytes());
  EXPECT_NE(name.hash, NameOf(Sample(8))->hash);
  PlanData other = Sample();
  other.tables.mutable_header()->set_program("other");
  EXPECT_NE(name.hash, NameOf(other)->hash);
}

// Whatever its slices are, and however many bytes they have.
TEST(PlanManifestTest, ANamerNamesWhatHasOtherSlices) {
  const PlanData plan = Sample();
  const absl::StatusOr<PlanNamer> namer = PlanNamer::Create(plan);
  ASSERT_TRUE(namer.ok()) << namer.status();
  PlanSlices slices = plan.tables.slices();
  EXPECT_EQ(*namer->NameWith(slices), *NameOf(plan));
  slices.Mutable(0)->set_name(std::string(300, 's'));
  EXPECT_EQ(*namer->NameWith(slices), *NameOf(WithSlices(plan, slices)));
  EXPECT_NE(*namer->NameWith(slices), *NameOf(plan));
  slices.Clear();
  EXPECT_EQ(*namer->NameWith(slices), *NameOf(WithSlices(plan, slices)));
}

TEST(PlanManifestTest, CodeLiesWithinTheBlobs) {
  PlanData plan = Sample();
  plan.tables.mutable_kernels(0)->mutable_objects(0)->set_blob_offset(128);
  EXPECT_EQ(NameOf(plan).status(),
            absl::InvalidArgumentError("kernel 'layer0' has code of 100 bytes "
                                       "at 128, the plan has 192"));
  plan.tables.mutable_kernels(0)->mutable_objects(0)->set_blob_offset(
      UINT64_MAX);
  EXPECT_FALSE(NameOf(plan).ok());
}

}  // namespace
}  // namespace pathways::testing
