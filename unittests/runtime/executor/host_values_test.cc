//===- host_values_test.cc - What a host holds for launches ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// u, two floats on one device, comes back as z.
proto::Plan EchoPlan() {
  PlanBuilder b("p", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 1}}, 0);
  const uint32_t u = b.AddBuffer("u", s, Rows(2), 2);
  b.AddFeed("u", u);
  b.AddFetch("z", u);
  return b.Finish();
}

class HostValuesTest : public ::testing::Test {
 protected:
  HostValuesTest() : host_("1x1x1", 0, {}, /*run_kernels=*/true) {
    host_.Load(EchoPlan());
  }

  Control Part(uint64_t object, uint64_t offset, const std::string& data) {
    Control control;
    proto::StorePart* part = control.mutable_store_part();
    part->set_sequence(++sequence_);
    part->set_launch(1);
    part->set_object(object);
    part->set_bytes(8);
    part->set_offset(offset);
    part->set_data(data);
    part->set_what("argument 'u'");
    return control;
  }
  Control Stage(uint64_t launch, uint64_t argument, uint64_t result,
                uint64_t steps = 1) {
    Control control;
    proto::PrepareLaunch* stage = control.mutable_prepare_launch();
    stage->set_sequence(++sequence_);
    stage->set_launch(launch);
    stage->set_incarnation(1);
    stage->set_steps(steps);
    stage->add_arguments(argument);
    stage->add_results(result);
    return control;
  }
  // "" when it is ready, "-" without an answer, or the refusal.
  std::string Ready(const std::vector<Sent>& sent) {
    const std::vector<Control> ready = ControlsOf(sent, Control::kLaunchReady);
    if (ready.empty()) return "-";
    EXPECT_THAT(ready, SizeIs(1));
    return ready[0].launch_ready().message();
  }
  std::string Fetch(uint64_t object, uint64_t offset, uint64_t bytes) {
    Control control;
    proto::FetchPart* fetch = control.mutable_fetch_part();
    fetch->set_request(4);
    fetch->set_object(object);
    fetch->mutable_range()->set_offset(offset);
    fetch->mutable_range()->set_bytes(bytes);
    const std::vector<Control> parts =
        ControlsOf(host_.TellFromController(control), Control::kPartData);
    std::string data;
    for (const Control& part : parts) {
      if (part.part_data().missing()) return "missing";
      EXPECT_EQ(part.part_data().offset(), offset + data.size());
      data += part.part_data().data();
    }
    return data;
  }

  RecordedHost host_;
  uint64_t sequence_ = 0;
};

TEST_F(HostValuesTest, IsReadyWhenAllPiecesAreThere) {
  EXPECT_EQ(Ready(host_.TellFromController(Part(2, 0, "abcd"))), "-");
  EXPECT_EQ(Ready(host_.TellFromController(Stage(1, 2, 3))), "-");
  EXPECT_EQ(Ready(host_.TellFromController(Part(2, 4, "efgh"))), "");
  EXPECT_THAT(ControlsOf(host_.Grant(1, 1, 0, 0, 1, 0, 1), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(3, 0, 8), "abcdefgh");
  EXPECT_EQ(Fetch(3, 2, 5), "cdefg");
}

TEST_F(HostValuesTest, AFetchOfWhatIsNotThereSaysSo) {
  host_.TellFromController(Part(2, 0, "abcdefgh"));
  EXPECT_EQ(Fetch(2, 0, 8), "abcdefgh");
  EXPECT_EQ(Fetch(2, 4, 5), "missing");
  EXPECT_EQ(Fetch(2, 9, 0), "missing");
  EXPECT_EQ(Fetch(2, UINT64_MAX, 2), "missing");
  EXPECT_EQ(Fetch(9, 0, 1), "missing");
}

TEST_F(HostValuesTest, RefusesALaunchThatIsNotOfTheProgram) {
  host_.TellFromController(Part(2, 0, "abcdefgh"));
  Control more = Stage(1, 2, 3);
  more.mutable_prepare_launch()->add_results(4);
  EXPECT_EQ(Ready(host_.TellFromController(more)),
            "a launch has other arguments than its program");
  EXPECT_EQ(Ready(host_.TellFromController(Stage(2, 2, 3, 0))),
            "a launch of 0 steps, expected 1 to 1099511627776");
  Control other = Stage(3, 2, 3);
  other.mutable_prepare_launch()->set_incarnation(2);
  EXPECT_EQ(Ready(host_.TellFromController(other)),
            "the program is not loaded");
  EXPECT_EQ(Ready(host_.TellFromController(Stage(4, 0, 3))),
            "argument 'u' of program 'p' has 0 bytes on host0, expected 8");
  EXPECT_EQ(Ready(host_.TellFromController(Stage(5, 2, 3))), "");
}

TEST_F(HostValuesTest, GivesUpAGrantOfOtherStepsThanWereStaged) {
  host_.TellFromController(Part(2, 0, "abcdefgh"));
  EXPECT_EQ(Ready(host_.TellFromController(Stage(1, 2, 3))), "");
  EXPECT_THAT(host_.Grant(1, 1, 0, 0, 2, 0, 2), IsEmpty());
  // Nor one of nothing that was staged.
  EXPECT_THAT(host_.Grant(9, 2, 1, 0, 1, 0, 1), IsEmpty());
  EXPECT_THAT(ControlsOf(host_.Grant(1, 3, 2, 0, 1, 0, 1), Control::kGrantDone),
              SizeIs(1));
  EXPECT_EQ(Fetch(3, 0, 8), "abcdefgh");
}

TEST_F(HostValuesTest, DroppedObjectsGiveTheirMemoryBack) {
  const uint64_t before = host_.executor->host_arena().used();
  host_.TellFromController(Part(2, 0, "abcdefgh"));
  EXPECT_GT(host_.executor->host_arena().used(), before);
  Control drop;
  drop.mutable_drop_objects()->set_sequence(++sequence_);
  drop.mutable_drop_objects()->add_objects(2);
  drop.mutable_drop_objects()->set_answer(true);
  const std::vector<Control> dropped =
      ControlsOf(host_.TellFromController(drop), Control::kObjectsDropped);
  ASSERT_THAT(dropped, SizeIs(1));
  EXPECT_EQ(dropped[0].objects_dropped().sequence(), sequence_);
  EXPECT_EQ(host_.executor->host_arena().used(), before);
  EXPECT_EQ(Fetch(2, 0, 8), "missing");
}

TEST_F(HostValuesTest, GoesByTheNumbersOfTheController) {
  const Control first = Part(2, 0, "abcdefgh");
  Control drop;
  drop.mutable_drop_objects()->set_sequence(++sequence_);
  drop.mutable_drop_objects()->add_objects(2);
  host_.TellFromController(drop);  // before the first
  EXPECT_EQ(Fetch(2, 0, 8), "missing");
  host_.TellFromController(first);  // dropped right behind it
  EXPECT_EQ(Fetch(2, 0, 8), "missing");
  host_.TellFromController(first);  // a late copy brings nothing back
  EXPECT_EQ(Fetch(2, 0, 8), "missing");
}

}  // namespace
}  // namespace pathways::testing
