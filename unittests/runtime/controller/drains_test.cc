//===- drains_test.cc - Drains of devices ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/drains.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/protocol/client_id.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two hosts with one device each. Client 1 drains; client 2 has things there.
class DrainsTest : public ::testing::Test {
 protected:
  DrainsTest() {
    std::vector<ClientAnswer> answers;
    clients_.Connect({1, 1}, "ann", {}, &answers);
    clients_.Connect({2, 1}, "bob", {}, &answers);
  }

  // Returns the messages since the last call, each as "client: text".
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      EXPECT_EQ(one.to, directory_.client(control.client()));
      std::string text = control.answer().message();
      if (control.has_answer() && control.answer().code() == 0) text = "OK";
      for (uint32_t device : control.answer().devices()) {
        absl::StrAppend(&text, " device ", device);
      }
      for (uint64_t program : control.drain_seen().programs()) {
        absl::StrAppend(&text, "sees program ", program, " ");
      }
      if (control.drain_seen().arrays()) absl::StrAppend(&text, "sees arrays");
      texts.push_back(absl::StrCat(control.client(), ": ", text));
    }
    return texts;
  }
  bool Take(std::vector<uint32_t> devices, bool undo = false,
            uint64_t wait_ns = UINT64_MAX) {
    proto::DrainRequest drain;
    drain.set_request(7);
    for (uint32_t device : devices) drain.add_devices(device);
    drain.set_undo(undo);
    if (wait_ns != UINT64_MAX) drain.set_wait_ns(wait_ns);
    return drains_.Take(1, drain);
  }
  void AddArray(uint64_t id, uint32_t host) {
    const std::vector<uint32_t> hosts = {host};
    const std::vector<uint64_t> bytes = {8};
    objects_.Add(ClientId(2, id), hosts, bytes, /*held=*/true, /*filling=*/0,
                 /*arriving=*/false);
  }
  // Returns the handle of a program of client 2 on both devices.
  uint64_t LoadProgram() {
    const auto next = programs_.Load(0, Prepare(MovePlan("p", 2), topology_),
                                     PlanName(), "bob", {2, 2});
    EXPECT_TRUE(next.ok()) << next.status();
    return programs_.Find(next->program)->incarnation;
  }

  const Topology topology_ = MakeTopology("1x2x1");
  const Directory directory_{{0}, {{}, {}}};
  RecordingWorld world_;
  ControlPool controls_;
  HostEpochs epochs_{directory_};
  ObjectTable objects_;
  ClientTable clients_;
  ProgramTable programs_{topology_, /*timeout_ns=*/100};
  Outbox outbox_{&world_, &directory_, &controls_, &epochs_};
  TickTimer timer_;
  HandlerClock clock_{&world_, &timer_};
  Drains drains_{topology_,  epochs_,  objects_, clients_,
                 &programs_, &outbox_, &clock_};
};

TEST_F(DrainsTest, ADrainOfFreeDevicesIsAnsweredAtOnce) {
  EXPECT_TRUE(Take({1}));
  EXPECT_THAT(Texts(), ElementsAre("1: OK"));
  EXPECT_TRUE(drains_.empty());
  drains_.AnswerAway({1, 8});
  EXPECT_THAT(Texts(), ElementsAre("1: OK device 1"));
}

TEST_F(DrainsTest, ADeviceThatDoesNotExistIsRefused) {
  EXPECT_FALSE(Take({1, 2}));
  EXPECT_THAT(Texts(), ElementsAre("1: cannot drain device 2: the cluster has "
                                   "2 devices"));
  EXPECT_THAT(programs_.admission().AwayDevices(), IsEmpty());
}

TEST_F(DrainsTest, ADrainWaitsForTheArraysOfItsHosts) {
  AddArray(1, /*host=*/1);
  EXPECT_TRUE(Take({1}));
  EXPECT_THAT(Texts(), ElementsAre("2: sees arrays"));
  EXPECT_FALSE(drains_.empty());
  std::vector<Drop> drops;
  const std::vector<uint64_t> ids = {ClientId(2, 1)};
  objects_.ReleaseHeld(ids, &drops);
  drains_.AnswerComplete();
  EXPECT_THAT(Texts(), ElementsAre("1: OK"));
  EXPECT_TRUE(drains_.empty());
}

TEST_F(DrainsTest, AHostThatIsGoneHoldsNoArrays) {
  AddArray(1, /*host=*/1);
  Take({1});
  Texts();
  ASSERT_TRUE(epochs_.Down(1, 1));
  drains_.AnswerComplete();
  EXPECT_THAT(Texts(), ElementsAre("1: OK"));
}

TEST_F(DrainsTest, ADrainThatIsLateNamesWhatIsLeft) {
  const uint64_t handle = LoadProgram();
  AddArray(1, /*host=*/0);
  EXPECT_TRUE(Take({0}, /*undo=*/false, /*wait_ns=*/10));
  // One message has both.
  EXPECT_THAT(Texts(), ElementsAre(absl::StrCat("2: sees program ", handle,
                                                " sees arrays")));
  EXPECT_EQ(drains_.NextDeadline(), 10);
  world_.Advance(9);
  drains_.Expire();
  EXPECT_THAT(Texts(), IsEmpty());
  world_.Advance(1);
  drains_.Expire();
  EXPECT_THAT(Texts(),
              ElementsAre("1: the drained devices are still used by program "
                          "'p' of client 'bob', arrays of client 'bob' "
                          "[PW4104]"));
  EXPECT_EQ(drains_.NextDeadline(), kNoDeadline);
}

TEST_F(DrainsTest, ADrainOfADeviceInUseAgainIsCancelled) {
  AddArray(1, /*host=*/0);
  AddArray(2, /*host=*/1);
  Take({0});
  Take({1});
  Texts();
  EXPECT_TRUE(Take({1}, /*undo=*/true));
  EXPECT_THAT(
      Texts(),
      ElementsAre("1: island0/host1/device0 is no longer drained", "1: OK"));
  EXPECT_FALSE(drains_.empty());
  drains_.Leave(1);
  EXPECT_TRUE(drains_.empty());
  EXPECT_THAT(Texts(), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
