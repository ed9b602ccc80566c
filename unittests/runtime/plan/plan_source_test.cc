//===- plan_source_test.cc - A plan that others may ask for ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_source.h"

#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {
namespace {

// The sample's kernel with three objects, of which the second is large.
PlanData WithThreeObjects() {
  std::vector<uint8_t> blobs(1 << 20);
  for (size_t i = 0; i < blobs.size(); ++i) {
    blobs[i] = static_cast<uint8_t>(i * i >> 3);
  }
  proto::Plan plan = SamplePlan();
  proto::Kernel* kernel = plan.mutable_kernels(0);
  for (uint64_t offset : {1024, 1 << 19}) {
    proto::KernelObject* object = kernel->add_objects();
    *object = kernel->objects(0);
    object->set_blob_offset(offset);
    object->set_blob_bytes(offset == 1024 ? 300'000 : 17);
  }
  return MakePlanData(std::move(plan), blobs);
}

std::string ReadAll(const PlanSource& source,
                    const std::vector<uint32_t>& objects, int* pieces) {
  std::string all;
  for (*pieces = 0;; ++*pieces) {
    const auto piece = source.Read(objects, all.size());
    if (!piece.ok()) {
      ADD_FAILURE() << piece.status();
      return all;
    }
    EXPECT_LE(piece->bytes.size(), kMaxPlanPiece);
    all += piece->bytes;
    if (all.size() == piece->total) return all;
  }
}

TEST(PlanSourceTest, GivesTheHeadAndObjectsInPieces) {
  const PlanData plan = WithThreeObjects();
  const auto source = PlanSource::Create(plan);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), *NameOf(plan));
  const std::string head =
      ManifestOf(plan)->Write() + *WriteTables(plan.tables);
  int pieces = 0;
  EXPECT_EQ(ReadAll(**source, {}, &pieces), head);
  EXPECT_EQ(pieces, 0);
  const auto objects = *ObjectsOf(plan);
  auto text = [&](int i) {
    return std::string(objects[i].begin(), objects[i].end());
  };
  EXPECT_EQ(ReadAll(**source, {1}, &pieces), text(1));
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(ReadAll(**source, {2, 0}, &pieces), text(2) + text(0));
  EXPECT_EQ(ReadAll(**source, {0, 1, 2}, &pieces), text(0) + text(1) + text(2));
  // One that was fetched gives the same.
  const PlanSource again(head, *ManifestOf(plan), {text(0), text(1), text(2)});
  EXPECT_EQ(again.name(), (*source)->name());
  EXPECT_EQ(ReadAll(again, {}, &pieces), head);
  EXPECT_EQ(ReadAll(again, {0, 1, 2}, &pieces), text(0) + text(1) + text(2));
}

TEST(PlanSourceTest, GivesNothingElse) {
  const auto source = PlanSource::Create(WithThreeObjects());
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->Read(std::vector<uint32_t>{0, 3}, 0).status(),
            absl::OutOfRangeError("object 3 was asked for, there are 3"));
  EXPECT_EQ((*source)->Read(std::vector<uint32_t>(4, 0), 0).status(),
            absl::OutOfRangeError("4 objects were asked for, there are 3"));
  EXPECT_EQ((*source)->Read(std::vector<uint32_t>{0}, 101).status(),
            absl::OutOfRangeError("byte 101 was asked for, there are 100"));
  EXPECT_EQ((*source)->Read({}, UINT64_MAX).status().code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace pathways::testing
