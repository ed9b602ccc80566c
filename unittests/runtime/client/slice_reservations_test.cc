//===- slice_reservations_test.cc - Slices that a client holds ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/slice_reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class SliceReservationsTest : public ::testing::Test {
 protected:
  // Grants slice 7 with devices 1 and 2.
  void LetSlicesBeGranted() {
    it_.on_message = [&](const proto::Control& message) {
      proto::Answer answer;
      if (message.has_slices_request()) {
        proto::SliceGrant* grant = answer.add_slices();
        grant->set_slice(7);
        grant->add_devices(1);
        grant->add_devices(2);
        it_.Answer(message.slices_request().request(), answer);
      } else {
        it_.Answer(message.settle_request().request());
      }
    };
  }

  const Topology topology_ = *Topology::Create(MakeCluster("1x2x2"));
  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  LoadedPrograms programs_;
  RunTable runs_;
  ProgramCatalog catalog_{&it_.channel, &owner_, &programs_, &runs_};
  SliceReservations slices_{&it_.channel, &owner_, &topology_, &catalog_};
};

TEST_F(SliceReservationsTest, HoldsASliceUntilItIsReleased) {
  LetSlicesBeGranted();
  const absl::StatusOr<SliceHandle> slice =
      slices_.Reserve({.name = "s", .shape = {2}, .device_bytes = 64}, {});
  ASSERT_TRUE(slice.ok()) << slice.status();
  ASSERT_EQ(it_.messages.size(), 2u);
  EXPECT_TRUE(it_.messages[0].has_settle_request());
  const proto::SlicesRequest& request = it_.messages[1].slices_request();
  ASSERT_EQ(request.slices_size(), 1);
  EXPECT_EQ(request.slices(0).islands(0).devices(0).count(), 2u);
  EXPECT_EQ(request.slices(0).islands(0).devices(0).bytes(), 64u);
  EXPECT_THAT(*slices_.DevicesOf(*slice),
              ElementsAre("island0/host0/device1", "island0/host1/device0"));
  EXPECT_EQ(slices_.Find(*slice)->run, 2u);
  EXPECT_TRUE(slices_.Release(*slice).ok());
  const auto releases = it_.Take(proto::Control::kSliceRelease);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].slice_release().slice(), 7u);
  EXPECT_TRUE(absl::IsFailedPrecondition(slices_.Release(*slice)));
}

TEST_F(SliceReservationsTest, RefusesAShapeThatIslandsCannotShare) {
  const absl::Status refused =
      slices_.Reserve({.name = "s", .shape = {3}, .islands = 2}, {}).status();
  EXPECT_EQ(refused, absl::InvalidArgumentError(
                         "slice 's' of 3 devices cannot be divided evenly over "
                         "2 islands"));
  it_.HandleSent();
  EXPECT_TRUE(it_.messages.empty());
}

TEST_F(SliceReservationsTest, RefusesAnAnswerWithoutSlices) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.has_slices_request()
                   ? message.slices_request().request()
                   : message.settle_request().request());
  };
  EXPECT_EQ(
      slices_.Reserve({.name = "s", .shape = {2}}, {}).status(),
      absl::InternalError("the controller reserved 0 slices, expected 1"));
}

TEST_F(SliceReservationsTest, NoSliceIsReleasedByNumberZero) {
  slices_.ReleaseGranted(0);
  slices_.ReleaseGranted(4);
  EXPECT_EQ(it_.Take(proto::Control::kSliceRelease).size(), 1u);
}

}  // namespace
}  // namespace pathways::testing
