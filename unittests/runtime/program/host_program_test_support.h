//===- host_program_test_support.h - Tables of a host, by hand --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PROGRAM_HOST_PROGRAM_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_PROGRAM_HOST_PROGRAM_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/program/host_program.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {

// One host: makes its tables, and has the memory that they are charged to.
class TestHost {
 public:
  // `cohorts`: of each device; empty: all devices are of one.
  TestHost(const Topology& topology, int host,
           std::vector<uint32_t> cohorts = {},
           uint64_t device_bytes = uint64_t{1} << 20)
      : topology_(topology), host_(host) {
    actors_.cohorts = std::move(cohorts);
    actors_.cohorts.resize(topology.num_host_devices(host));
    for (int d = 0; d < topology.num_host_devices(host); ++d) {
      arenas.emplace_back("device memory", device_bytes, /*backed=*/false);
      actors_.devices.push_back(LocalId{100 + static_cast<uint32_t>(d)});
    }
  }

  // Builds the tables of program 4, incarnation 9.
  absl::StatusOr<std::unique_ptr<HostProgram>> Build(
      std::shared_ptr<const PreparedPlan> plan) {
    std::vector<Arena*> pointers;
    for (Arena& arena : arenas) pointers.push_back(&arena);
    return HostProgram::Build(std::move(plan), topology_, actors_, {}, host_,
                              /*program=*/4, /*incarnation=*/9, pointers,
                              &memory);
  }
  std::unique_ptr<HostProgram> MustBuild(
      std::shared_ptr<const PreparedPlan> plan) {
    absl::StatusOr<std::unique_ptr<HostProgram>> built = Build(std::move(plan));
    EXPECT_TRUE(built.ok()) << built.status();
    return built.ok() ? *std::move(built) : nullptr;
  }
  const HostActors& actors() const { return actors_; }

  std::deque<Arena> arenas;  // of the devices
  Arena memory{"host memory", uint64_t{1} << 20, /*backed=*/false};

 private:
  const Topology& topology_;
  const int host_;
  HostActors actors_;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PROGRAM_HOST_PROGRAM_TEST_SUPPORT_H_
