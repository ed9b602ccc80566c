//===- program_loader_test.cc - Loading of programs -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_loader.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/client/rebind_plan.h"
#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/test_program.h"

namespace pathways::testing {
namespace {

class ProgramLoaderTest : public ::testing::Test {
 protected:
  ProgramLoaderTest() {
    it_.runtime.topology = &topology_;
    it_.runtime.kernels = &Kernels();
    it_.on_message = [this](const proto::Control& message) { On(message); };
  }
  // Answers as a controller that loads program 5 and grants device 1, and for
  // which device 0 is offline.
  void On(const proto::Control& message) {
    proto::Answer answer;
    switch (message.kind_case()) {
      case proto::Control::kSettleRequest:
        return it_.Answer(message.settle_request().request());
      case proto::Control::kDevicesRequest:
        answer.add_devices(0);
        return it_.Answer(message.devices_request().request(), answer);
      case proto::Control::kSlicesRequest:
        answer.add_slices()->set_slice(7);
        answer.mutable_slices(0)->add_devices(1);
        return it_.Answer(message.slices_request().request(), answer);
      case proto::Control::kLoadRequest:
        loads_.push_back(message.load_request());
        answer.set_program(5);
        if (load_fails_) {
          answer.set_code(static_cast<int>(absl::StatusCode::kUnavailable));
        }
        return it_.Answer(message.load_request().request(), answer);
      default:
        return;
    }
  }
  absl::StatusOr<std::vector<ProgramHandle>> Load(LoadPlace place) {
    LoadOptions options;
    options.place = place;
    std::vector<PlanData> plans;
    plans.push_back(PlanForTest(topology_)->data());
    return loader_.Load(std::move(plans), options);
  }
  // Returns the devices of a loaded program.
  std::vector<int64_t> DevicesOf(ProgramHandle handle) {
    const absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return {};
    std::vector<int64_t> all;
    for (const auto& [island, devices] :
         DevicesByIsland((*program)->plan().binding(), topology_)) {
      all.insert(all.end(), devices.begin(), devices.end());
    }
    return all;
  }

  const Topology topology_ = *Topology::Create(MakeCluster("1x2x1"));
  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  LoadedPrograms programs_;
  RunTable runs_;
  ProgramCatalog catalog_{&it_.channel, &owner_, &programs_, &runs_};
  SliceReservations slices_{&it_.channel, &owner_, &topology_, &catalog_};
  DeviceDrains drains_{&it_.channel, &topology_};
  ProgramLoader loader_{&it_.context, &it_.actor, &it_.channel,
                        &catalog_,    &slices_,   &drains_};
  std::vector<proto::LoadRequest> loads_;
  bool load_fails_ = false;
};

TEST_F(ProgramLoaderTest, LoadsAProgramWhereItWasCompiledFor) {
  const auto loaded = Load(LoadPlace::kAsCompiled);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->size(), 1u);
  EXPECT_EQ(loaded->front().id, 5u);
  EXPECT_EQ(DevicesOf(loaded->front()), std::vector<int64_t>{0});
  ASSERT_EQ(loads_.size(), 1u);
  EXPECT_EQ(loads_[0].slice(), 0u);
}

TEST_F(ProgramLoaderTest, ReplacesDevicesThatAreOffline) {
  const auto loaded = Load(LoadPlace::kPresent);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(DevicesOf(loaded->front()), std::vector<int64_t>{1});
}

TEST_F(ProgramLoaderTest, ReleasesTheSliceOnceItsDevicesAreTaken) {
  const auto loaded = Load(LoadPlace::kAnywhere);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(DevicesOf(loaded->front()), std::vector<int64_t>{1});
  ASSERT_EQ(loads_.size(), 1u);
  EXPECT_EQ(loads_[0].slice(), 7u);
  EXPECT_EQ(it_.Take(proto::Control::kSliceRelease).size(), 1u);
}

TEST_F(ProgramLoaderTest, NothingIsLoadedAfterAnError) {
  load_fails_ = true;
  EXPECT_TRUE(absl::IsUnavailable(Load(LoadPlace::kAnywhere).status()));
  EXPECT_TRUE(programs_.programs().empty());
  EXPECT_EQ(it_.Take(proto::Control::kSliceRelease).size(), 1u);
}

TEST_F(ProgramLoaderTest, BindsAProgramWithoutAHandle) {
  const auto origin = PlanForTest(topology_);
  const absl::StatusOr<SharedProgram> program =
      loader_.LoadBound(origin, origin->plan().slices(), LoadOptions());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->handle(), 5u);
  EXPECT_EQ((*program)->origin(), origin);
  EXPECT_TRUE(programs_.programs().empty());
}

}  // namespace
}  // namespace pathways::testing
