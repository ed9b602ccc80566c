//===- grant_sender_test.cc - Grants on their way to islands --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/grant_sender.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GrantSenderTest : public TablesTest {
 protected:
  proto::Start SendLast(bool skip = false) {
    world_.Take();
    sender_.Send(*grants_.Find(grants_.FindLaunch(launch_)->tickets.back()),
                 skip);
    const std::vector<testing::Sent> sent = world_.Take();
    EXPECT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].to, directory_.scheduler(0));
    return sent[0].As<proto::Control>().start();
  }

  uint64_t launch_ = 0;
};

TEST_F(GrantSenderTest, TheFirstGrantSaysWhatHostsMustHaveDone) {
  const uint32_t p = LoadProgram(1);
  launch_ = AddLaunch(1, 1, p);
  SendStore(0, ClientId(1, 7), /*asks=*/false);
  SendStore(0, launch_, /*asks=*/false);
  SendStore(1, launch_, /*asks=*/false);
  Begin(launch_);
  const proto::Start start = SendLast();
  EXPECT_EQ(start.program(), p);
  EXPECT_EQ(start.incarnation(), programs_.Find(p)->incarnation);
  EXPECT_EQ(start.launch(), launch_);
  EXPECT_EQ(start.previous_ticket(), 0u);
  EXPECT_EQ(start.first(), 0u);
  EXPECT_EQ(start.steps(), 1u);
  EXPECT_EQ(start.launch_steps(), 1u);
  EXPECT_FALSE(start.skip());
  EXPECT_THAT(start.hosts(), ElementsAre(0, 1));
  EXPECT_THAT(start.stores(), ElementsAre(2, 1));
  EXPECT_THAT(start.restarts(), IsEmpty());
}

TEST_F(GrantSenderTest, AHostThatWasReplacedIsNamedWithItsEpoch) {
  launch_ = AddLaunch(1, 1, LoadProgram(1));
  Begin(launch_);
  ASSERT_TRUE(epochs_.Down(1, 1));
  ASSERT_TRUE(epochs_.Up(1, 3));
  const proto::Start start = SendLast(/*skip=*/true);
  EXPECT_TRUE(start.skip());
  EXPECT_THAT(start.restarts(), ElementsAre(0, 2));
}

}  // namespace
}  // namespace pathways::testing
