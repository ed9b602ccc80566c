//===- staging_test_support.h - Grants of a host, for tests -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_EXECUTOR_STAGING_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_EXECUTOR_STAGING_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/executor/host_dispatcher.h"
#include "runtime/executor/host_grants.h"
#include "runtime/staging/launch_staging.h"
#include "unittests/runtime/executor/outbox_test_support.h"

namespace pathways::testing {

// Owns the staging of launches whose arguments no client sends.
class StagingOwner final : public LaunchStaging::Owner {
 public:
  explicit StagingOwner(const HostPrograms* programs) : programs_(*programs) {}

  const HostProgram* FindProgram(uint32_t program,
                                 uint32_t incarnation) const override {
    return programs_.Find(program, incarnation);
  }
  void SendReady(uint64_t, const absl::Status& status) override {
    EXPECT_TRUE(status.ok()) << status;
  }
  void SendStored(uint64_t) override {}
  void SendStoredSoon() override {}
  void SendFetched(uint32_t, uint64_t, uint64_t) override {}
  void SendToClient(uint32_t, const WireMessage&, Payload) override {}
  void OnFilled() override {}
  void OnLent(uint32_t, uint64_t, const HostStore::Object&) override {}
  void OnLentEnd(uint32_t, uint64_t) override {}

 private:
  const HostPrograms& programs_;
};

// A host that stages and grants launches.
class StagingTest : public OutboxTest {
 protected:
  Arena arena_{"host memory", uint64_t{1} << 20, /*backed=*/true};
  StagingOwner owner_{&programs_};
  LaunchStaging staging_{&owner_, &arena_, "host0"};
  HostDispatcher dispatcher_{&context, 0, &programs_, &outbox_};
  HostGrants grants_{&context, 0,         &programs_,
                     &outbox_, &staging_, &dispatcher_};
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_EXECUTOR_STAGING_TEST_SUPPORT_H_
