//===- late_device_test.cc - A device whose work is done late -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>

#include "runtime/device/testing/late_backend.h"
#include "unittests/runtime/device/device_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LateDeviceTest : public DeviceTest {
 protected:
  // Longer than any event takes.
  static constexpr TimeNs kLong = 1'000'000;

  LateDeviceTest() : DeviceTest(/*simulated=*/false, LateBackends()) {}

  std::vector<int> After(TimeNs duration) {
    world_.Advance(duration);
    world_.DeliverAll();
    return std::exchange(executor_.kinds, {});
  }
  char* argument() { return launch_.values.arguments[0]->data(); }
  char* result() { return launch_.values.results[0].object->data(); }
  uint64_t firings() const { return device_.counters().firings.get(); }
};

TEST_F(LateDeviceTest, AFiringIsOverWhenItsWorkIs) {
  Build(EchoPlan());
  Attach();
  EXPECT_THAT(Grant(0, 1, 1), IsEmpty());
  EXPECT_EQ(firings(), 0u);
  EXPECT_EQ(device_.counters().sent[kWorkDone].get(), 1u);
  // The feed reads it when it is done, not when it was asked for.
  std::memcpy(argument(), "abcdefgh", 8);
  std::memset(result(), 'x', 8);
  EXPECT_THAT(After(kLong), ElementsAre(kDeviceDone));
  EXPECT_EQ(firings(), 2u);
  EXPECT_EQ(std::string(result(), 8), "abcdefgh");
}

TEST_F(LateDeviceTest, AProgramIsDetachedWhenNoneOfItsWorkIsUnderWay) {
  Build(EchoPlan());
  Attach();
  Grant(0, 1, 1);
  EXPECT_THAT(Notify(kDetach), IsEmpty());
  EXPECT_THAT(Notify(kDetach), IsEmpty());  // a second copy
  EXPECT_THAT(After(kLong), ElementsAre(kDetached));
  EXPECT_EQ(firings(), 0u);
  EXPECT_THAT(Notify(kDetach), ElementsAre(kDetached));  // nothing is left
}

}  // namespace
}  // namespace pathways::testing
