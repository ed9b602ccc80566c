//===- plan_fetch_test.cc - A plan that comes in pieces -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_fetch.h"

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/plan_source.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;
using Step = PlanFetch::Step;

class PlanFetchTest : public ::testing::Test {
 protected:
  PlanFetchTest() {
    // Tables of several pieces.
    proto::Plan plan = SamplePlan();
    plan.mutable_header()->set_source(std::string(600'000, 's'));
    proto::Kernel* kernel = plan.mutable_kernels(0);
    *kernel->add_objects() = kernel->objects(0);
    kernel->mutable_objects(1)->set_blob_offset(0);
    kernel->mutable_objects(1)->set_blob_bytes(50);
    plan_ = MakePlanData(std::move(plan), std::vector<uint8_t>(192, 7));
    source_ = *PlanSource::Create(plan_);
  }

  static proto::PlanPart Answer(const PlanSource& source,
                                const proto::PlanRequest& request) {
    proto::PlanPart part;
    part.set_hash(request.hash());
    part.set_code(request.objects_size() > 0);
    part.set_offset(request.offset());
    const auto piece = source.Read(
        absl::MakeConstSpan(request.objects().data(), request.objects_size()),
        request.offset());
    EXPECT_TRUE(piece.ok()) << piece.status();
    part.set_total(piece->total);
    part.set_bytes(piece->bytes);
    return part;
  }
  proto::PlanPart Next(const PlanFetch& fetch) const {
    proto::PlanRequest request;
    fetch.FillRequest(&request);
    return Answer(*source_, request);
  }

  // Fetches all, with the parts as `spoil` makes them; wants both objects.
  absl::Status Fetch(PlanFetch* fetch,
                     const std::function<void(proto::PlanPart*)>& spoil) {
    for (int i = 0; i < 100; ++i) {
      proto::PlanPart part = Next(*fetch);
      spoil(&part);
      absl::StatusOr<Step> step = fetch->Take(part);
      if (step.ok() && *step == Step::kHead) step = fetch->Want({0, 1});
      if (!step.ok()) return step.status();
      if (*step == Step::kDone) return absl::OkStatus();
    }
    return absl::DeadlineExceededError("it gets nowhere");
  }
  absl::Status FetchSpoiled(
      const std::function<void(proto::PlanPart*)>& spoil) {
    PlanFetch fetch(source_->name());
    return Fetch(&fetch, spoil);
  }

  PlanData plan_;
  std::shared_ptr<const PlanSource> source_;
};

TEST_F(PlanFetchTest, BringsTablesAndWhatIsWanted) {
  PlanFetch fetch(source_->name());
  int parts = 0;
  ASSERT_TRUE(Fetch(&fetch, [&](proto::PlanPart*) { ++parts; }).ok());
  EXPECT_EQ(parts, 4);
  EXPECT_EQ(fetch.received(), source_->name().bytes);
  EXPECT_EQ(*WriteTables(fetch.tables()), *WriteTables(plan_.tables));
  EXPECT_EQ(fetch.TakeObjects(), (std::vector<std::string>{
                                     std::string(100, 7), std::string(50, 7)}));
  EXPECT_EQ(fetch.manifest(), *ManifestOf(plan_));
}

TEST_F(PlanFetchTest, CodeThatNobodyWantsStaysAway) {
  PlanFetch fetch(source_->name());
  Step step = Step::kMore;
  while (step == Step::kMore) step = *fetch.Take(Next(fetch));
  ASSERT_EQ(step, Step::kHead);
  EXPECT_EQ(*fetch.Want({1}), Step::kMore);
  EXPECT_EQ(*fetch.Take(Next(fetch)), Step::kDone);
  EXPECT_EQ(fetch.received(), source_->name().bytes - 100);
  EXPECT_EQ(fetch.TakeObjects(),
            (std::vector<std::string>{"", std::string(50, 7)}));

  PlanFetch tables(source_->name());
  step = Step::kMore;
  while (step == Step::kMore) step = *tables.Take(Next(tables));
  EXPECT_EQ(*tables.Want({}), Step::kDone);
}

TEST_F(PlanFetchTest, EachByteCountsOnce) {
  PlanFetch fetch(source_->name());
  proto::PlanPart last;
  ASSERT_TRUE(Fetch(&fetch, [&](proto::PlanPart* part) {
                // A second copy of the one before, and one of another plan.
                if (!last.hash().empty()) {
                  EXPECT_EQ(*fetch.Take(last), Step::kNothing);
                }
                last = *part;
                proto::PlanPart foreign = *part;
                foreign.mutable_hash()->front() ^= 1;
                EXPECT_EQ(*fetch.Take(foreign), Step::kNothing);
              }).ok());
  EXPECT_EQ(*fetch.Take(last), Step::kNothing);
  EXPECT_EQ(fetch.received(), source_->name().bytes);
}

// Any byte, at any place: either in a part of the plan, or in what it says of
// itself.
TEST_F(PlanFetchTest, NoDamageStays) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const uint64_t at = random() % source_->name().bytes;
    uint64_t seen = 0;
    const absl::Status status = FetchSpoiled([&](proto::PlanPart* part) {
      const uint64_t end = seen + part->bytes().size();
      if (seen <= at && at < end) (*part->mutable_bytes())[at - seen] ^= 16;
      seen = end;
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << at;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("was not received correctly"));
  }
}

TEST_F(PlanFetchTest, NamesWhatIsWrong) {
  const std::string start =
      "plan " + source_->name().hash.Text() + " was not received correctly: ";
  const uint64_t head = source_->Read({}, 0)->total;
  auto message = [&](const std::function<void(proto::PlanPart*)>& spoil) {
    const absl::Status status = FetchSpoiled(spoil);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string text(status.message());
    EXPECT_EQ(text.substr(0, start.size()), start);
    return text.substr(std::min(start.size(), text.size()));
  };
  EXPECT_EQ(message([](proto::PlanPart* part) {
              part->set_total(uint64_t{1} << 60);
            }),
            absl::StrCat("it has 1152921504606846976 bytes of tables, expected "
                         "at most ",
                         source_->name().bytes));
  EXPECT_EQ(
      message([](proto::PlanPart* part) {
        if (part->offset() > 0) part->set_total(part->total() - 1);
      }),
      absl::StrCat("it has ", head - 1, " bytes of tables, expected ", head));
  EXPECT_EQ(message([](proto::PlanPart* part) {
              if (part->code()) part->set_total(149);
            }),
            "it has 149 bytes of code, expected 150");
  EXPECT_EQ(message([](proto::PlanPart* part) { part->clear_bytes(); }),
            "a piece has 0 bytes, expected 1 to 262144");
  EXPECT_EQ(message([](proto::PlanPart* part) {
              part->mutable_bytes()->append(
                  kMaxPlanPiece + 1 - part->bytes().size(), 'x');
            }),
            "a piece has 262145 bytes, expected 1 to 262144");
  EXPECT_EQ(message([](proto::PlanPart* part) {
              if (part->code()) part->mutable_bytes()->push_back('x');
            }),
            "a piece has 151 bytes, expected 1 to 150");
  EXPECT_EQ(message([](proto::PlanPart* part) {
              part->mutable_bytes()->front() = 'x';
            }),
            "it does not begin with a manifest");
  EXPECT_EQ(message([](proto::PlanPart* part) {
              part->set_total(100);
              part->mutable_bytes()->resize(100);
            }),
            "it does not begin with a manifest");
  EXPECT_EQ(message([](proto::PlanPart* part) {
              part->set_total(10);
              part->mutable_bytes()->resize(10);
            }),
            "it ends before the end of its manifest");
  EXPECT_THAT(message([](proto::PlanPart* part) {
                if (part->code()) part->mutable_bytes()->front() ^= 1;
              }),
              HasSubstr("object 0 has hash "));
}

// Claims of a peer about a plan that it named itself are checked as well.
TEST_F(PlanFetchTest, AManifestThatLiesIsNoPlan) {
  auto fetch = [&](const std::function<void(PlanManifest*)>& lie,
                   int64_t more_bytes) {
    PlanManifest manifest = *ManifestOf(plan_);
    lie(&manifest);
    const PlanSource liar(manifest.Write() + *WriteTables(plan_.tables),
                          manifest, {std::string(100, 7), std::string(50, 7)});
    PlanName name = liar.name();
    name.bytes += more_bytes;
    PlanFetch fetch(name);
    for (int i = 0; i < 10; ++i) {
      proto::PlanRequest request;
      fetch.FillRequest(&request);
      const absl::StatusOr<Step> step = fetch.Take(Answer(liar, request));
      if (!step.ok()) return std::string(step.status().message());
    }
    return std::string();
  };
  EXPECT_THAT(fetch([](PlanManifest*) {}, 1), HasSubstr("bytes in all"));
  EXPECT_THAT(fetch([](PlanManifest* m) { m->tables.bytes += 5; }, 0),
              HasSubstr("its manifest says"));
  EXPECT_THAT(fetch([](PlanManifest* m) { m->tables.hash.bytes[3] ^= 1; }, 0),
              HasSubstr("its tables have hash"));
  EXPECT_THAT(fetch([](PlanManifest* m) { m->objects[1].bytes = 51; }, 0),
              HasSubstr("object 1 has 50 bytes, its manifest says 51"));
  EXPECT_THAT(fetch([](PlanManifest* m) { m->objects.pop_back(); }, 0),
              HasSubstr("it has 2 objects, its manifest says 1"));
}

TEST_F(PlanFetchTest, WhoHasNoneSaysSo) {
  PlanFetch fetch(source_->name());
  proto::PlanPart part;
  part.set_hash(std::string(source_->name().hash.view()));
  part.set_status(static_cast<int>(absl::StatusCode::kNotFound));
  part.set_message("plan 12 is not here");
  EXPECT_EQ(fetch.Take(part).status(),
            absl::NotFoundError("plan 12 is not here"));
}

}  // namespace
}  // namespace pathways::testing
