//===- quotas_test.cc - Quotas of clients ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/quotas.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/protocol/client_id.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

// Client 1 has a quota of 1000 bytes, client 2 none; client 3 is not connected.
class QuotasTest : public ::testing::Test {
 protected:
  QuotasTest() {
    std::vector<ClientAnswer> answers;
    clients_.Connect({1, 1}, "ann", {.quota_bytes = 1000}, &answers);
    clients_.Connect({2, 1}, "bob", {}, &answers);
  }
  absl::Status CheckLaunch(uint32_t client, uint64_t fresh, uint64_t kept,
                           uint64_t result) {
    LaunchSpec spec;
    spec.launch = ClientId(client, 1);
    spec.arguments.resize(2);
    spec.arguments[0].bytes = absl::MakeConstSpan(&fresh, 1);
    spec.arguments[0].fresh = true;
    spec.arguments[1].bytes = absl::MakeConstSpan(&kept, 1);
    spec.results.resize(1);
    spec.results[0].bytes = absl::MakeConstSpan(&result, 1);
    return quotas_.CheckLaunch(spec, *plan_);
  }

  const Topology topology_ = MakeTopology("1x2x1");
  const std::shared_ptr<const PreparedPlan> plan_ =
      Prepare(MovePlan("p", 2), topology_);
  ObjectTable objects_;
  ClientTable clients_;
  Admission admission_{topology_, &objects_};
  Quotas quotas_{topology_, clients_, objects_, admission_};
};

TEST_F(QuotasTest, ALaunchIsChargedForTheArraysThatItCreates) {
  EXPECT_TRUE(
      CheckLaunch(1, /*fresh=*/600, /*kept=*/5000, /*result=*/400).ok());
  EXPECT_EQ(std::string(CheckLaunch(1, 600, 0, 401).message()),
            "arrays of a launch of program 'p': 1001 bytes; client 'ann' has 0 "
            "of the 1000 bytes of its quota [PW3201]");
  EXPECT_TRUE(CheckLaunch(2, 1 << 20, 0, 0).ok());
}

TEST_F(QuotasTest, ArraysOnHostsCount) {
  const std::vector<uint32_t> hosts = {0};
  const std::vector<uint64_t> bytes = {300};
  objects_.Add(ClientId(1, 1), hosts, bytes, /*held=*/true, /*filling=*/0,
               /*arriving=*/false);
  EXPECT_TRUE(CheckLaunch(1, 700, 0, 0).ok());
  const absl::Status refused = CheckLaunch(1, 701, 0, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has 300 of the 1000"));
}

TEST_F(QuotasTest, ALoadIsChargedForDevicesButNotForHosts) {
  LoadQueue::Load load{{1, 2}, {}};
  load.programs.push_back({{}, plan_});
  load.need = {{0, 500}, {1, 500}, {admission_.MemoryPoolOf(0), 5000}};
  EXPECT_TRUE(quotas_.CheckLoad(load).ok());
  load.need[1] = 501;
  EXPECT_THAT(std::string(quotas_.CheckLoad(load).message()),
              HasSubstr("device memory of program 'p': 1001 bytes;"));
}

TEST_F(QuotasTest, ASliceIsChargedForTheDevicesThatItGets) {
  LoadQueue::Load load{{1, 2}, {}};
  load.whats = {"slice 's'"};
  load.demands.resize(1);
  load.demands[0].islands.resize(1);
  load.demands[0].islands[0].devices = {{.bytes = 600}};
  load.need = {{0, 600}, {1, 600}};  // it may take either
  EXPECT_TRUE(quotas_.CheckLoad(load).ok());
  load.demands[0].islands[0].devices.push_back({.bytes = 600});
  EXPECT_THAT(std::string(quotas_.CheckLoad(load).message()),
              HasSubstr("device memory of slice 's': 1200 bytes;"));
}

TEST_F(QuotasTest, AClientThatIsNotConnectedHasNoQuota) {
  EXPECT_EQ(CheckLaunch(3, 0, 0, 0),
            absl::CancelledError("client number 3 is not connected"));
}

}  // namespace
}  // namespace pathways::testing
