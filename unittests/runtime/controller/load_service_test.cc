//===- load_service_test.cc - Loads of programs, and their memory ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_service.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LoadServiceTest : public TablesTest {
 protected:
  LoadQueue::Load Make(uint32_t client, uint64_t request,
                       std::vector<std::string> names = {"p"}) {
    LoadQueue::Load load{{client, request}, {}};
    for (const std::string& name : names) {
      load.programs.push_back(
          {{}, Prepare(MovePlan(name, 2), topology_, /*placed=*/true)});
    }
    load.since = world_.Now();
    return load;
  }
  // Program `id` was loaded by a host, or refused.
  void Reply(uint32_t id, uint32_t host, absl::Status status = absl::OkStatus(),
             uint64_t bytes = 0) {
    proto::LoadReply reply;
    reply.set_program(id);
    reply.set_incarnation(programs_.Find(id)->incarnation);
    reply.set_host(host);
    reply.set_code(static_cast<int>(status.code()));
    reply.set_message(std::string(status.message()));
    reply.set_memory_bytes(bytes);
    load_service_.Take(reply);
  }
  // Both hosts have stopped the program, or freed it.
  template <typename Message>
  void Answer(uint32_t id) {
    Message reply;
    reply.set_program(id);
    reply.set_incarnation(programs_.Find(id)->incarnation);
    for (uint32_t host : {0, 1}) {
      reply.set_host(host);
      load_service_.Take(reply);
    }
  }
  // Takes all memory of the devices for a slice of client 2.
  void TakeDevices() {
    LoadQueue::Load load{{2, 90}, {}};
    load.demands.resize(1);
    load.demands[0].islands.resize(1);
    load.demands[0].islands[0].devices = {{.bytes = kWholeDevice},
                                          {.bytes = kWholeDevice}};
    load.whats = {"slice 's'"};
    load_service_.Ask(load);
    EXPECT_THAT(Sent(), ElementsAre("client2 90: "));
  }
  void GiveDevicesBack() {
    programs_.mutable_admission()->GiveBackAll(2);
    load_service_.Retry();
  }
};

TEST_F(LoadServiceTest, ALoadIsAnsweredWhenAllHostsHaveLoadedIt) {
  load_service_.Ask(Make(1, 7));
  EXPECT_TRUE(load_service_.IsLoading({1, 7}));
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1"));
  Reply(0, 0, absl::OkStatus(), /*bytes=*/50);
  EXPECT_THAT(Sent(), IsEmpty());
  Reply(0, 1);
  EXPECT_THAT(Sent(), ElementsAre("client1 7: "));
  EXPECT_EQ(load_service_.programs(), 1u);
  EXPECT_EQ(memory_.used(0), 50u);
  EXPECT_FALSE(load_service_.IsLoading({1, 7}));
}

TEST_F(LoadServiceTest, IfAHostRefusesOneProgramTheOtherIsUnloaded) {
  load_service_.Ask(Make(1, 7, {"p", "q"}));
  Sent();
  for (uint32_t host : {0, 1}) Reply(0, host);
  Reply(1, 0);
  EXPECT_THAT(Sent(), IsEmpty());
  Reply(1, 1, absl::InternalError("host1 cannot"));
  EXPECT_THAT(Sent(),
              ElementsAre("stop_program to host0", "stop_program to host1"));
  Answer<proto::StopReply>(1);
  Answer<proto::FreeReply>(1);
  // Now the other one ends, too.
  EXPECT_THAT(Sent(),
              ElementsAre("free_program to host0", "free_program to host1",
                          "stop_program to host0", "stop_program to host1"));
  Answer<proto::StopReply>(0);
  Sent();
  Answer<proto::FreeReply>(0);
  EXPECT_THAT(Sent(), ElementsAre("client1 7: host1 cannot"));
  EXPECT_EQ(programs_.loaded(), 0u);
}

TEST_F(LoadServiceTest, ALoadWaitsForMemoryAndIsGrantedWhenItIsFree) {
  TakeDevices();
  load_service_.Ask(Make(1, 7));
  const std::vector<std::string> waits = Sent();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_THAT(waits[0], HasSubstr("client1 waits 7: program 'p' needs"));
  GiveDevicesBack();
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1"));
  EXPECT_TRUE(loads_.empty());
}

TEST_F(LoadServiceTest, SlicesAreGrantedWaitOrAreRefused) {
  proto::SlicesRequest request;
  request.set_request(5);
  proto::SliceNeed* need = request.add_slices();
  need->set_name("t");
  need->add_islands()->add_devices()->set_count(2);
  load_service_.Take(1, request);
  EXPECT_THAT(Sent(), ElementsAre("client1 5: "));
  request.set_request(6);
  load_service_.Take(1, request);
  std::vector<std::string> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], HasSubstr("client1 6: slice 't'"));
  load_service_.Take(2, request);
  sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], HasSubstr("client2 waits 6: slice 't' needs"));
  request.set_request(7);
  need->mutable_islands(0)->mutable_devices(0)->set_count(3);
  load_service_.Take(1, request);
  sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], HasSubstr("client1 7: slice 't' asks for 3 devices"));
}

TEST_F(LoadServiceTest, ALoadThatMayNotWaitIsRefused) {
  TakeDevices();
  LoadQueue::Load load = Make(1, 7);
  load.deadline = world_.Now();
  load_service_.Ask(std::move(load));
  const std::vector<std::string> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], HasSubstr("client1 7: program 'p'"));
  EXPECT_TRUE(loads_.empty());
}

TEST_F(LoadServiceTest, AWaitingLoadEndsByCancelDeadlineOrLeave) {
  TakeDevices();
  LoadQueue::Load late = Make(1, 7);
  late.deadline = 30;
  load_service_.Ask(std::move(late));
  load_service_.Ask(Make(1, 8));
  load_service_.Ask(Make(1, 9));
  Sent();
  load_service_.Cancel({1, 8});
  EXPECT_THAT(Sent(), Contains("client1 8: the load was cancelled while it "
                               "waited"));
  load_service_.Cancel({1, 8});
  EXPECT_THAT(Sent(), IsEmpty());
  world_.Advance(30);
  load_service_.Expire();
  const std::vector<std::string> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], HasSubstr("which was not released within 30ns"));
  load_service_.Leave(1);
  EXPECT_TRUE(loads_.empty());
}

TEST_F(LoadServiceTest, LaunchesOfTheHolderInheritThePriorityOfTheLoad) {
  std::vector<ClientAnswer> answers;
  clients_.Connect({3, 1}, "eve", {.priority = 5}, &answers);
  LoadQueue::Load all = Make(2, 6);
  load_service_.Ask(std::move(all));
  for (uint32_t host : {0, 1}) Reply(0, host);
  launch_service_.Launch(Request(2, 1, 0, 2, 3));
  EXPECT_EQ(launches_.Find(ClientId(2, 1))->claim.priority, 0);
  LoadQueue::Load slice{{3, 7}, {}};
  slice.demands.resize(1);
  slice.demands[0].islands.resize(1);
  slice.demands[0].islands[0].devices = {{.bytes = kWholeDevice},
                                         {.bytes = kWholeDevice}};
  slice.whats = {"slice 's'"};
  slice.need = programs_.admission().Reach(slice.demands[0]);
  load_service_.Ask(std::move(slice));
  EXPECT_EQ(launches_.Find(ClientId(2, 1))->claim.priority, 5);
}

TEST_F(LoadServiceTest, ALoadThatHostsHadNoRoomForWaitsForThem) {
  const uint64_t bound = memory_.bound(0);
  load_service_.Ask(Make(2, 6, {"q"}));
  for (uint32_t host : {0, 1}) Reply(0, host, absl::OkStatus(), bound);
  load_service_.Ask(Make(1, 7));
  Sent();
  Reply(1, 1);
  Reply(1, 0, absl::ResourceExhaustedError("host0 is full"), /*bytes=*/100);
  Answer<proto::StopReply>(1);
  Answer<proto::FreeReply>(1);
  EXPECT_THAT(Sent(), Contains(HasSubstr("client1 waits 7: program 'p' needs "
                                         "100 of")));
  EXPECT_TRUE(loads_.Awaits(0));
}

TEST_F(LoadServiceTest, TheEndOfAProgramCompletesDrains) {
  load_service_.Ask(Make(1, 7));
  for (uint32_t host : {0, 1}) Reply(0, host);
  proto::DrainRequest drain;
  drain.set_request(3);
  drain.add_devices(1);
  drains_.Take(2, drain);
  Sent();
  load_service_.Release(1, programs_.Find(0)->incarnation);
  Answer<proto::StopReply>(0);
  EXPECT_THAT(Sent(), ::testing::Not(Contains("client2 3: ")));
  Answer<proto::FreeReply>(0);
  EXPECT_THAT(Sent(), Contains("client2 3: "));
}

}  // namespace
}  // namespace pathways::testing
