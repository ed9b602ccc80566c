//===- trial.h - Trial of a scenario against the rules ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_TRIAL_H_
#define UNITTESTS_RUNTIME_SIMULATE_TRIAL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "unittests/runtime/simulate/scenario.pb.h"

namespace pathways::simulate {

// Runs it, and what it is compared with. The same for the same scenario.
Report Try(const Scenario& scenario);

// Tries DrawScenario of each seed from `first` on, with a bug planted (empty:
// none), in a process of its own, so that a crash is a report too. `take`
// returns whether to continue.
void TrySeeds(uint64_t first, uint64_t seeds, const std::string& bug,
              const std::function<bool(const Report&)>& take);
// As Try, likewise.
Report TryApart(const Scenario& scenario);

// The smallest scenario that was found by leaving out what `scenario` fails
// without, in at most `trials` trials; `report` becomes its.
Scenario Shrink(const Scenario& scenario, int trials, Report* report);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_TRIAL_H_
