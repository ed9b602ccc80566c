//===- client_actor_test.cc - The address of a client ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client_actor.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways {
namespace {

std::string Answer(uint64_t request) {
  proto::Control control;
  control.mutable_answer()->set_request(request);
  return control.SerializeAsString();
}

class ClientActorTest : public ::testing::Test {
 protected:
  testing::RecordingWorld world_;
  ControlPool controls_;
  const Directory directory_{{0}, {{}}};
};

TEST_F(ClientActorTest, HasOneClientAtATime) {
  ClientActor actor(&world_, &directory_, &controls_, 3);
  EXPECT_EQ(actor.index(), 3u);
  EXPECT_TRUE(actor.Attach("ann"));
  EXPECT_FALSE(actor.Attach("ann"));
  actor.Detach(/*request=*/0);
  EXPECT_TRUE(actor.Attach("ann"));
}

TEST_F(ClientActorTest, IsFreeWhenTheControllerHasSaidSo) {
  ClientActor actor(&world_, &directory_, &controls_, 0);
  int heard = 0;
  EXPECT_TRUE(actor.Attach("ann"));
  actor.Listen([&](const proto::Control&) { ++heard; });
  actor.OnControl(directory_.controller(), Answer(8));
  actor.Detach(/*request=*/9);
  EXPECT_EQ(heard, 1);
  EXPECT_TRUE(actor.leaving());
  EXPECT_TRUE(actor.leaving("ann"));
  EXPECT_FALSE(actor.leaving("bo"));
  actor.OnControl(directory_.controller(), Answer(8));
  EXPECT_FALSE(actor.Attach("bo"));
  auto values = std::make_shared<std::string>("abcd");
  actor.transfers().AddUpload(1, 1, {values->data(), values},
                              testing::CopiesOn({1}, {0}), 1);
  actor.OnControl(directory_.controller(), Answer(9));
  EXPECT_EQ(values.use_count(), 1);  // no host asked for them
  EXPECT_EQ(heard, 1);
  EXPECT_FALSE(actor.leaving("ann"));
  EXPECT_TRUE(actor.Attach("ann"));
}

TEST_F(ClientActorTest, HearsTheControllerAlone) {
  ClientActor actor(&world_, &directory_, &controls_, 0);
  int heard = 0;
  EXPECT_TRUE(actor.Attach("ann"));
  actor.Listen([&](const proto::Control&) { ++heard; });
  actor.OnControl(directory_.executor(0), Answer(8));
  actor.OnControl(kNoActor, Answer(8));
  EXPECT_EQ(heard, 0);
  actor.OnControl(directory_.controller(), Answer(8));
  EXPECT_EQ(heard, 1);
  actor.Detach(0);
}

TEST_F(ClientActorTest, TellsTheTimeToItsClientAlone) {
  ClientActor actor(&world_, &directory_, &controls_, 0);
  int told = 0;
  EXPECT_TRUE(actor.Attach("ann"));
  actor.OnLocal(LocalMessage());
  actor.Listen([](const proto::Control&) {}, [&] { ++told; });
  actor.OnLocal(LocalMessage());
  EXPECT_EQ(told, 1);
  actor.Detach(0);
  actor.OnLocal(LocalMessage());
  EXPECT_EQ(told, 1);
}

TEST_F(ClientActorTest, PassesOnNothingThatIsNoMessage) {
  ClientActor actor(&world_, &directory_, &controls_, 0);
  int heard = 0;
  EXPECT_TRUE(actor.Attach("ann"));
  actor.Listen([&](const proto::Control&) { ++heard; });
  actor.OnControl(directory_.controller(), "no protocol buffer");
  EXPECT_EQ(heard, 0);
  actor.Detach(0);
}

}  // namespace
}  // namespace pathways
