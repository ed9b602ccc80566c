//===- SimulatedStep.h - Costs of a step of a plan --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_SIMULATEDSTEP_H
#define LIB_API_SIMULATEDSTEP_H

#include "pathways/Plan.h"
#include "pathways/Result.h"
#include "pathways/ScheduleCosts.h"
#include "runtime/topology/topology.h"

namespace pathways {

/// Fills `costs` for a step of `plan` on these machines: memory and bytes from
/// its tables, times from a run of one step in virtual time, as if the devices
/// had enough memory. Thread-safe. Errors: RunFailed, also if the plan breaks a
/// rule or does not fit the machines; Refused if this process lacks memory.
Status simulateStep(const Plan &plan, const Topology &topology,
                    ScheduleCosts &costs);

} // namespace pathways

#endif // LIB_API_SIMULATEDSTEP_H
