//===- guessed_handles_test.cc - Handles that a client does not own -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "runtime/protocol/client_id.h"
#include "unittests/random_cases.h"
#include "unittests/runtime/controller/controller_fixture.h"

namespace pathways::testing {
namespace {

constexpr uint32_t kOwner = 1, kGuesser = 2;

class GuessedHandlesTest : public ControllerTest {
 protected:
  void Launch(uint32_t client, uint64_t launch, uint64_t program,
              uint64_t argument, bool fresh, uint64_t result) {
    proto::Control control;
    proto::LaunchRequest* request = control.mutable_launch_request();
    request->set_launch(launch);
    request->set_program(program);
    request->set_steps(1);
    request->add_arguments()->set_object(argument);
    request->mutable_arguments(0)->set_fresh(fresh);
    request->add_results()->set_object(result);
    for (uint32_t host : {0, 1}) {
      request->mutable_arguments(0)->add_hosts(host);
      if (result > 0) request->mutable_results(0)->add_hosts(host);
    }
    FromClient(client, control);
  }
  static void FillSlice(proto::SliceNeed* need) {
    need->set_kind("cpu");
    proto::DevicesNeed* devices = need->add_islands()->add_devices();
    devices->set_count(2);
    devices->set_bytes(65536);
  }
  // Reserves a slice of both devices for the owner.
  uint64_t Reserve() {
    proto::Control control;
    control.mutable_slices_request()->set_request(1);
    FillSlice(control.mutable_slices_request()->add_slices());
    FromClient(kOwner, control);
    for (const testing::Sent& sent : world_.Take()) {
      if (sent.kind != testing::Sent::kControl) continue;
      const auto told = sent.As<proto::Control>();
      if (told.answer().slices_size() > 0) {
        return told.answer().slices(0).slice();
      }
    }
    return 0;
  }
};

// Every number there may be of a program or an object, as often as one likes:
// nobody who has them hears of it, and no host is told anything of them.
TEST_F(GuessedHandlesTest, AreRefused) {
  Connect(kGuesser, 0, "guesser");
  const uint64_t program = LoadAll(kOwner);
  const uint64_t idle = LoadAll(kOwner);  // its unloading waits for nothing
  Launch(kOwner, 1, program, /*argument=*/7, /*fresh=*/true, /*result=*/8);
  ASSERT_FALSE(world_.Take().empty());
  const uint64_t slice = Reserve();
  ASSERT_NE(slice, 0u);
  const proto::PlanName plan = KeepPlan(
      &context_.plans, Prepare(MovePlan("p", 2), topology_, /*placed=*/true));

  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto guess = [&](uint64_t wanted) {
    switch (random() % 4) {
      case 0:
        return wanted;
      case 1:
        return ClientId(kOwner, wanted);
      case 2:
        return random() % 64;
      default:
        return random() >> random() % 64;
    }
  };
  uint64_t launch = 0, request = 0, refused = 0;
  for (uint64_t i = 0; i < SampleSize(100'000, 1'000'000); ++i) {
    proto::Control control;
    switch (random() % 6) {
      case 0:
        // All but the program is as it should be, or nothing is.
        ++launch;
        random() % 2 == 0
            ? Launch(kGuesser, launch, guess(random() % 2 ? program : idle),
                     /*argument=*/100 + 2 * launch, /*fresh=*/true,
                     /*result=*/101 + 2 * launch)
            : Launch(kGuesser, launch, guess(program), guess(7),
                     /*fresh=*/false, guess(8));
        break;
      case 1:
        control.mutable_unload_request()->set_request(++request);
        control.mutable_unload_request()->set_program(guess(idle));
        FromClient(kGuesser, control);
        break;
      case 2:
        control.mutable_release_request()->add_objects(guess(random() % 2 + 7));
        FromClient(kGuesser, control);
        break;
      case 3:
        control.mutable_slice_release()->set_slice(guess(slice));
        FromClient(kGuesser, control);
        break;
      case 4: {
        proto::LoadRequest* load = control.mutable_load_request();
        load->set_request(++request);
        *load->mutable_plan() = plan;
        load->set_slice(std::max<uint64_t>(1, guess(slice)));
        FromClient(kGuesser, control);
        control.Clear();
        proto::SlicesRequest* slices = control.mutable_slices_request();
        slices->set_request(++request);
        FillSlice(slices->add_slices());
        slices->mutable_slices(0)->add_apart_from(guess(slice));
        FromClient(kGuesser, control);
        break;
      }
      default: {
        proto::FetchRequest* fetch = control.mutable_fetch_request();
        fetch->set_request(++request);
        fetch->set_object(guess(8));
        fetch->add_sources()->set_host(0);
        FromClient(kGuesser, control);
      }
    }
    for (const testing::Sent& sent : world_.Take()) {
      if (sent.kind != testing::Sent::kControl) continue;
      const auto told = sent.As<proto::Control>();
      switch (told.kind_case()) {
        case proto::Control::kAnswer:
          ASSERT_EQ(sent.to, context_.directory.client(kGuesser));
          ASSERT_NE(told.answer().code(), 0) << told.DebugString();
          ++refused;
          break;
        case proto::Control::kLaunchEnded:
          ASSERT_EQ(sent.to, context_.directory.client(kGuesser));
          ASSERT_NE(told.launch_ended().code(), 0) << told.DebugString();
          ++refused;
          break;
        // A host may be asked for what it does not have, by that name alone
        // which is the guesser's own.
        case proto::Control::kFetchBegin:
          ASSERT_EQ(ClientOf(told.fetch_begin().object()), kGuesser)
              << told.DebugString();
          break;
        case proto::Control::kDropObjects:
          for (uint64_t object : told.drop_objects().objects()) {
            ASSERT_EQ(ClientOf(object), kGuesser) << told.DebugString();
          }
          break;
        default:
          FAIL() << told.DebugString();
      }
    }
  }
  EXPECT_GE(refused, launch + 1);

  // All that was the owner's is there.
  Launch(kOwner, 2, program, /*argument=*/9, /*fresh=*/true, /*result=*/0);
  int prepared = 0;
  for (const testing::Sent& sent : world_.Take()) {
    const auto told = sent.As<proto::Control>();
    prepared += told.has_prepare_launch() ? 1 : 0;
  }
  EXPECT_EQ(prepared, 2);
  proto::Control control;
  control.mutable_load_request()->set_request(2);
  *control.mutable_load_request()->mutable_plan() = plan;
  control.mutable_load_request()->set_slice(slice);
  FromClient(kOwner, control);
  EXPECT_THAT(Sent(), ::testing::ElementsAre("load to host0", "load to host1"));
}

}  // namespace
}  // namespace pathways::testing
