//===- save_array_test.cc - Writing of an array to files ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/save_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SaveArrayTest : public ::testing::Test {
 protected:
  absl::Status Save(const ArrayLocation& array, const std::string& folder) {
    auto made = SaveFolder::Create(folder_ / folder);
    if (!made.ok()) return made.status();
    absl::Status saved =
        SaveArray(array, "it", &reader_, made->get(), /*name=*/"");
    if (saved.ok()) saved = (*made)->Commit();
    return saved;
  }
  std::string Saved(const std::string& folder) {
    const auto saved = SavedArray::Open(folder_ / folder);
    EXPECT_TRUE(saved.ok()) << saved.status();
    if (!saved.ok()) return "";
    const absl::StatusOr<HostArray> all = (*saved)->ReadAll();
    EXPECT_TRUE(all.ok()) << all.status();
    return all.ok() ? std::string(all->data.begin(), all->data.end()) : "";
  }

  TestFolder folder_;
  AnsweredChannel it_;
  ArrayReader reader_{&it_.channel, &it_.actor, &it_.runtime};
};

TEST_F(SaveArrayTest, AnArrayOfThisProcessIsOneBlock) {
  const std::string bytes = "abcdefgh";
  ArrayLocation array;
  array.dense = std::make_shared<const ArrayValue>(
      HostArray{ElementType::kF32, {2}, {bytes.begin(), bytes.end()}});
  array.type = std::make_shared<const ArrayType>(array.dense->type());
  EXPECT_TRUE(Save(array, "u").ok());
  EXPECT_THAT(folder_.List("u"), ElementsAre("block-0.npy", "index.json"));
  EXPECT_EQ(Saved("u"), bytes);
  // An array in files is copied block by block.
  array.dense =
      std::make_shared<const ArrayValue>(*SavedArray::Open(folder_ / "u"));
  EXPECT_TRUE(Save(array, "v").ok());
  EXPECT_EQ(Saved("v"), bytes);
}

TEST_F(SaveArrayTest, BlocksOfHostsAreFetchedOneByOne) {
  const std::vector<float> values = {3, 4};
  it_.on_message = [&](const proto::Control& message) {
    if (!message.has_fetch_request()) return;
    EXPECT_EQ(message.fetch_request().sources_size(), 1);
    it_.SendBlocks(message.fetch_request(), values);
  };
  EXPECT_TRUE(Save({std::make_shared<const ArrayType>(
                        ArrayType{ElementType::kF32, {2}}),
                    nullptr,
                    {9, RowsOn({2}, 2, {0, 1})}},
                   "u")
                  .ok());
  EXPECT_EQ(it_.Take(proto::Control::kFetchRequest).size(), 2u);
  EXPECT_THAT(folder_.List("u"),
              ElementsAre("block-0.npy", "block-1.npy", "index.json"));
  EXPECT_EQ(Saved("u"),
            std::string(reinterpret_cast<const char*>(values.data()), 8));
}

TEST_F(SaveArrayTest, NothingStaysAfterAnError) {
  it_.on_message = [&](const proto::Control& message) {
    if (!message.has_fetch_request()) return;
    it_.Answer(message.fetch_request().request(),
               absl::StatusCode::kUnavailable, "the host is gone");
  };
  EXPECT_EQ(
      Save(
          {std::make_shared<const ArrayType>(ArrayType{ElementType::kF32, {2}}),
           nullptr,
           {9, RowsOn({2}, 2, {0, 1})}},
          "u"),
      absl::UnavailableError("the host is gone"));
  EXPECT_THAT(folder_.List(), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
