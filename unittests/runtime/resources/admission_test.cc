//===- admission_test.cc - Holders of the memory of devices ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

// Devices of 16384 bytes. A MovePlan of n elements on one device has there four
// buffers with two credits: 32 n bytes.
class AdmissionTest : public ::testing::Test {
 protected:
  static Topology Small() {
    proto::Cluster cluster;
    proto::Island* island = cluster.add_islands();
    for (int h = 0; h < 2; ++h) {
      island->add_hosts()->add_devices()->set_memory_bytes(16384);
    }
    absl::StatusOr<Topology> topology = Topology::Create(cluster);
    EXPECT_TRUE(topology.ok()) << topology.status();
    return *std::move(topology);
  }
  absl::Status Admit(uint64_t holder, const std::string& name,
                     int64_t elements) {
    return admission_.Admit(
        holder, *Prepare(MovePlan(name, 1, 0, 0, /*base=*/1, elements), wide_),
        /*number=*/0, "me");
  }

  Topology topology_ = Small();
  Topology wide_ = MakeTopology("1x2x1");  // any of the plans fits here
  Admission admission_{topology_};
};

TEST_F(AdmissionTest, HoldsWhatFitsUntilItIsReleased) {
  EXPECT_TRUE(Admit(1, "one", 256).ok());
  EXPECT_FALSE(Admit(2, "two", 512).ok());
  EXPECT_FALSE(Admit(2, "two", 512).ok());  // held nothing
  admission_.Release(1);
  admission_.Release(1);
  EXPECT_FALSE(Admit(3, "three", 1024).ok());
  EXPECT_TRUE(Admit(3, "three", 256).ok());
}

TEST_F(AdmissionTest, NamesWhatIsNeededWhereAndWhoHoldsTheRest) {
  ASSERT_TRUE(Admit(1, "one", 128).ok());
  const absl::Status status = Admit(2, "two", 512);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      status.message(),
      "program 'two' needs 16384 bytes on island0/host1/device0 (largest "
      "buffers: 'u' 4096, 'first' 4096, 'm' 4096), where 4096 of 16384 bytes "
      "are used; held by program 'one' of client 'me' (4096) [PW3101]");
}

TEST_F(AdmissionTest, WhatNeedsAHostThatIsGoneIsRefused) {
  admission_.HostGone(1, /*epoch=*/3);
  const absl::Status status = Admit(1, "one", 16);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "program 'one' needs host1, which is gone (epoch 3) [PW4101]");
}

// With all memory free, whoever still counts as a holder, and no device lost.
TEST_F(AdmissionTest, AHostThatLivesAgainIsWhole) {
  ASSERT_TRUE(Admit(1, "one", 128).ok());
  admission_.Lose(1, "it hangs");
  EXPECT_FALSE(Admit(2, "two", 128).ok());
  admission_.HostGone(1, /*epoch=*/1);
  EXPECT_EQ(Admit(2, "two", 16).code(), absl::StatusCode::kUnavailable);
  admission_.HostUp(1);
  ASSERT_TRUE(Admit(2, "two", 512).ok());
  // The memory that it held there before is not released a second time.
  admission_.Release(1);
  EXPECT_EQ(Admit(3, "three", 512).code(),
            absl::StatusCode::kResourceExhausted);
  admission_.Release(2);
  EXPECT_TRUE(Admit(3, "three", 512).ok());
}

TEST_F(AdmissionTest, DevicesOfNoShardAreNotCounted) {
  // All lies on the second device: the first one has room.
  ASSERT_TRUE(Admit(1, "one", 512).ok());
  const absl::Status other = admission_.Admit(
      2, *Prepare(MovePlan("two", 1, 0, 0, /*base=*/0, 512), wide_), 0, "me");
  EXPECT_TRUE(other.ok()) << other;
}

TEST_F(AdmissionTest, ALostDeviceTakesNothing) {
  ASSERT_TRUE(Admit(1, "one", 2).ok());
  EXPECT_TRUE(admission_.Uses(1, 1));
  EXPECT_FALSE(admission_.Uses(1, 0));
  EXPECT_FALSE(admission_.Uses(2, 1));
  admission_.Lose(1, "it hangs");
  admission_.Lose(1, "again");
  const absl::Status status = Admit(2, "two", 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      ::testing::HasSubstr(", whose worker is lost: it hangs [PW4102]"));
}

TEST_F(AdmissionTest, KeepsWhatIsOnSomeHosts) {
  auto both = [&](const std::string& name, int64_t elements) {
    return Prepare(MovePlan(name, 2, 0, 0, /*base=*/0, elements), wide_);
  };
  ASSERT_TRUE(admission_.Admit(1, *both("one", 1024), 0, "me").ok());
  WaitSet hosts;
  hosts.Assign({0});
  admission_.ReleaseExcept(1, hosts);
  admission_.ReleaseExcept(2, hosts);
  EXPECT_TRUE(Admit(2, "two", 512).ok());  // on host 1
  const absl::Status status = admission_.Admit(3, *both("three", 2), 0, "me");
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("island0/host0/device0"));
  admission_.Release(2);
  admission_.Release(1);
  EXPECT_TRUE(admission_.Admit(3, *both("three", 1024), 0, "me").ok());
}

}  // namespace
}  // namespace pathways::testing
