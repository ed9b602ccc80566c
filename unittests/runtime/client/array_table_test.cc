//===- array_table_test.cc - Arrays that a client holds -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ArrayTableTest : public ::testing::Test {
 protected:
  uint64_t Put(int64_t bytes) {
    HostArray array{ElementType::kI8, {bytes}, ArrayBytes(bytes, 1)};
    absl::StatusOr<uint64_t> id =
        table_.Put(std::make_shared<const ArrayValue>(std::move(array)));
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }

  ArrayTable table_{"ann", 100};
  RunState run_;
  ObjectList objects_;
  SharedValues values_;
};

TEST_F(ArrayTableTest, ValuesStayWithTheClientUntilALaunchHasBroughtThem) {
  const uint64_t id = Put(40);
  EXPECT_EQ(table_.bytes_used(), 40u);
  ArrayState* array = *table_.Find(id);
  EXPECT_EQ(array->dense->data().size(), 40u);
  run_.id = 5;
  table_.Place(array, {77, nullptr}, &run_);
  EXPECT_NE(array->dense, nullptr);
  run_.completed = true;
  table_.Settle(run_, &objects_, &values_);
  EXPECT_THAT(objects_, IsEmpty());
  EXPECT_EQ(array->dense, nullptr);
  EXPECT_EQ(table_.bytes_used(), 0u);
  EXPECT_EQ(array->placed.object, 77u);
  EXPECT_TRUE(table_.Release(id, &objects_, &values_).ok());
  EXPECT_THAT(objects_, ElementsAre(77));
}

TEST_F(ArrayTableTest, ALaunchThatFailedLeavesThemAsTheyWere) {
  const uint64_t id = Put(40);
  ArrayState* array = *table_.Find(id);
  run_.id = 5;
  table_.Place(array, {77, nullptr}, &run_);
  table_.Settle(run_, &objects_, &values_);
  EXPECT_THAT(objects_, ElementsAre(77));
  EXPECT_EQ(array->placed.object, 0u);
  EXPECT_EQ(array->dense->data().size(), 40u);
  objects_.clear();
  table_.Settle(run_, &objects_, &values_);
  EXPECT_THAT(objects_, IsEmpty());
}

TEST_F(ArrayTableTest, OneThatWasReleasedMeanwhileIsNotSettled) {
  const uint64_t id = Put(40);
  run_.id = 5;
  table_.Place(*table_.Find(id), {77, nullptr}, &run_);
  EXPECT_TRUE(table_.Release(id, &objects_, &values_).ok());
  EXPECT_THAT(objects_, ElementsAre(77));
  table_.Settle(run_, &objects_, &values_);
  EXPECT_THAT(objects_, ElementsAre(77));
  EXPECT_EQ(table_.Find(id).status().message(),
            "array 1 does not exist or was released [PW6101]");
  EXPECT_EQ(table_.Release(id, &objects_, &values_).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ArrayTableTest, TheClientsMemoryIsBounded) {
  Put(60);
  absl::StatusOr<uint64_t> more = table_.Put(std::make_shared<const ArrayValue>(
      HostArray{ElementType::kI8, {41}, ArrayBytes(41, 0)}));
  EXPECT_EQ(more.status(),
            absl::ResourceExhaustedError(
                "array 41xi8 needs 41 bytes of the memory of client 'ann', "
                "where 60 of 100 bytes are used [PW3102]"));
  EXPECT_EQ(table_.size(), 1u);
  Put(40);
}

// Returns a run with results in objects 9 and 10.
std::shared_ptr<RunState> RunOfTwo() {
  auto run = std::make_shared<RunState>();
  for (uint64_t object : {9, 10}) {
    RunState::Result& result = run->results.emplace_back();
    result.placed.object = object;
    result.type =
        std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {2, 3}});
    result.bytes = 24;
  }
  return run;
}

TEST_F(ArrayTableTest, AResultThatIsKeptKnowsItsRunUntilItIsSeen) {
  const std::shared_ptr<RunState> run = RunOfTwo();
  const ArrayState* waiting = *table_.Find(table_.Keep(run, 0));
  EXPECT_EQ(waiting->producer, run);
  EXPECT_EQ(waiting->type, run->results[0].type);
  EXPECT_EQ(waiting->bytes, 24u);
  run->ended = run->completed = true;
  EXPECT_FALSE(waiting->HasFailed());
  const ArrayState* seen = *table_.Find(table_.Keep(run, 0));
  EXPECT_EQ(seen->producer, nullptr);
  EXPECT_EQ(seen->placed.object, 9u);
}

TEST_F(ArrayTableTest, OfAResultThatWasNotMadeNothingIsOnHosts) {
  const std::shared_ptr<RunState> run = RunOfTwo();
  const uint64_t early = table_.Keep(run, 1);
  run->ended = run->completed = true;
  run->results[1].poisoned = true;
  run->status = absl::InternalError("broke");
  EXPECT_TRUE((*table_.Find(early))->HasFailed());
  EXPECT_EQ((*table_.Find(early))->placed.object, 10u);
  const ArrayState* late = *table_.Find(table_.Keep(run, 1));
  EXPECT_TRUE(late->HasFailed());
  EXPECT_EQ(late->producer, run);
  EXPECT_EQ(late->placed.object, 0u);
  EXPECT_FALSE((*table_.Find(table_.Keep(run, 0)))->HasFailed());
}

}  // namespace
}  // namespace pathways
