//===- tables_fixture.h - Tables of a controller ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CONTROLLER_TABLES_FIXTURE_H_
#define UNITTESTS_RUNTIME_CONTROLLER_TABLES_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/awaited_plans.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/fetch_table.h"
#include "runtime/controller/fetches.h"
#include "runtime/controller/grant_sender.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_reader.h"
#include "runtime/controller/launch_service.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/load_service.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_ends.h"
#include "runtime/controller/program_rounds.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/quotas.h"
#include "runtime/controller/slice_requests.h"
#include "runtime/controller/store_log.h"
#include "runtime/controller/store_messages.h"
#include "runtime/controller/wait_timer.h"
#include "runtime/protocol/client_id.h"
#include "runtime/resources/load_queue.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {

// The tables of a controller of two hosts on an island, with one device each,
// and two clients, without the controller.
class TablesTest : public ::testing::Test {
 protected:
  static constexpr TimeNs kTimeout = 400'000'000;

  TablesTest() {
    world_.Register(&owner_, {}, "owner");
    std::vector<ClientAnswer> answers;
    clients_.Connect({1, 1}, "ann", {}, &answers);
    clients_.Connect({2, 1}, "bob", {}, &answers);
  }

  // Adds a program on both hosts, which are still loading it. Returns its
  // number.
  uint32_t AddProgram(uint32_t client, const std::string& name = "p") {
    const auto plan = Prepare(MovePlan(name, 2), topology_, /*placed=*/true);
    const absl::StatusOr<ProgramNext> next = programs_.Load(
        world_.Now(), plan, PlanName(), clients_.LabelOf(client), {client, 2});
    EXPECT_TRUE(next.ok()) << next.status();
    std::vector<DeviceGroupTable::Device> devices = {{0, 0}, {0, 1}};
    grants_.Load(next->program, client, CostOf(*plan), devices);
    clients_.AddProgram(client, programs_.Find(next->program)->incarnation);
    return next->program;
  }
  // Returns the number of a program that is ready.
  uint32_t LoadProgram(uint32_t client, const std::string& name = "p") {
    const uint32_t program = AddProgram(client, name);
    for (int32_t host : {0, 1}) {
      programs_.Answered(world_.Now(), ProgramTable::State::kLoading, program,
                         programs_.Find(program)->incarnation, host,
                         absl::OkStatus());
    }
    return program;
  }
  // Adds a launch of one step without arrays, which waits for both hosts.
  uint64_t AddLaunch(uint32_t client, uint64_t number, uint32_t program) {
    const PlanBinding& binding = programs_.Find(program)->plan->binding();
    LaunchSpec spec;
    spec.launch = ClientId(client, number);
    spec.program = program;
    spec.steps = 1;
    spec.asked = world_.Now();
    spec.hosts = binding.hosts();
    spec.islands = binding.islands();
    launches_.Add(spec, &effects_);
    return spec.launch;
  }
  // Lets the launch begin, with its only grant.
  void Begin(uint64_t launch) {
    const LaunchTable::Launch& begun = *launches_.Find(launch);
    for (int32_t host : {0, 1}) {
      launches_.Staged(launch, host, absl::OkStatus(), &effects_);
    }
    grants_.Begin(launch, begun.program, begun.steps,
                  programs_.Find(begun.program)->plan->binding().islands(),
                  begun.claim, world_.Now());
    const Grant* grant = grants_.Next(world_.Now());
    ASSERT_TRUE(grant != nullptr);
    EXPECT_EQ(grant->launch, launch);
    launches_.Begun(launch);
    launches_.Granted(launch, &effects_);
  }
  // Returns a request for one step of a program, with an argument and a result
  // on both hosts. `fresh`: the values of the argument come with the launch.
  proto::LaunchRequest Request(uint32_t client, uint64_t number,
                               uint32_t program, uint64_t argument,
                               uint64_t result, bool fresh = true) {
    proto::LaunchRequest request;
    request.set_launch(ClientId(client, number));
    request.set_program(programs_.Find(program)->incarnation);
    request.set_steps(1);
    proto::ObjectRef* in = request.add_arguments();
    in->set_object(ClientId(client, argument));
    in->set_fresh(fresh);
    proto::ObjectRef* out = request.add_results();
    out->set_object(ClientId(client, result));
    for (uint32_t host : {0, 1}) {
      in->add_hosts(host);
      out->add_hosts(host);
    }
    return request;
  }
  // Adds an array of 8 bytes on each of the hosts, to which the client refers.
  // Returns its number.
  uint64_t AddArray(uint32_t client, uint64_t number,
                    std::vector<uint32_t> hosts = {0, 1}) {
    const std::vector<uint64_t> bytes(hosts.size(), 8);
    objects_.Add(ClientId(client, number), hosts, bytes, /*held=*/true,
                 /*filling=*/0, /*arriving=*/false);
    memory_.Charge(hosts, bytes);
    return ClientId(client, number);
  }
  // Numbers a message for the launch, which the host has not done.
  void SendStore(int32_t host, uint64_t launch, bool asks) {
    stores_.Number(host, /*drops=*/false);
    ControlRef control = controls_.New();
    control->mutable_prepare_launch();
    stores_.Keep(world_.Now(), host, launch, asks, std::move(control));
  }

  // Returns the messages since the last call, as "kind to receiver"; those to
  // clients have their text.
  std::vector<std::string> Sent() {
    std::vector<std::string> texts;
    for (const testing::Sent& one : world_.Take()) {
      if (one.kind == testing::Sent::kControl) {
        texts.push_back(Text(one.to, one.As<proto::Control>()));
      }
    }
    return texts;
  }
  std::string Text(ActorId to, const proto::Control& control) const {
    std::string who = absl::StrCat("client", control.client());
    for (uint32_t host : {0, 1}) {
      if (to == directory_.executor(host)) who = absl::StrCat("host", host);
    }
    if (to == directory_.scheduler(0)) who = "scheduler";
    switch (control.kind_case()) {
      case proto::Control::kAnswer:
        return absl::StrCat(who, " ", control.answer().request(), ": ",
                            control.answer().message());
      case proto::Control::kLaunchEnded:
        return absl::StrCat(who, " ended ", control.launch_ended().launch(),
                            ": ", control.launch_ended().message());
      case proto::Control::kLoadWaits:
        return absl::StrCat(who, " waits ", control.load_waits().request(),
                            ": ", control.load_waits().why());
      default:
        return absl::StrCat(
            proto::Control::descriptor()
                ->FindFieldByNumber(static_cast<int>(control.kind_case()))
                ->name(),
            " to ", who);
    }
  }

  const Topology topology_ = MakeTopology("1x2x1");
  const Directory directory_{{0}, {{}, {}}};
  RecordingWorld world_;
  ControlPool controls_;
  HostEpochs epochs_{directory_};
  ObjectTable objects_;
  ClientTable clients_;
  LaunchTable launches_{&objects_};
  LaunchEffects effects_;
  ProgramTable programs_{topology_, kTimeout, &objects_};
  LoadQueue loads_{&programs_.admission()};
  GrantOrder grants_{*MakePolicy(kPolicyNames[0])};
  StoreLog stores_{topology_, kTimeout};
  FetchTable fetches_{topology_, kTimeout};
  Outbox outbox_{&world_, &directory_, &controls_, &epochs_};
  TickTimer timer_;
  HandlerClock clock_{&world_, &timer_};
  Drains drains_{topology_,  epochs_,  objects_, clients_,
                 &programs_, &outbox_, &clock_};
  OpenLaunches open_{programs_, launches_, grants_, stores_};
  Actor owner_;
  RuntimeContext context_;
  AwaitedPlans plans_{&context_, kTimeout};
  AnswerTimer answers_{&world_,
                       &owner_,
                       topology_,
                       kTimeout,
                       {.plans = plans_,
                        .programs = programs_,
                        .launches = launches_,
                        .stores = stores_,
                        .fetches = fetches_,
                        .loads = loads_,
                        .drains = drains_,
                        .open = open_},
                       &timer_};
  HostMemory& memory_ = programs_.mutable_admission()->host_memory();
  StoreMessages messages_{{.epochs = epochs_,
                           .loads = loads_,
                           .objects = objects_,
                           .memory = memory_,
                           .log = stores_,
                           .drains = drains_,
                           .outbox = outbox_,
                           .clock = clock_,
                           .timer = answers_}};
  Fetches fetch_service_{2,
                         {.objects = objects_,
                          .table = fetches_,
                          .stores = messages_,
                          .outbox = outbox_,
                          .clock = clock_,
                          .timer = answers_}};
  Quotas quotas_{topology_, clients_, objects_, programs_.admission()};
  LaunchReader reader_{{.clients = clients_,
                        .programs = programs_,
                        .launches = launches_,
                        .objects = objects_,
                        .loads = loads_,
                        .quotas = quotas_,
                        .memory = memory_,
                        .clock = clock_}};
  GrantSender sender_{{.topology = topology_,
                       .directory = directory_,
                       .epochs = epochs_,
                       .programs = programs_,
                       .launches = launches_,
                       .grants = grants_,
                       .store_log = stores_,
                       .outbox = outbox_}};
  LaunchService launch_service_{{.world = world_,
                                 .topology = topology_,
                                 .clients = clients_,
                                 .programs = programs_,
                                 .objects = objects_,
                                 .open = open_,
                                 .reader = reader_,
                                 .launches = launches_,
                                 .grants = grants_,
                                 .sender = sender_,
                                 .stores = messages_,
                                 .outbox = outbox_,
                                 .clock = clock_,
                                 .timer = answers_}};
  SliceRequests slices_{topology_, clients_, grants_, &programs_, &outbox_};
  WaitTimer deadlines_{&world_, &owner_, loads_, drains_, &clock_};
  ProgramRounds rounds_{epochs_, programs_, &outbox_, &answers_};
  LoadService load_service_{{.topology = topology_,
                             .quotas = quotas_,
                             .clients = clients_,
                             .programs = programs_,
                             .plans = context_.plans,
                             .queue = loads_,
                             .grants = grants_,
                             .memory = memory_,
                             .slices = slices_,
                             .rounds = rounds_,
                             .launches = launch_service_,
                             .stores = messages_,
                             .drains = drains_,
                             .outbox = outbox_,
                             .clock = clock_,
                             .timer = answers_,
                             .deadlines = deadlines_}};
  ProgramEnds ends_{{.topology = topology_,
                     .clients = clients_,
                     .open = open_,
                     .programs = programs_,
                     .launches = launch_service_,
                     .loads = load_service_,
                     .outbox = outbox_,
                     .clock = clock_,
                     .timer = answers_}};
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CONTROLLER_TABLES_FIXTURE_H_
