//===- host_launch.h - Launches and grants of one host ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_LAUNCH_H_
#define RUNTIME_PROGRAM_HOST_LAUNCH_H_

#include <atomic>
#include <cstdint>
#include <tuple>
#include <vector>

#include "runtime/base/line_allocator.h"
#include "runtime/program/launch.h"
#include "runtime/world/world.h"

namespace pathways {

// The failure with the smallest (firing, action, shard).
struct FirstFailure {
  uint64_t firing = 0;
  uint32_t action = 0, shard = 0, step = 0;  // step of the gang
  int32_t code = 0;                          // 0: no failure

  void Add(const FirstFailure& other) {
    if (other.code == 0) return;
    const auto place = [](const FirstFailure& failure) {
      return std::tie(failure.firing, failure.action, failure.shard);
    };
    if (code == 0 || place(other) < place(*this)) *this = other;
  }
};

// A client's launch on one host: a range of firings and their values. Exists
// from its first grant until all its firings are over.
struct alignas(kLineBytes) HostLaunch {
  uint64_t id = 0;
  uint64_t first = 0;       // first firing of the program
  uint64_t first_step = 0;  // number of the step that firing `first` is
  // Devices read it while a grant that cuts the launch short lowers it. Every
  // firing before that grant is farther from both the old and the new end than
  // a token reaches, so either value gives the same result.
  std::atomic<uint64_t> end{0};
  HostValues values;
  FirstFailure failure;  // failure of grants that are over

  StepNumbers numbers() const { return {first, first_step}; }
};

// A grant of the island's scheduler: the next firings of a launch, at a
// position in the island's order.
struct alignas(kLineBytes) HostGrant {
  HostLaunch* launch = nullptr;
  uint64_t position = 0;
  uint64_t first = 0, end = 0;
  uint32_t cohorts_left = 0;
  // State of one cohort: devices at which the grant is not over, the longest
  // time for which it was the head of a device's queue, and the first failure.
  // Workers write their own cohorts' concurrently.
  struct alignas(kLineBytes) Cohort {
    uint32_t left = 0;
    TimeNs time_ns = 0;
    FirstFailure failure;
  };
  std::vector<Cohort> cohorts;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_LAUNCH_H_
