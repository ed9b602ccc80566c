//===- launch_staging_test.cc - State of a host that launches find --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/launch_staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kClient = 3;

// Writes down what it is told. It has program 0 of incarnation 1, which echoes
// 8 bytes.
class FakeOwner final : public LaunchStaging::Owner {
 public:
  FakeOwner() {
    program_.plan = Prepare(EchoPlan(), MakeTopology("1x1x1"));
    program_.incarnation = 1;
    program_.argument_bytes = program_.result_bytes = {8};
  }

  std::vector<std::string> Take() { return std::exchange(told_, {}); }
  const HostProgram& program() const { return program_; }

  const HostProgram* FindProgram(uint32_t program,
                                 uint32_t incarnation) const override {
    return program == 0 && incarnation == 1 ? &program_ : nullptr;
  }
  void SendReady(uint64_t launch, const absl::Status& status) override {
    told_.push_back(absl::StrCat("ready ", launch, status.ok() ? "" : ": ",
                                 status.message()));
  }
  void SendStored(uint64_t sequence) override {
    told_.push_back(absl::StrCat("stored ", sequence));
  }
  void SendStoredSoon() override { told_.push_back("stored soon"); }
  void SendFetched(uint32_t client, uint64_t request,
                   uint64_t pieces) override {
    told_.push_back(absl::StrCat("fetched ", client, "/", request, ": ", pieces,
                                 " pieces"));
  }
  void SendToClient(uint32_t client, const WireMessage& message,
                    Payload payload) override {
    EXPECT_EQ(client, kClient);
    if (message.kind == kPullMessage) {
      told_.push_back(absl::StrCat("pull ", message.step));
    } else if (message.kind == kTransferDoneMessage) {
      told_.push_back(absl::StrCat("pulled ", message.step));
    } else if (message.flags & kPoisoned) {
      told_.push_back(absl::StrCat("no block of ", message.step));
    } else {
      told_.push_back(absl::StrCat(
          "block of ", message.step, ": ",
          std::string(static_cast<const char*>(payload.data), payload.bytes)));
    }
  }
  void OnFilled() override { told_.push_back("filled"); }
  void OnLent(uint32_t client, uint64_t request,
              const HostStore::Object& object) override {
    told_.push_back(absl::StrCat("lent ", client, "/", request, ": ",
                                 std::string(object.data(), object.bytes)));
    lent_.insert(request);
  }
  void OnLentEnd(uint32_t client, uint64_t request) override {
    if (lent_.erase(request) == 0) return;
    told_.push_back(absl::StrCat("lent no more ", client, "/", request));
  }

 private:
  HostProgram program_;
  std::set<uint64_t> lent_;
  std::vector<std::string> told_;
};

class LaunchStagingTest : public ::testing::Test {
 protected:
  // Returns what the owner is notified of when a message arrives.
  std::vector<std::string> Notify(const ControlRef& control) {
    was_new_ = staging_.Take(control);
    return owner_.Take();
  }
  // `fresh`: the client has the argument.
  ControlRef Stage(uint64_t launch, uint64_t argument, uint64_t result,
                   bool fresh = false, bool sure = false, uint64_t steps = 1) {
    ControlRef control = controls_.New();
    control->set_client(kClient);
    proto::PrepareLaunch* prepare = control->mutable_prepare_launch();
    prepare->set_sequence(++sequence_);
    prepare->set_launch(launch);
    prepare->set_incarnation(1);
    prepare->set_steps(steps);
    prepare->set_sure(sure);
    prepare->add_arguments(argument);
    prepare->add_results(result);
    if (fresh) prepare->add_fresh(argument);
    return control;
  }
  ControlRef Drop(std::vector<uint64_t> objects, uint64_t launch = 0,
                  uint64_t fetch = 0) {
    ControlRef control = controls_.New();
    control->set_client(kClient);
    proto::DropObjects* drop = control->mutable_drop_objects();
    drop->set_sequence(++sequence_);
    drop->set_launch(launch);
    drop->set_fetch(fetch);
    for (uint64_t object : objects) drop->add_objects(object);
    return control;
  }
  // Request 4.
  ControlRef Fetch(uint64_t object, uint32_t first = 0) {
    ControlRef control = controls_.New();
    control->set_client(kClient);
    proto::FetchBegin* fetch = control->mutable_fetch_begin();
    fetch->set_sequence(++sequence_);
    fetch->set_request(4);
    fetch->set_object(object);
    fetch->set_first_piece(first);
    return control;
  }
  std::vector<std::string> FromClient(WireKind kind, uint64_t transfer,
                                      const std::string& data = "") {
    WireMessage message;
    message.kind = kind;
    message.step = transfer;
    staging_.OnWire(kClient, message, {data.data(), data.size()});
    return owner_.Take();
  }
  // The client's values are here, as object 2, for launch 1.
  void StoreArgument() {
    Notify(Stage(1, 2, 3, /*fresh=*/true));
    EXPECT_THAT(FromClient(kBlockMessage, 2, "abcdefgh"),
                ElementsAre("pulled 2", "ready 1"));
  }
  // Null: there are none.
  std::unique_ptr<HostValues> TakeValues(uint64_t launch, uint64_t steps = 1) {
    proto::Grant grant;
    grant.set_incarnation(1);
    grant.set_launch(launch);
    grant.set_launch_steps(steps);
    auto values = std::make_unique<HostValues>();
    if (!staging_.TakeValues(grant, values.get())) {
      return nullptr;
    }
    return values;
  }

  ControlPool controls_;
  FakeOwner owner_;
  Arena arena_{"host memory of host0", 1 << 20, /*backed=*/true};
  LaunchStaging staging_{&owner_, &arena_, "host0"};
  uint64_t sequence_ = 0;
  bool was_new_ = false;
};

TEST_F(LaunchStagingTest, AsksTheClientAndIsReadyWhenAllIsThere) {
  EXPECT_THAT(Notify(Stage(1, 2, 3, /*fresh=*/true)), ElementsAre("pull 2"));
  EXPECT_EQ(TakeValues(1), nullptr);
  EXPECT_THAT(FromClient(kBlockMessage, 2, "abcdefgh"),
              ElementsAre("pulled 2", "ready 1"));
  EXPECT_EQ(staging_.bytes_stored(), 8u);
  const std::unique_ptr<HostValues> values = TakeValues(1);
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(std::string(values->arguments[0]->data(), 8), "abcdefgh");
  EXPECT_FALSE(values->results[0].object->filled);
  EXPECT_EQ(TakeValues(1), nullptr);  // once
}

TEST_F(LaunchStagingTest, ALaunchThatUsesWhatIsOnItsWayWaitsForIt) {
  Notify(Stage(1, 2, 3, /*fresh=*/true));
  EXPECT_THAT(Notify(Stage(2, 2, 4)), IsEmpty());
  EXPECT_THAT(FromClient(kBlockMessage, 2, "abcdefgh"),
              ElementsAre("pulled 2", "ready 1", "ready 2"));
}

TEST_F(LaunchStagingTest, AResultThatIsNotFilledIsAnArgument) {
  StoreArgument();
  EXPECT_THAT(Notify(Stage(2, 3, 4)), ElementsAre("ready 2"));
  const std::unique_ptr<HostValues> first = TakeValues(1);
  const std::unique_ptr<HostValues> second = TakeValues(2);
  EXPECT_FALSE(second->arguments[0]->filled);
  first->Fill(/*failed=*/false);
  EXPECT_TRUE(second->arguments[0]->filled);
  EXPECT_FALSE(second->arguments[0]->poisoned);
}

TEST_F(LaunchStagingTest, WhatNobodyHasIsPoisonedAndTakesNoMemory) {
  for (bool sure : {false, true}) {
    const uint64_t launch = sure ? 2 : 1, argument = 10 * launch;
    ControlRef stage = Stage(launch, argument, argument + 1, false, sure);
    stage->mutable_prepare_launch()->add_poisoned(argument);
    EXPECT_THAT(Notify(stage), ElementsAre(sure ? "stored soon" : "ready 1"));
    const uint64_t used = arena_.used();
    const std::unique_ptr<HostValues> values = TakeValues(launch);
    ASSERT_NE(values, nullptr);
    EXPECT_TRUE(values->arguments[0]->filled);
    EXPECT_TRUE(values->arguments[0]->poisoned);
    EXPECT_EQ(values->arguments[0]->bytes, 8u);
    EXPECT_EQ(used, 8 * launch);  // of results
    Notify(Drop({argument}));
    EXPECT_EQ(arena_.used(), used);
  }
}

TEST_F(LaunchStagingTest, WhatClientsDoNotHaveRefusesTheLaunch) {
  Notify(Stage(1, 2, 3, /*fresh=*/true));
  EXPECT_THAT(FromClient(kBlockMessage, 2, "short"),
              ElementsAre("pulled 2",
                          "ready 1: a piece of an array has 5 bytes, "
                          "expected 8"));
  // Blocks that were not requested are ignored, too.
  EXPECT_THAT(FromClient(kBlockMessage, 7, "abcdefgh"), IsEmpty());
}

TEST_F(LaunchStagingTest, AnswersASecondCopyAgain) {
  const ControlRef stage = Stage(1, 2, 3, /*fresh=*/true);
  Notify(stage);
  EXPECT_THAT(Notify(stage), ElementsAre("stored 1", "pull 2"));
  EXPECT_FALSE(was_new_);
  FromClient(kBlockMessage, 2, "abcdefgh");
  EXPECT_THAT(Notify(stage), ElementsAre("stored 1", "ready 1"));
  const ControlRef refused = Stage(2, 0, 4);
  const std::vector<std::string> why = Notify(refused);
  EXPECT_THAT(why, ElementsAre("ready 2: argument 'u' of program 'p' has 0 "
                               "bytes on host0, expected 8"));
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Notify(refused), ElementsAre("stored 2", why[0]));
}

TEST_F(LaunchStagingTest, GoesByTheNumbers) {
  const ControlRef first = Stage(1, 2, 3, /*fresh=*/true);
  EXPECT_THAT(Notify(Drop({2, 3}, /*launch=*/1)),
              IsEmpty());  // before the first
  EXPECT_TRUE(was_new_);
  EXPECT_EQ(staging_.last(), 0u);
  EXPECT_THAT(Notify(first), ElementsAre("pull 2", "pulled 2"));
  EXPECT_EQ(staging_.last(), 2u);
  EXPECT_EQ(arena_.used(), 0u);
  // A late copy brings nothing back.
  EXPECT_THAT(Notify(first), ElementsAre("stored 2"));
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_THAT(FromClient(kBlockMessage, 2, "abcdefgh"), IsEmpty());
}

TEST_F(LaunchStagingTest, RefusesALaunchThatIsNotOfTheProgram) {
  StoreArgument();
  ControlRef more = Stage(2, 2, 4);
  more->mutable_prepare_launch()->add_results(5);
  EXPECT_THAT(
      Notify(more),
      ElementsAre("ready 2: a launch has other arguments than its program"));
  EXPECT_THAT(Notify(Stage(3, 2, 4, /*fresh=*/false, /*sure=*/false,
                           /*steps=*/0)),
              ElementsAre("ready 3: a launch of 0 steps, expected 1 to "
                          "1099511627776"));
  for (bool fresh : {false, true}) {  // the client would be asked for it
    ControlRef other = Stage(4, 8, 9, fresh);
    other->mutable_prepare_launch()->set_incarnation(2);
    EXPECT_THAT(Notify(other),
                ElementsAre("ready 4: the program is not loaded"));
  }
  EXPECT_THAT(Notify(Stage(5, 2, 4)), ElementsAre("ready 5"));
}

TEST_F(LaunchStagingTest, RefusesWhatHasNoRoom) {
  StoreArgument();
  absl::StatusOr<Arena::Segment> rest =
      arena_.Charge(arena_.bound() - arena_.used() - 7, "the rest");
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(Notify(Stage(2, 2, 4)),
              ElementsAre("ready 2: result 'z' of program 'p' needs 8 bytes of "
                          "host memory of host0, where 1048569 of 1048576 "
                          "bytes are used [PW3102]"));
  *rest = Arena::Segment();
  EXPECT_THAT(Notify(Stage(3, 2, 4)), ElementsAre("ready 3"));
}

TEST_F(LaunchStagingTest, AnswersASureLaunchOnlyWhenItCannotBe) {
  StoreArgument();
  EXPECT_THAT(Notify(Stage(2, 2, 4, /*fresh=*/false, /*sure=*/true)),
              ElementsAre("stored soon"));
  EXPECT_THAT(
      Notify(Stage(3, 99, 5, /*fresh=*/false, /*sure=*/true)),
      ElementsAre("ready 3: a launch was granted before its arguments came"));
  EXPECT_NE(TakeValues(2), nullptr);
  EXPECT_EQ(TakeValues(3), nullptr);
}

TEST_F(LaunchStagingTest, AGrantOfOtherStepsTakesNothing) {
  StoreArgument();
  EXPECT_EQ(TakeValues(1, /*steps=*/2), nullptr);
  EXPECT_EQ(TakeValues(9), nullptr);
  EXPECT_NE(TakeValues(1), nullptr);
}

TEST_F(LaunchStagingTest, ALaunchThatIsDroppedPoisonsItsResults) {
  StoreArgument();
  Notify(Stage(2, 3, 4));
  EXPECT_THAT(Notify(Drop({}, /*launch=*/1)), ElementsAre("filled"));
  EXPECT_EQ(TakeValues(1), nullptr);
  const std::unique_ptr<HostValues> values = TakeValues(2);
  EXPECT_TRUE(values->arguments[0]->filled);
  EXPECT_TRUE(values->arguments[0]->poisoned);
}

TEST_F(LaunchStagingTest, DroppedObjectsGiveTheirMemoryBack) {
  Notify(Stage(1, 2, 3, /*fresh=*/true));
  EXPECT_EQ(arena_.used(), 8u);
  ControlRef drop = Drop({2}, /*launch=*/1);
  drop->mutable_drop_objects()->set_answer(true);
  // The client hears that it is asked no more, and what it still sends is not
  // read.
  EXPECT_THAT(Notify(drop), ElementsAre("pulled 2", "stored 2"));
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_THAT(FromClient(kBlockMessage, 2, "abcdefgh"), IsEmpty());
}

TEST_F(LaunchStagingTest, AFetchOfWhatIsNotThereSaysSo) {
  StoreArgument();
  EXPECT_THAT(Notify(Fetch(2)), ElementsAre("block of 4: abcdefgh"));
  EXPECT_THAT(Notify(Fetch(2, 1)), ElementsAre("no block of 4"));
  EXPECT_THAT(Notify(Fetch(2, UINT32_MAX)), ElementsAre("no block of 4"));
  EXPECT_THAT(Notify(Fetch(9)), ElementsAre("no block of 4"));
}

TEST_F(LaunchStagingTest, WhatIsLentIsKeptUntilTheFetchIsOver) {
  StoreArgument();
  ControlRef begin = Fetch(2);
  EXPECT_THAT(Notify(begin), ElementsAre("block of 4: abcdefgh"));
  EXPECT_THAT(Notify(Drop({2, 3}, /*launch=*/1)), ElementsAre("filled"));
  EXPECT_EQ(arena_.used(), 8u);
  EXPECT_THAT(FromClient(kPullMessage, 4), ElementsAre("block of 4: abcdefgh"));
  // Asked again how far it is.
  begin->mutable_fetch_begin()->set_sequence(0);
  EXPECT_THAT(Notify(begin),
              ElementsAre("block of 4: abcdefgh", "fetched 3/4: 1 pieces"));
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Notify(Drop({}, /*launch=*/0, /*fetch=*/4)), IsEmpty());
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_THAT(Notify(begin), ElementsAre("fetched 3/4: 0 pieces"));
}

TEST_F(LaunchStagingTest, ALentObjectIsReadInPlaceUntilTheFetchIsOver) {
  StoreArgument();
  ControlRef begin = Fetch(2);
  begin->mutable_fetch_begin()->set_views(true);
  EXPECT_THAT(Notify(begin),
              ElementsAre("lent 3/4: abcdefgh", "block of 4: abcdefgh"));
  EXPECT_THAT(Notify(Drop({}, /*launch=*/0, /*fetch=*/4)),
              ElementsAre("lent no more 3/4"));
}

// A host with memory for four arrays of eight bytes, of which launch n has
// array 10 n, that the client sends, and makes 10 n + 1.
class SpillingStagingTest : public LaunchStagingTest {
 protected:
  SpillingStagingTest() {
    arena_.Bound(4 * 8);
    staging_.StartSpilling(
        std::make_unique<MemoryDisk>("disk"),
        {.folder = "disk", .bytes = 1000, .begin = 1, .end = 1},
        [this](uint64_t, std::function<void()> work) {
          EXPECT_EQ(work_, nullptr);
          work_ = std::move(work);
        });
  }
  // Returns the notifications when all has been written and read.
  std::vector<std::string> Work() {
    while (work_ != nullptr) {
      std::exchange(work_, nullptr)();
      staging_.OnSpillDone();
    }
    return owner_.Take();
  }
  std::vector<std::string> NotifyFresh(uint64_t launch) {
    Notify(Stage(launch, 10 * launch, 10 * launch + 1, /*fresh=*/true));
    Work();
    return FromClient(kBlockMessage, 10 * launch, "abcdefg" + Digit(launch));
  }
  static std::string Digit(uint64_t launch) { return absl::StrCat(launch); }
  // It ends; its arrays stay.
  void End(std::unique_ptr<HostValues> values) {
    values->Fill(/*failed=*/false);
    values.reset();
    if (staging_.waits()) staging_.Proceed();
  }

  std::function<void()> work_;
};

TEST_F(SpillingStagingTest, WhatNobodyUsesMakesRoomAndComesBack) {
  for (uint64_t launch = 1; launch <= 5; ++launch) {
    const std::string ready = absl::StrCat("ready ", launch);
    EXPECT_THAT(NotifyFresh(launch),
                ElementsAre(absl::StrCat("pulled ", 10 * launch), ready));
    End(TakeValues(launch));
  }
  // All five share a file, or two.
  EXPECT_GE(staging_.spilled_bytes(), 6 * 8u);
  EXPECT_LE(arena_.used(), 4 * 8u);
  EXPECT_THAT(Notify(Stage(6, 10, 61)), IsEmpty());
  EXPECT_EQ(staging_.last(), 5u);
  EXPECT_THAT(Work(), ElementsAre("ready 6"));
  EXPECT_EQ(staging_.last(), 6u);
  EXPECT_EQ(std::string(TakeValues(6)->arguments[0]->data(), 8), "abcdefg1");
  EXPECT_THAT(Notify(Fetch(20)), IsEmpty());
  EXPECT_THAT(Work(), ElementsAre("block of 4: abcdefg2"));
}

TEST_F(SpillingStagingTest, WhatOthersUseIsWaitedForInOrder) {
  NotifyFresh(1);
  NotifyFresh(2);
  std::unique_ptr<HostValues> first = TakeValues(1), second = TakeValues(2);
  EXPECT_THAT(Notify(Stage(3, 30, 31, /*fresh=*/true)), IsEmpty());
  // It would have room, but is not the next.
  EXPECT_THAT(Notify(Fetch(10)), IsEmpty());
  EXPECT_EQ(staging_.last(), 2u);
  End(std::move(first));
  EXPECT_THAT(Work(), ElementsAre("pull 30"));
  EXPECT_EQ(staging_.last(), 3u);
  // The fetch waits for what has left.
  End(std::move(second));
  EXPECT_THAT(Work(), ElementsAre("block of 4: abcdefg1"));
  EXPECT_THAT(FromClient(kBlockMessage, 30, "abcdefg3"),
              ElementsAre("pulled 30", "ready 3"));
}

TEST_F(SpillingStagingTest, DropsAreDoneAtOnce) {
  NotifyFresh(1);
  NotifyFresh(2);
  std::unique_ptr<HostValues> first = TakeValues(1), second = TakeValues(2);
  End(std::move(first));
  EXPECT_THAT(Notify(Fetch(10)), ElementsAre("block of 4: abcdefg1"));
  // Waits for the fetch or the second launch, and its own end comes first.
  EXPECT_THAT(Notify(Stage(3, 30, 31, /*fresh=*/true)), IsEmpty());
  EXPECT_THAT(Work(), IsEmpty());
  EXPECT_THAT(Notify(Stage(4, 20, 41)), IsEmpty());
  EXPECT_EQ(staging_.last(), 3u);
  EXPECT_THAT(Notify(Drop({30, 31}, /*launch=*/3)), ElementsAre("ready 4"));
  EXPECT_EQ(staging_.last(), 6u);
  EXPECT_THAT(Notify(Drop({10, 11}, /*launch=*/0, /*fetch=*/4)), IsEmpty());
}

TEST_F(SpillingStagingTest, WhatCannotBeIsRefused) {
  NotifyFresh(1);
  const std::unique_ptr<HostValues> values = TakeValues(1);
  EXPECT_THAT(
      Notify(Stage(2, 20, 21, /*fresh=*/true, /*sure=*/false, /*steps=*/1)),
      ElementsAre("pull 20"));
  arena_.Bound(3 * 8);
  EXPECT_THAT(Notify(Stage(3, 30, 31, /*fresh=*/true)), IsEmpty());
  arena_.Bound(8);
  staging_.Proceed();
  EXPECT_THAT(
      owner_.Take(),
      ElementsAre("pulled 30", ::testing::StartsWith("ready 3: argument")));
}

// An argument would have room alone, but not beside the result.
TEST_F(SpillingStagingTest, WhatCannotComeBackSaysOfWhichHost) {
  for (uint64_t launch : {1, 2, 3}) {
    NotifyFresh(launch);
    End(TakeValues(launch));
  }
  arena_.Bound(0);
  staging_.Proceed();
  Work();
  EXPECT_EQ(staging_.spilled_bytes(), 6 * 8u);
  arena_.Bound(12);
  EXPECT_THAT(Notify(Stage(4, 10, 41)),
              ElementsAre("ready 4: argument 'u' of program 'p' needs 8 bytes "
                          "of host memory of host0 in addition to what the "
                          "launch already needs there, where 0 of 12 bytes "
                          "are used [PW3102]"));
}

// Room for what is no array.
TEST_F(SpillingStagingTest, OthersTakeTheirTurn) {
  NotifyFresh(1);
  NotifyFresh(2);
  std::unique_ptr<HostValues> first = TakeValues(1), second = TakeValues(2);
  std::vector<bool> attempts;
  Arena::Segment taken;
  staging_.AwaitRoom(8, [&](bool is_last) -> uint64_t {
    attempts.push_back(is_last);
    absl::StatusOr<Arena::Segment> segment = arena_.Take(16, "a program");
    if (!segment.ok()) return 16;
    taken = *std::move(segment);
    return 0;
  });
  EXPECT_THAT(attempts, IsEmpty());
  End(std::move(first));
  Work();
  EXPECT_THAT(attempts, ElementsAre(false));
  EXPECT_EQ(taken.bytes(), 16u);
  // Never: the last attempt says so.
  staging_.AwaitRoom(24, [&](bool is_last) -> uint64_t {
    attempts.push_back(is_last);
    return is_last ? 0 : 24;
  });
  EXPECT_THAT(attempts, ElementsAre(false, false, true));
}

// Pieces have sizes and no bytes where the host's memory has none.
TEST(LaunchStagingWithoutValuesTest, PiecesOfNothingFillAnObject) {
  Arena arena("host", 1 << 20, /*backed=*/false);
  HostStore store(&arena);
  const HostStore::Ref object = store.Expect(7, 12, "an argument");
  HostTransfers transfers;
  const HostTransfers::Sender ignore = [](uint32_t, const WireMessage&,
                                          Payload) {};
  transfers.Pull(/*client=*/3, object, ignore);
  const WireMessage piece = TransferMessage(kBlockMessage, 7, {0, 0});
  EXPECT_FALSE(transfers.OnBlock(3, piece, {nullptr, 11}, ignore) &&
               object->status.ok());
  EXPECT_FALSE(object->status.ok());  // it has 12

  const HostStore::Ref other = store.Expect(8, 12, "an argument");
  transfers.Pull(/*client=*/3, other, ignore);
  EXPECT_TRUE(transfers.OnBlock(3, TransferMessage(kBlockMessage, 8, {0, 0}),
                                {nullptr, 12}, ignore));
  EXPECT_TRUE(other->complete());
  Payload lent;
  transfers.Lend(
      /*client=*/3, /*request=*/1, other, absl::OkStatus(), /*first=*/0,
      [&](uint32_t, const WireMessage&, Payload payload) { lent = payload; });
  EXPECT_EQ(lent.data, nullptr);
  EXPECT_EQ(lent.bytes, 12u);
}

}  // namespace
}  // namespace pathways::testing
