//===- draw_faults.h - Faults at random -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_DRAW_FAULTS_H_
#define UNITTESTS_RUNTIME_SIMULATE_DRAW_FAULTS_H_

#include <cstdint>
#include <string>

#include "runtime/topology/topology.h"
#include "runtime/world/mix.h"
#include "unittests/runtime/simulate/scenario.pb.h"

namespace pathways::simulate {

// Adds faults to a scenario that has its tenants: in more than half of them
// none that a call could fail for.
void DrawFaults(const Topology& topology, SplitMix* random, Scenario* scenario);
// Adds what goes wrong between clients, which are apart, and the controller.
void DrawClientFaults(const Topology& topology, SplitMix* random,
                      Scenario* scenario);
// Adds a client that dies when control message `point` is delivered, or up to
// 80 messages later, and in three of four cases a host that is lost at `point`
// or a little later.
void AddDeath(const Topology& topology, const std::string& client,
              uint64_t point, SplitMix* random, Scenario* scenario);
// Adds disks that fail.
void DrawDiskFaults(const Topology& topology, SplitMix* random,
                    Scenario* scenario);

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_DRAW_FAULTS_H_
