//===- slice_requests_test.cc - Requests for slices -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/slice_requests.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// An island with two devices.
class SliceRequestsTest : public ::testing::Test {
 protected:
  SliceRequestsTest() {
    std::vector<ClientAnswer> answers;
    clients_.Connect({1, 1}, "ann", {}, &answers);
  }
  // Requests `slices` slices of `count` whole devices each.
  static proto::SlicesRequest Request(int slices, uint32_t count) {
    proto::SlicesRequest request;
    request.set_request(7);
    for (int i = 0; i < slices; ++i) {
      proto::SliceNeed* need = request.add_slices();
      need->set_name(std::string(1, static_cast<char>('s' + i)));
      need->add_islands()->add_devices()->set_count(count);
    }
    return request;
  }
  std::string Refusal(const proto::SlicesRequest& request) {
    const absl::StatusOr<LoadQueue::Load> load = slices_.Read(0, 1, request);
    EXPECT_TRUE(absl::IsInvalidArgument(load.status())) << load.status();
    return std::string(load.status().message());
  }

  const Topology topology_ = MakeTopology("1x2x1");
  const Directory directory_{{0}, {{}, {}}};
  RecordingWorld world_;
  ControlPool controls_;
  HostEpochs epochs_{directory_};
  ClientTable clients_;
  ProgramTable programs_{topology_, /*timeout_ns=*/100};
  GrantOrder grants_{*MakePolicy(kPolicyNames[0])};
  Outbox outbox_{&world_, &directory_, &controls_, &epochs_};
  SliceRequests slices_{topology_, clients_, grants_, &programs_, &outbox_};
};

TEST_F(SliceRequestsTest, SlicesAreGrantedTogetherOrNotAtAll) {
  const absl::StatusOr<LoadQueue::Load> load =
      slices_.Read(5, 1, Request(/*slices=*/2, /*count=*/1));
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_THAT(load->whats, ElementsAre("slice 's'", "slice 't'"));
  EXPECT_THAT(load->demands, SizeIs(2));
  EXPECT_EQ(load->since, 5);
  EXPECT_EQ(load->deadline, kNoDeadline);
  ASSERT_TRUE(slices_.Grant(*load).ok());
  ASSERT_THAT(world_.sent, SizeIs(1));
  const auto control = world_.Take()[0].As<proto::Control>();
  EXPECT_EQ(control.answer().request(), 7u);
  ASSERT_THAT(control.answer().slices(), SizeIs(2));
  const proto::SliceGrant& s = control.answer().slices(0);
  const proto::SliceGrant& t = control.answer().slices(1);
  EXPECT_EQ(t.slice(), s.slice() + 1);
  EXPECT_GT(s.slice(), uint64_t{UINT32_MAX});
  ASSERT_THAT(s.devices(), SizeIs(1));
  ASSERT_THAT(t.devices(), SizeIs(1));
  EXPECT_NE(s.devices(0), t.devices(0));

  EXPECT_TRUE(absl::IsResourceExhausted(slices_.Grant(*load)));
  EXPECT_THAT(world_.sent, IsEmpty());
  programs_.mutable_admission()->GiveBack(1, s.slice());
  EXPECT_TRUE(absl::IsResourceExhausted(slices_.Grant(*load)));
  programs_.mutable_admission()->GiveBack(1, t.slice());
  ASSERT_TRUE(slices_.Grant(*load).ok());
  // No number is used again.
  EXPECT_GT(world_.Take()[0].As<proto::Control>().answer().slices(0).slice(),
            t.slice());
}

TEST_F(SliceRequestsTest, TheWaitBecomesADeadline) {
  proto::SlicesRequest request = Request(1, 1);
  request.set_wait_ns(30);
  EXPECT_EQ(slices_.Read(5, 1, request)->deadline, 35);
  request.set_wait_ns(UINT64_MAX);
  EXPECT_EQ(slices_.Read(5, 1, request)->deadline, kNoDeadline);
}

TEST_F(SliceRequestsTest, WhatTheClusterNeverHasIsRefused) {
  EXPECT_EQ(Refusal(Request(0, 1)), "0 slices are requested, expected 1 to 64");
  EXPECT_EQ(Refusal(Request(65, 1)),
            "65 slices are requested, expected 1 to 64");
  EXPECT_THAT(Refusal(Request(1, 3)),
              HasSubstr("slice 's' asks for 3 devices of an island, but the "
                        "largest island has 2"));
  EXPECT_THAT(Refusal(Request(1, 0)),
              HasSubstr("asks for 0 devices, expected at least 1"));
  proto::SlicesRequest request = Request(1, 1);
  request.mutable_slices(0)->add_islands();
  EXPECT_THAT(Refusal(request), HasSubstr("on 2 islands, but the cluster has "
                                          "1"));
  request = Request(1, 1);
  request.mutable_slices(0)->set_kind("tpu");
  request.mutable_slices(0)->set_for_program(true);
  EXPECT_THAT(Refusal(request),
              HasSubstr("program 's' asks for devices of kind 'tpu'"));
  request = Request(1, 2);
  request.mutable_slices(0)->mutable_islands(0)->add_mesh(3);
  EXPECT_THAT(Refusal(request), HasSubstr("and a mesh of that size"));
  request = Request(1, 1);
  request.mutable_slices(0)->mutable_islands(0)->mutable_devices(0)->set_like(
      2);
  EXPECT_THAT(Refusal(request), HasSubstr("devices like device 2"));
}

TEST_F(SliceRequestsTest, ASliceOfAnotherClientIsNotFound) {
  proto::SlicesRequest request = Request(1, 1);
  request.mutable_slices(0)->add_apart_from(uint64_t{1} << 32);
  EXPECT_TRUE(absl::IsFailedPrecondition(slices_.Read(0, 1, request).status()));
}

}  // namespace
}  // namespace pathways::testing
