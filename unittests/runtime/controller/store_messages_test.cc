//===- store_messages_test.cc - Messages to hosts' stores -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_messages.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreMessagesTest : public TablesTest {
 protected:
  // Returns the drops since the last call: "host: number: objects of launch".
  std::vector<std::string> Drops() {
    std::vector<std::string> texts;
    for (const testing::Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      if (!control.has_drop_objects()) continue;
      const proto::DropObjects& drop = control.drop_objects();
      std::string text = absl::StrCat(one.to == directory_.executor(0) ? 0 : 1,
                                      ": ", drop.sequence(), ":");
      for (uint64_t object : drop.objects()) {
        absl::StrAppend(&text, " ", NumberOf(object));
      }
      absl::StrAppend(&text, " of ", drop.launch());
      if (drop.answer()) absl::StrAppend(&text, " asks");
      texts.push_back(text);
    }
    return texts;
  }
  bool Dropped(uint32_t host, uint64_t sequence, uint64_t spilled = 0) {
    proto::ObjectsDropped dropped;
    dropped.set_host(host);
    dropped.set_sequence(sequence);
    dropped.set_spilled_bytes(spilled);
    return messages_.Take(dropped);
  }
};

TEST_F(StoreMessagesTest, EachHostIsToldOnceForEachLaunch) {
  std::vector<Drop> drops = {{.host = 1, .launch = 5, .object = 3},
                             {.host = 0, .launch = 5, .object = 3},
                             {.host = 1, .launch = 5, .object = 4},
                             {.host = 1, .launch = 2, .object = 1},
                             {.host = 0, .launch = 2}};
  messages_.SendDrops(&drops);
  EXPECT_THAT(drops, IsEmpty());
  EXPECT_THAT(Drops(), ElementsAre("0: 1: 3 of 5", "0: 2: of 2",
                                   "1: 1: 3 4 of 5", "1: 2: 1 of 2"));
}

TEST_F(StoreMessagesTest, AHostThatIsGoneIsNotTold) {
  AddArray(1, 1);
  ASSERT_TRUE(epochs_.Down(0, 1));
  messages_.ReleaseHeld({ClientId(1, 1)});
  EXPECT_THAT(Drops(), ElementsAre("1: 1: 1 of 0"));
  EXPECT_EQ(messages_.Send(0, 0, false, controls_.New()), 0u);
}

TEST_F(StoreMessagesTest, ADroppedArrayMayCompleteADrain) {
  AddArray(1, 1, {0});
  proto::DrainRequest drain;
  drain.set_request(3);
  drain.add_devices(0);
  drains_.Take(2, drain);
  Sent();
  messages_.ReleaseHeld({ClientId(1, 1)});
  EXPECT_THAT(Sent(), ElementsAre("drop_objects to host0", "client2 3: "));
}

TEST_F(StoreMessagesTest, ASettledRequestIsAnsweredWhenAllHostsHaveDropped) {
  messages_.Settle({1, 5});
  EXPECT_THAT(Sent(), ElementsAre("client1 5: "));
  AddArray(1, 1);
  messages_.ReleaseHeld({ClientId(1, 1)});
  Drops();
  messages_.Settle({1, 6});
  EXPECT_THAT(Drops(), ElementsAre("0: 2: of 0 asks", "1: 2: of 0 asks"));
  EXPECT_TRUE(Dropped(0, 2));
  EXPECT_THAT(Sent(), IsEmpty());
  messages_.HostGone(1);
  EXPECT_THAT(Sent(), ElementsAre("client1 6: "));
}

TEST_F(StoreMessagesTest, AHostIsAskedToSettleIfMemoryIsLeaving) {
  messages_.AskToSettle(0);
  EXPECT_THAT(Drops(), IsEmpty());
  AddArray(1, 1);
  messages_.ReleaseHeld({ClientId(1, 1)});
  Drops();
  messages_.AskToSettle(0);
  EXPECT_THAT(Drops(), ElementsAre("0: 2: of 0 asks"));
}

TEST_F(StoreMessagesTest, SpilledBytesAreThoseOfTheLastReport) {
  Dropped(1, 0, /*spilled=*/70);
  EXPECT_EQ(messages_.spilled(0), 0u);
  EXPECT_EQ(messages_.spilled(1), 70u);
  EXPECT_THAT(messages_.TakeMoved().Members(), ElementsAre(1));
  Dropped(1, 0, /*spilled=*/70);
  EXPECT_THAT(messages_.TakeMoved().Members(), IsEmpty());
  EXPECT_FALSE(Dropped(2, 0, /*spilled=*/5));  // there is no such host
  messages_.HostGone(1);
  EXPECT_EQ(messages_.spilled(1), 0u);
}

TEST_F(StoreMessagesTest, AMessageThatIsNotDoneIsSentAgainWithItsNumber) {
  const uint64_t launch = AddLaunch(1, 1, LoadProgram(1));
  ControlRef control = controls_.New();
  control->mutable_prepare_launch()->set_launch(launch);
  EXPECT_EQ(messages_.Send(1, launch, /*asks=*/true, std::move(control)), 1u);
  EXPECT_THAT(Sent(), ElementsAre("prepare_launch to host1"));
  std::vector<int32_t> silent;
  std::vector<std::string> again;
  for (int i = 0; i < 5 && silent.empty(); ++i) {
    world_.Advance(kTimeout / 4);
    silent = messages_.Tick(WaitSet());
    for (const std::string& text : Sent()) again.push_back(text);
  }
  EXPECT_THAT(silent, ElementsAre(1));
  EXPECT_THAT(again, ::testing::Each("prepare_launch to host1"));
  EXPECT_THAT(again, ::testing::Not(IsEmpty()));
  messages_.Answered(1, launch);
  world_.Advance(kTimeout);
  EXPECT_THAT(messages_.Tick(WaitSet()), IsEmpty());
  EXPECT_THAT(Sent(), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
