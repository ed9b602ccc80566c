//===- client_requests_test.cc - What a client asks, in its order ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientRequestsTest : public ::testing::Test {
 protected:
  // The numbers of what is handled when the one of this number has come.
  std::vector<uint64_t> Take(uint64_t sequence) {
    std::vector<uint64_t> handled;
    ControlRef control = controls_.New();
    control->set_sequence(sequence);
    requests_.Take(std::move(control), [&](proto::Control* next) {
      handled.push_back(next->sequence());
    });
    return handled;
  }

  ControlPool controls_;
  ClientRequests requests_;
};

TEST_F(ClientRequestsTest, TakesThemByTheirNumbers) {
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(4), IsEmpty());
  EXPECT_THAT(Take(1), ElementsAre(1, 2));
  EXPECT_THAT(Take(3), ElementsAre(3, 4));
  EXPECT_THAT(Take(5), ElementsAre(5));
}

TEST_F(ClientRequestsTest, DropsSecondCopies) {
  EXPECT_THAT(Take(1), ElementsAre(1));
  EXPECT_THAT(Take(1), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_THAT(Take(2), ElementsAre(2, 3));
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
}

TEST(NameByIdsTest, NumbersBecomeIdsOfTheirClient) {
  proto::Control control;
  control.set_client(3);
  proto::LaunchRequest* launch = control.mutable_launch_request();
  launch->set_launch(1);
  launch->add_arguments()->set_object(2);
  launch->add_results()->set_object(0);
  ASSERT_TRUE(NameByIds(&control));
  EXPECT_EQ(launch->launch(), ClientId(3, 1));
  EXPECT_EQ(launch->arguments(0).object(), ClientId(3, 2));
  EXPECT_EQ(launch->results(0).object(), 0u);

  control.mutable_release_request()->add_objects(6);
  ASSERT_TRUE(NameByIds(&control));
  EXPECT_EQ(control.release_request().objects(0), ClientId(3, 6));
  control.mutable_fetch_request()->set_object(7);
  ASSERT_TRUE(NameByIds(&control));
  EXPECT_EQ(control.fetch_request().object(), ClientId(3, 7));
}

TEST(NameByIdsTest, ANumberOfAnotherClientIsRefused) {
  proto::Control control;
  control.mutable_release_request()->add_objects(1);
  control.mutable_release_request()->add_objects(ClientId(1, 1));
  EXPECT_FALSE(NameByIds(&control));
  control.mutable_fetch_request()->set_object(kMaxClientNumber);
  EXPECT_TRUE(NameByIds(&control));
  control.mutable_fetch_request()->set_object(kMaxClientNumber + 1);
  EXPECT_FALSE(NameByIds(&control));
}

}  // namespace
}  // namespace pathways
