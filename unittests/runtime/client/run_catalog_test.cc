//===- run_catalog_test.cc - Runs of a client -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class RunCatalogTest : public ::testing::Test {
 protected:
  // Run 1 has result "y", which is object 9, and result "e" without bytes.
  RunCatalogTest() {
    run_->id = 1;
    run_->names =
        std::make_shared<const ProgramNames>(ProgramNames{"p", {"y", "e"}});
    run_->results.resize(2);
    for (RunState::Result& result : run_->results) {
      result.type =
          std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {1}});
    }
    run_->results[0].placed = {9, CopiesOn({1}, {0})};
    run_->results[0].bytes = 4;
    runs_.Add(run_);
    holds_.Hold(9);
  }
  void EndRun(absl::Status status, std::vector<uint32_t> poisoned = {}) {
    RunEnd end;
    end.completed = status.ok() || !poisoned.empty();
    end.status = std::move(status);
    end.poisoned = poisoned;
    ObjectList objects;
    runs_.End(1, std::move(end), &objects);
    run_->done.Set();
  }

  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  RunTable runs_;
  ArrayTable arrays_{"ann", 100};
  ObjectHolds holds_;
  RunCatalog catalog_{&it_.context, &it_.channel, &owner_,
                      &runs_,       &arrays_,     &holds_};
  const std::shared_ptr<RunState> run_ = std::make_shared<RunState>();
  const RunHandle handle_ = owner_.Make<RunHandle>(1);
};

TEST_F(RunCatalogTest, WaitsForTheEnd) {
  EXPECT_FALSE(*catalog_.IsReady(handle_));
  EXPECT_FALSE(*catalog_.AwaitFor(handle_, /*limit_ns=*/5));
  it_.world.on_wait = [&] { EndRun(absl::OkStatus()); };
  EXPECT_TRUE(*catalog_.AwaitFor(handle_, /*limit_ns=*/-1));
  EXPECT_TRUE(*catalog_.IsReady(handle_));
  EXPECT_EQ(*catalog_.AwaitResult(handle_, 0), run_);
}

TEST_F(RunCatalogTest, AResultIsGoodIfOnlyAnotherFailed) {
  EndRun(absl::InternalError("broke"), {1});
  EXPECT_EQ(catalog_.AwaitFor(handle_, -1).status(),
            absl::InternalError("broke"));
  EXPECT_TRUE(catalog_.AwaitResult(handle_, 0).ok());
  EXPECT_EQ(catalog_.AwaitResult(handle_, 1).status(),
            absl::InternalError("broke"));
}

TEST_F(RunCatalogTest, FindsResultsByName) {
  EXPECT_EQ(*catalog_.IndexOf(handle_, "e"), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(catalog_.IndexOf(handle_, "z").status()));
  const HandleOwner bo("bo");
  EXPECT_TRUE(absl::IsInvalidArgument(
      catalog_.IndexOf(bo.Make<RunHandle>(1), "e").status()));
}

TEST_F(RunCatalogTest, AKeptResultOutlivesItsRun) {
  const auto kept = catalog_.Keep(handle_, 0);
  ASSERT_TRUE(kept.ok() && kept->has_value());
  EndRun(absl::OkStatus());
  EXPECT_TRUE(catalog_.Release(handle_).ok());
  EXPECT_TRUE(it_.Take(proto::Control::kReleaseRequest).empty());
  EXPECT_EQ((*arrays_.Find((*kept)->id))->placed.object, 9u);
  EXPECT_TRUE(absl::IsNotFound(catalog_.Find(handle_).status()));
}

TEST_F(RunCatalogTest, NoHostHasAResultWithoutBytes) {
  const auto kept = catalog_.Keep(handle_, 1);
  ASSERT_TRUE(kept.ok());
  EXPECT_FALSE(kept->has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(catalog_.Keep(handle_, 2).status()));
}

TEST_F(RunCatalogTest, ReleasesResultsThatWereNotKept) {
  EndRun(absl::OkStatus());
  EXPECT_TRUE(catalog_.Release(handle_).ok());
  const auto releases = it_.Take(proto::Control::kReleaseRequest);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_THAT(releases[0].release_request().objects(), ElementsAre(9));
}

TEST_F(RunCatalogTest, CancelsByNumber) {
  EXPECT_TRUE(catalog_.Cancel(handle_).ok());
  const auto cancels = it_.Take(proto::Control::kCancelRequest);
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].cancel_request().launch(), 1u);
}

TEST_F(RunCatalogTest, NotifiesOnceIfTheRunHasEnded) {
  int calls = 0;
  auto count = [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    ++calls;
  };
  EXPECT_TRUE(catalog_.NotifyEnd(handle_, count).ok());
  EXPECT_EQ(calls, 0);
  EndRun(absl::OkStatus());
  EXPECT_TRUE(catalog_.NotifyEnd(handle_, count).ok());
  EXPECT_EQ(calls, 2);  // both callbacks
}

}  // namespace
}  // namespace pathways::testing
