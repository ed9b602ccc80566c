//===- launches_test.cc - Launches, from ask to start ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/controller/controller_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ControllerTest, ClientsNumberTheirLaunchesByThemselves) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  Launch(1, 1, p);
  Launch(2, 1, q);
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1",
                                  "prepare 1 to host0", "prepare 1 to host1"));
  for (uint32_t host : {0, 1}) Ready(host, 2, 1);
  EXPECT_THAT(Sent(), ElementsAre("start 1 of 2"));
  for (uint32_t host : {0, 1}) Ready(host, 1, 1);
  EXPECT_THAT(Sent(), ElementsAre("start 1 of 1"));
}

// A client whose values do not come delays nobody else, for any time.
TEST_F(ControllerTest, AClientThatSendsNoValuesDelaysOnlyItself) {
  const uint64_t p = LoadAll(1), q = LoadAll(2);
  Launch(1, 1, p);
  Launch(1, 2, p);
  Sent();
  // The hosts have been told, and wait for the client.
  for (uint32_t host : {0, 1}) Stored(host, 2);
  for (int i = 0; i < 10; ++i) {
    Launch(2, 1 + i, q);
    for (uint32_t host : {0, 1}) Ready(host, 2, 1 + i);
    EXPECT_THAT(Sent(),
                ::testing::Contains(absl::StrCat("start ", 1 + i, " of 2")));
    for (const std::string& text : Advance(kTimeout)) {
      EXPECT_THAT(text, ::testing::Not(HasSubstr("ended")));
    }
    for (uint32_t host : {0, 1}) Stored(host, 3 + i);
  }
}

TEST_F(ControllerTest, ALaunchThatBringsNothingBeginsAtOnce) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  std::vector<uint64_t> stores;
  for (const testing::Sent& one : world_.sent) {
    const auto control = one.As<proto::Control>();
    EXPECT_TRUE(!control.has_prepare_launch() ||
                control.prepare_launch().sure());
    if (!control.has_start()) continue;
    stores.assign(control.start().stores().begin(),
                  control.start().stores().end());
  }
  EXPECT_THAT(stores, ElementsAre(1, 1));
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1",
                                  "start 1 of 1"));
}

TEST_F(ControllerTest, AHostThatRefusesWhatWasGrantedEndsTheLaunch) {
  const uint64_t p = LoadAll(1, /*placed=*/false);
  Launch(1, 1, p, /*fresh=*/false);
  Sent();
  proto::Control control;
  control.mutable_launch_ready()->set_launch(ClientId(1, 1));
  control.mutable_launch_ready()->set_host(1);
  control.mutable_launch_ready()->set_code(
      static_cast<int>(absl::StatusCode::kResourceExhausted));
  control.mutable_launch_ready()->set_message("host1 has no room");
  FromHost(1, control);
  EXPECT_THAT(Sent(),
              ::testing::IsSupersetOf({"stop to host0", "stop to host1",
                                       "client1 ended 1: host1 has no room"}));
}

// Hosts go by what the controller says, so it looks at what clients say.
TEST_F(ControllerTest, ALaunchThatDoesNotFitItsProgramIsRefused) {
  const uint64_t p = LoadAll(1);
  proto::Control good;
  proto::LaunchRequest* launch = good.mutable_launch_request();
  launch->set_launch(1);
  launch->set_program(p);
  launch->set_steps(2);
  for (proto::ObjectRef* ref :
       {launch->add_arguments(), launch->add_results()}) {
    for (uint32_t host : {0, 1}) ref->add_hosts(host);
  }
  launch->mutable_arguments(0)->set_object(1);
  launch->mutable_arguments(0)->set_fresh(true);
  launch->mutable_arguments(0)->set_keep(true);
  launch->mutable_results(0)->set_object(2);
  FromClient(1, good);
  EXPECT_THAT(Sent(), ElementsAre("prepare 1 to host0", "prepare 1 to host1"));
  FromClient(1, good);  // there is launch 1
  launch->set_launch(0);
  FromClient(1, good);
  EXPECT_THAT(Sent(), IsEmpty());

  launch->mutable_arguments(0)->set_object(3);
  launch->mutable_results(0)->set_object(4);
  using Change = void (*)(proto::LaunchRequest*);
  const std::pair<Change, const char*> cases[] = {
      {[](auto* l) { l->mutable_arguments(0)->mutable_no_values(); },
       "has argument 0 without values, expected the error that is the cause"},
      {[](auto* l) {
         l->mutable_arguments(0)->mutable_no_values()->set_code(13);
         l->mutable_arguments(0)->set_fresh(false);
       },
       "has argument 0 without values, expected a fresh array"},
      {[](auto* l) { l->set_steps(0); },
       "has 0 steps, expected 1 to 1099511627776"},
      {[](auto* l) { l->set_steps((uint64_t{1} << 40) + 1); },
       "has 1099511627777 steps, expected 1 to 1099511627776"},
      {[](auto* l) { l->add_arguments(); }, "has 2 arguments, expected 1"},
      {[](auto* l) { l->clear_results(); }, "has 0 results, expected 1"},
      {[](auto* l) { l->mutable_arguments(0)->set_hosts(0, 1); },
       "has argument 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_arguments(0)->set_object(0); },
       "has argument 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_results(0)->mutable_hosts()->RemoveLast(); },
       "has result 0 on other hosts than the program"},
      {[](auto* l) { l->mutable_arguments(0)->set_object(1); },
       "creates array 1, which already exists"},
      {[](auto* l) { l->mutable_results(0)->set_object(2); },
       "creates array 2, which already exists"},
      {[](auto* l) { l->mutable_results(0)->set_object(3); },
       "creates array 3, which already exists"},
  };
  uint64_t number = 1;
  for (const auto& [change, text] : cases) {
    proto::Control bad = good;
    bad.mutable_launch_request()->set_launch(++number);
    change(bad.mutable_launch_request());
    FromClient(1, bad);
    EXPECT_THAT(Sent(),
                ElementsAre(absl::StrCat("client1 ended ", number,
                                         ": a launch of program 'p' ", text)));
  }

  // An array of other bytes: that of a longer program.
  proto::Control load;
  load.mutable_load_request()->set_request(1);
  *load.mutable_load_request()->mutable_plan() = KeepPlan(
      &context_.plans,
      Prepare(MovePlan("long", 2, 0, 0, 0, 4), topology_, /*placed=*/true));
  FromClient(1, load);
  const uint64_t q = ++loaded_;
  for (uint32_t host : {0, 1}) Reply(host, q);
  Sent();
  launch->set_launch(++number);
  launch->set_program(q);
  launch->mutable_arguments(0)->set_object(1);
  launch->mutable_arguments(0)->set_fresh(false);
  launch->mutable_results(0)->set_object(5);
  FromClient(1, good);
  EXPECT_THAT(Sent(), ElementsAre(absl::StrCat(
                          "client1 ended ", number,
                          ": a launch of program 'long' has as argument 0 an "
                          "array on other hosts or of another size")));
}

}  // namespace
}  // namespace pathways::testing
