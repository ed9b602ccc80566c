//===- object_table_test.cc - Holders and owners of arrays ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/object_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObjectTableTest : public ::testing::Test {
 protected:
  // "host:launch:object bytes", and forgets them.
  std::vector<std::string> Drops() {
    std::vector<std::string> text;
    for (const Drop& d : drops_) {
      text.push_back(
          absl::StrCat(d.host, ":", d.launch, ":", d.object, " ", d.bytes));
    }
    drops_.clear();
    return text;
  }

  ObjectTable objects_;
  std::vector<Drop> drops_;
};

TEST_F(ObjectTableTest, HostsAreToldWhenNobodyRefersToIt) {
  objects_.Add(5, {1, 3}, {10, 30}, /*held=*/true, /*filling=*/0,
               /*arriving=*/false);
  objects_.Refer(5);
  objects_.Release({5}, /*launch=*/9, &drops_);
  EXPECT_THAT(Drops(), IsEmpty());
  objects_.Release({5}, /*launch=*/9, &drops_);
  EXPECT_THAT(Drops(), ElementsAre("1:9:5 10", "3:9:5 30"));
  EXPECT_EQ(objects_.size(), 0u);
  // A second time, and one that never was.
  objects_.Release({5, 6}, /*launch=*/0, &drops_);
  EXPECT_THAT(Drops(), IsEmpty());
}

// The hosts that are left are told as ever; who uses it hears why it is lost.
TEST_F(ObjectTableTest, WhatAHostHeldIsLostWithIt) {
  objects_.Add(5, {1, 3}, {10, 30}, 1, /*filling=*/0, /*arriving=*/false);
  objects_.Add(6, {3}, {30}, 1, /*filling=*/0, /*arriving=*/false);
  objects_.Add(7, {1, 3}, {10, 30}, 1, /*filling=*/9, /*arriving=*/false);
  objects_.Settle(7, absl::InternalError("poisoned"), /*missing=*/false);
  objects_.Add(8, {1}, {10}, 1, /*filling=*/9, /*arriving=*/false);
  objects_.HostGone(1, absl::UnavailableError("host1 is gone"));
  objects_.HostGone(2, absl::UnavailableError("host2 is gone"));
  EXPECT_EQ(objects_.FirstFailure({5}, /*missing_only=*/true).message(),
            "host1 is gone");
  EXPECT_TRUE(objects_.FirstFailure({6}, /*missing_only=*/false).ok());
  EXPECT_EQ(objects_.FirstFailure({7}, true).message(), "poisoned");
  // A launch that ends well fills nothing that is lost.
  objects_.Settle(8, absl::OkStatus(), /*missing=*/false);
  EXPECT_EQ(objects_.FirstFailure({8}, true).message(), "host1 is gone");
  EXPECT_TRUE(objects_.Find(8)->lost);
  EXPECT_FALSE(objects_.Find(6)->lost);
  objects_.Release({5, 7, 8}, /*launch=*/0, &drops_);
  EXPECT_THAT(Drops(), ElementsAre("3:0:5 30", "3:0:7 30"));
}

TEST_F(ObjectTableTest, OneArrayMayBeNamedTwice) {
  objects_.Add(5, {0}, {1}, /*held=*/false, /*filling=*/0,
               /*arriving=*/false);
  objects_.Refer(5);
  objects_.Refer(5);
  objects_.Release({5, 5}, /*launch=*/1, &drops_);
  EXPECT_THAT(Drops(), ElementsAre("0:1:5 1"));
}

TEST_F(ObjectTableTest, SaysWhoFillsItAndWithWhat) {
  objects_.Add(1, {0}, {1}, 1, /*filling=*/7, /*arriving=*/false);
  objects_.Add(2, {0}, {1}, 1, /*filling=*/7, /*arriving=*/false);
  EXPECT_EQ(objects_.Find(1)->filling, 7u);
  objects_.Settle(1, absl::OkStatus(), /*missing=*/false);
  objects_.Settle(2, absl::InternalError("broke"), /*missing=*/false);
  objects_.Settle(3, absl::InternalError("nobody"), /*missing=*/false);
  EXPECT_EQ(objects_.Find(1)->filling, 0u);
  EXPECT_TRUE(objects_.FirstFailure({1}, /*missing_only=*/false).ok());
  EXPECT_EQ(objects_.FirstFailure({1, 2}, false).message(), "broke");
  EXPECT_TRUE(objects_.FirstFailure({1, 2}, /*missing_only=*/true).ok());
}

TEST_F(ObjectTableTest, ThoseThatAreMissingComeFirstWhereAskedFor) {
  objects_.Add(1, {0}, {1}, 1, /*filling=*/7, /*arriving=*/false);
  objects_.Settle(1, absl::InternalError("poisoned"), /*missing=*/false);
  objects_.AddMissing(2, absl::UnavailableError("refused"));
  EXPECT_EQ(objects_.FirstFailure({0, 1, 2}, true).message(), "refused");
  EXPECT_EQ(objects_.FirstFailure({0, 1, 2}, false).message(), "poisoned");
  objects_.Release({2}, 0, &drops_);
  EXPECT_THAT(Drops(), IsEmpty());  // no host holds it
  EXPECT_EQ(objects_.Find(2), nullptr);
}

}  // namespace
}  // namespace pathways
