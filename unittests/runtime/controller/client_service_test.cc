//===- client_service_test.cc - Clients that connect and leave ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_service.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class ClientServiceTest : public TablesTest {
 protected:
  void Connect(uint32_t client, const std::string& name) {
    proto::ConnectRequest request;
    request.set_request(1);
    request.set_name(name);
    service_.Connect(client, request);
  }
  void Disconnect(uint32_t client, std::vector<uint64_t> objects = {}) {
    proto::DisconnectRequest request;
    request.set_request(9);
    for (uint64_t object : objects) request.add_objects(object);
    service_.Disconnect(client, request);
  }
  // Both hosts have stopped the program and freed it.
  void End(uint32_t program) {
    const uint32_t incarnation = programs_.Find(program)->incarnation;
    for (uint32_t host : {0, 1}) {
      proto::StopReply reply;
      reply.set_program(program);
      reply.set_incarnation(incarnation);
      reply.set_host(host);
      load_service_.Take(reply);
    }
    for (uint32_t host : {0, 1}) {
      proto::FreeReply reply;
      reply.set_program(program);
      reply.set_incarnation(incarnation);
      reply.set_host(host);
      load_service_.Take(reply);
    }
  }

  LoadRequests requests_{{.plans = context_.plans,
                          .awaited = plans_,
                          .admission = programs_.admission(),
                          .loads = load_service_,
                          .outbox = outbox_,
                          .clock = clock_,
                          .timer = answers_}};
  ClientService service_{{.objects = objects_,
                          .clients = clients_,
                          .grants = grants_,
                          .admission = *programs_.mutable_admission(),
                          .requests = requests_,
                          .loads = load_service_,
                          .drains = drains_,
                          .fetches = fetch_service_,
                          .programs = ends_,
                          .stores = messages_,
                          .outbox = outbox_}};
};

TEST_F(ClientServiceTest, ANameBelongsToOneClient) {
  Connect(3, "eve");
  EXPECT_THAT(Sent(), ElementsAre("client3 1: "));
  Connect(4, "eve");
  EXPECT_THAT(Sent(), ElementsAre("client4 1: another client has the name "
                                  "'eve' [PW6110]"));
  Disconnect(3);
  EXPECT_THAT(Sent(), ElementsAre("client3 9: "));
  Connect(4, "eve");
  EXPECT_THAT(Sent(), ElementsAre("client4 1: "));
}

TEST_F(ClientServiceTest, AClientIsGoneWhenItsProgramsAre) {
  const uint32_t p = LoadProgram(1);
  launch_service_.Launch(Request(1, 1, p, 2, 3));
  Sent();
  Disconnect(1);
  EXPECT_THAT(Sent(), ::testing::IsSupersetOf(
                          {"stop_program to host0", "stop_program to host1",
                           "client1 ended 1: client 'ann' was closed"}));
  EXPECT_TRUE(clients_.IsLeaving(1));
  End(p);
  EXPECT_THAT(Sent(), Contains("client1 9: "));
  EXPECT_EQ(clients_.NameOf(1), nullptr);
}

TEST_F(ClientServiceTest, WhatAClientHasIsReleasedWhenItIsGone) {
  const uint64_t array = AddArray(1, 1);
  proto::SlicesRequest slices;
  slices.set_request(5);
  slices.add_slices()->add_islands()->add_devices()->set_count(2);
  load_service_.Take(1, slices);
  load_service_.Take(2, slices);  // waits for the devices
  Sent();
  service_.Gone(1);
  EXPECT_EQ(objects_.Find(array), nullptr);
  const std::vector<std::string> sent = Sent();
  EXPECT_THAT(sent, Contains("drop_objects to host0"));
  EXPECT_THAT(sent, Contains("client2 5: "));
  // A client that is gone is not answered.
  EXPECT_THAT(sent, Not(Contains(::testing::HasSubstr("client1"))));
  service_.Gone(1);
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ClientServiceTest, TheWaitsOfAClientThatLeavesAreDropped) {
  const uint64_t array = AddArray(2, 1);
  proto::DrainRequest drain;
  drain.set_request(3);
  drain.add_devices(0);
  drains_.Take(1, drain);
  proto::FetchRequest fetch;
  fetch.set_request(4);
  fetch.set_object(array);
  fetch.add_sources()->set_host(0);
  fetch_service_.Begin(1, fetch);
  Sent();
  Disconnect(1);
  EXPECT_THAT(Sent(), ElementsAre("drop_objects to host0", "client1 9: "));
  EXPECT_TRUE(drains_.empty());
  EXPECT_TRUE(fetches_.empty());
}

}  // namespace
}  // namespace pathways::testing
