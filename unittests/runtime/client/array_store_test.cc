//===- array_store_test.cc - Arrays of a client ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class ArrayStoreTest : public ::testing::Test {
 protected:
  static SharedValue Bytes(const std::string& bytes, int64_t floats) {
    return std::make_shared<const ArrayValue>(
        HostArray{ElementType::kF32, {floats}, {bytes.begin(), bytes.end()}});
  }
  // Adds the result of a run that has not ended: two numbers, of which hosts 0
  // and 1 hold one each, as object 9.
  ArrayHandle AddResult() {
    run_->names =
        std::make_shared<const ProgramNames>(ProgramNames{"p", {"y"}});
    run_->id = 1;
    run_->results.resize(1);
    run_->results[0].type =
        std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {2}});
    run_->results[0].bytes = 8;
    run_->results[0].placed = {9, RowsOn({2}, 2, {0, 1})};
    holds_.Hold(9);
    return owner_.Make<ArrayHandle>(arrays_.Keep(run_, 0));
  }
  void EndRun(absl::Status status) {
    run_->ended = true;
    run_->completed = status.ok();
    run_->status = std::move(status);
    run_->done.Set();
  }
  void LetHostsSend() {
    it_.on_message = [&](const proto::Control& message) {
      if (!message.has_fetch_request()) return;
      it_.SendBlocks(message.fetch_request(), values_);
    };
  }

  const std::vector<float> values_ = {3, 4};
  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  ArrayReader reader_{&it_.channel, &it_.actor, &it_.runtime};
  ArrayTable arrays_{"ann", 100};
  ObjectHolds holds_;
  ArrayStore store_{&it_.channel, &owner_,  &it_.runtime,
                    &reader_,     &arrays_, &holds_};
  std::shared_ptr<RunState> run_ = std::make_shared<RunState>();
};

TEST_F(ArrayStoreTest, HoldsWhatWasPut) {
  const absl::StatusOr<ArrayHandle> array = store_.Put(Bytes("abcdefgh", 2));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(store_.TypeOf(*array)->shape, ElementsAre(2));
  EXPECT_TRUE(*store_.IsReady(*array));
  EXPECT_EQ(*store_.PlacementOf(*array), nullptr);
  EXPECT_EQ((*store_.GetValue(*array))->data(), "abcdefgh");
  EXPECT_TRUE(store_.Release(*array).ok());
  EXPECT_TRUE(absl::IsNotFound(store_.TypeOf(*array).status()));
  it_.HandleSent();
  EXPECT_TRUE(it_.messages.empty());  // no host holds it
}

TEST_F(ArrayStoreTest, RefusesDataOfAnotherSize) {
  EXPECT_EQ(
      store_.Put(Bytes("abcd", 2)).status(),
      absl::InvalidArgumentError("an array of 2xf32 has 4 bytes, expected 8"));
}

TEST_F(ArrayStoreTest, AResultIsReadyOnceItsRunHasEnded) {
  const ArrayHandle array = AddResult();
  EXPECT_FALSE(*store_.IsReady(array));
  EXPECT_FALSE(*store_.AwaitFor(array, /*limit_ns=*/5));
  it_.world.on_wait = [&] { EndRun(absl::OkStatus()); };
  EXPECT_TRUE(*store_.AwaitFor(array, /*limit_ns=*/-1));
  EXPECT_TRUE(*store_.IsReady(array));
  EXPECT_EQ(store_.Locate(array)->placed.object, 9u);
  EXPECT_FALSE(store_.HasFailed(array.id));
}

TEST_F(ArrayStoreTest, AResultOfAFailedRunHasItsError) {
  const ArrayHandle array = AddResult();
  EndRun(absl::InternalError("broke"));
  EXPECT_TRUE(store_.HasFailed(array.id));
  EXPECT_EQ(store_.Await(array.id), absl::InternalError("broke"));
  EXPECT_EQ(store_.Locate(array).status(), absl::InternalError("broke"));
}

TEST_F(ArrayStoreTest, ReleasesTheObjectOfAnArray) {
  const ArrayHandle array = AddResult();
  EXPECT_TRUE(store_.Release(array).ok());
  const auto releases = it_.Take(proto::Control::kReleaseRequest);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_THAT(releases[0].release_request().objects(), ElementsAre(9));
}

TEST_F(ArrayStoreTest, MovesArraysOfMarkedHostsToTheClient) {
  const ArrayHandle array = AddResult();
  EndRun(absl::OkStatus());
  LetHostsSend();
  EXPECT_TRUE(store_.FetchToClient({false, false}, "").ok());
  EXPECT_NE(*store_.PlacementOf(array), nullptr);
  EXPECT_TRUE(store_.FetchToClient({false, true}, "").ok());
  EXPECT_EQ(*store_.PlacementOf(array), nullptr);
  EXPECT_EQ((*store_.GetValue(array))->bytes(), 8u);
  EXPECT_EQ(it_.Take(proto::Control::kReleaseRequest).size(), 1u);
}

TEST_F(ArrayStoreTest, MovesArraysToFiles) {
  const ArrayHandle array = AddResult();
  EndRun(absl::OkStatus());
  LetHostsSend();
  TestFolder folder;
  EXPECT_TRUE(store_.FetchToClient({true, true}, folder / "s").ok());
  EXPECT_NE((*store_.GetValue(array))->saved(), nullptr);
  EXPECT_THAT(folder.List("s"), ElementsAre("array-1", "index.json"));
}

}  // namespace
}  // namespace pathways::testing
