//===- draw_scenario.h - Scenarios at random --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_DRAW_SCENARIO_H_
#define UNITTESTS_RUNTIME_SIMULATE_DRAW_SCENARIO_H_

#include <cstdint>

#include "unittests/runtime/simulate/scenario.pb.h"

namespace pathways::simulate {

// Half of the tenants reserve slices from this seed on.
inline constexpr uint64_t kFirstReserving = 40'000;
// From here on some clients have links of their own, and some disks fail.
inline constexpr uint64_t kFirstOfLinks = 50'000;
// From here on a client dies in each eighth, and in most of these a host is
// lost at about the same time.
inline constexpr uint64_t kFirstOfDeaths = uint64_t{1} << 32;
// From here on programs may read the number of the step, and may have
// contributions as arguments and results. Random seeds begin here.
inline constexpr uint64_t kFirstOfNumbers = uint64_t{1} << 33;

// A small cluster, a few tenants with programs and calls, and faults: the same
// for the same seed.
Scenario DrawScenario(uint64_t seed);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_DRAW_SCENARIO_H_
