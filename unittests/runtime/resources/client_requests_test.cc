//===- client_requests_test.cc - Requests of clients ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/client_requests.h"

#include <gtest/gtest.h>

#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

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
