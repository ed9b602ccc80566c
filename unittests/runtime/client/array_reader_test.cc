//===- array_reader_test.cc - Reading of arrays ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways::testing {
namespace {

HostArray Numbers(std::vector<float> values) {
  HostArray array{ElementType::kF32, {static_cast<int64_t>(values.size())}, {}};
  array.data.resize(values.size() * sizeof(float));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

std::vector<float> ValuesOf(const HostArray& array) {
  std::vector<float> values(array.data.size() / sizeof(float));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

class ArrayReaderTest : public ::testing::Test {
 protected:
  // Array of `floats` numbers in this process.
  static ArrayLocation Dense(std::vector<float> floats) {
    ArrayLocation array;
    array.dense = std::make_shared<const ArrayValue>(Numbers(floats));
    array.type = std::make_shared<const ArrayType>(array.dense->type());
    return array;
  }
  // Array of two numbers, of which hosts 0 and 1 hold one each.
  static ArrayLocation Placed() {
    return {
        std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {2}}),
        nullptr,
        {kObject, RowsOn({2}, 2, {0, 1})}};
  }
  // Lets host h answer fetches with the number `values[h]`.
  void LetHostsAnswer(const std::vector<float>& values) {
    it_.on_message = [this, values](const proto::Control& message) {
      if (!message.has_fetch_request()) return;
      EXPECT_EQ(message.fetch_request().object(), kObject);
      it_.SendBlocks(message.fetch_request(), values);
    };
  }

  static constexpr uint64_t kObject = 9;
  AnsweredChannel it_;
  ArrayReader reader_{&it_.channel, &it_.actor, &it_.runtime};
};

TEST_F(ArrayReaderTest, CopiesWhatIsHere) {
  const ArrayLocation array = Dense({1, 2});
  EXPECT_EQ(ValuesOf(*reader_.Get(array, "it")), (std::vector<float>{1, 2}));
  EXPECT_EQ(*reader_.GetValue(array, "it"), array.dense);
  const absl::StatusOr<ValueView> view = reader_.View(array, "it");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->data, array.dense->data().data());
  EXPECT_EQ(view->bytes, 8u);
  it_.HandleSent();
  EXPECT_TRUE(it_.messages.empty());
}

TEST_F(ArrayReaderTest, JoinsTheBlocksOfHosts) {
  LetHostsAnswer({3, 4});
  EXPECT_EQ(ValuesOf(*reader_.Get(Placed(), "it")), (std::vector<float>{3, 4}));
  const absl::StatusOr<SharedValue> value = reader_.GetValue(Placed(), "it");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(ValuesOf((*value)->Copy()), (std::vector<float>{3, 4}));
  float into[2] = {};
  EXPECT_TRUE(
      reader_
          .GetInto(Placed(), reinterpret_cast<char*>(into), sizeof(into), "it")
          .ok());
  EXPECT_EQ(into[1], 4);
  // The hosts are told that each fetch is over.
  EXPECT_EQ(it_.Take(proto::Control::kFetchEnd).size(), 3u);
  EXPECT_EQ(it_.actor.transfers().size(), 0u);
}

TEST_F(ArrayReaderTest, FetchesAShardFromItsHostAlone) {
  LetHostsAnswer({3, 4});
  EXPECT_EQ(ValuesOf(*reader_.GetShard(Placed(), 1, "it")),
            std::vector<float>{4});
  const auto fetches = it_.Take(proto::Control::kFetchRequest);
  ASSERT_EQ(fetches.size(), 1u);
  ASSERT_EQ(fetches[0].fetch_request().sources_size(), 1);
  EXPECT_EQ(fetches[0].fetch_request().sources(0).host(), 1u);
  EXPECT_EQ(reader_.GetShard(Placed(), 2, "it").status(),
            absl::InvalidArgumentError("it has 2 shards, not shard 2"));
}

TEST_F(ArrayReaderTest, NamesAnArrayThatWasReleased) {
  it_.on_message = [&](const proto::Control& message) {
    if (!message.has_fetch_request()) return;
    it_.Answer(message.fetch_request().request(), absl::StatusCode::kNotFound,
               "no such object");
  };
  EXPECT_EQ(
      reader_.Get(Placed(), "array 5").status(),
      absl::NotFoundError("array 5 does not exist or was released [PW6101]"));
}

TEST_F(ArrayReaderTest, MemoryOfAnotherSizeIsRefused) {
  char into[4];
  const absl::Status refused =
      reader_.GetInto(Placed(), into, sizeof(into), "it");
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  it_.HandleSent();
  EXPECT_TRUE(it_.messages.empty());
}

TEST_F(ArrayReaderTest, ViewsNothingThatIsNotDense) {
  const absl::StatusOr<ValueView> view = reader_.View(Placed(), "it");
  EXPECT_EQ(view.status(),
            absl::FailedPreconditionError(
                "it cannot be read without a copy: its blocks on 2 hosts are "
                "not dense in one piece of memory"));
}

TEST_F(ArrayReaderTest, AViewIsGivenBack) {
  ArrayLocation array = Placed();
  array.placed.placement = CopiesOn({2}, {1});
  const float values[2] = {5, 6};
  it_.on_message = [&](const proto::Control& message) {
    if (!message.has_fetch_request()) return;
    EXPECT_TRUE(message.fetch_request().views());
    const uint64_t request = message.fetch_request().request();
    it_.runtime.lent.Add(0, request, reinterpret_cast<const char*>(values));
    it_.actor.transfers().OnWire(1, TransferMessage(kBlockMessage, request), {},
                                 [](int32_t, const WireMessage&, Payload) {});
  };
  absl::StatusOr<ValueView> view = reader_.View(array, "it");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->data, reinterpret_cast<const char*>(values));
  auto ends = it_.Take(proto::Control::kFetchEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].fetch_end().keeps());
  view->owner.reset();
  ends = it_.Take(proto::Control::kFetchEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_FALSE(ends[0].fetch_end().keeps());
}

}  // namespace
}  // namespace pathways::testing
