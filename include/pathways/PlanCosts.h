//===- PlanCosts.h - Costs of compiled programs -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_PLANCOSTS_H
#define PATHWAYS_PLANCOSTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace pathways {

/// Options for the costs of a plan.
struct CostOptions {
  /// The machines, written as in SessionOptions. They must have the islands and
  /// devices that the plan was compiled for.
  std::string topology = {};
  /// Steps to simulate, for PlanCosts::step_ns; 0: no simulation.
  int64_t steps = 1;
};

/// Memory of a device by purpose, in bytes. The parts add up to the peak.
struct MemoryParts {
  /// Lower bound: the most in use at one action when one step runs at a time.
  uint64_t one_step = 0;
  /// Slots of further steps in flight.
  uint64_t credits = 0;
  /// Arguments, received and carried values while they are not in use.
  uint64_t kept = 0;
  uint64_t alignment = 0; ///< rounding up
  uint64_t packing = 0;   ///< gaps between buffers
  uint64_t scratch = 0;   ///< of kernels
};

/// Costs of a plan on one device.
struct DeviceCosts {
  std::string device;      ///< "island0/host1/device2"
  uint64_t peak_bytes = 0; ///< most memory at any time
  MemoryParts memory;
  uint64_t shards = 0; ///< of all slices
  uint64_t gangs = 0;  ///< joint actions of several devices, per step
  /// Time of its actions in one step, one after the other, by estimate or
  /// profile.
  uint64_t busy_ns = 0;
};

/// Bytes that one step moves between different devices of two islands, or of
/// one island.
struct LinkCosts {
  std::string from, to;
  uint64_t bytes = 0;
};

/// An argument that each step copies from where the last one left it.
struct CopiedArgument {
  std::string argument;
  uint64_t bytes = 0; ///< of all shards
};

/// Costs of a plan without running it.
struct PlanCosts {
  /// Devices that the plan uses, in the order of the cluster.
  std::vector<DeviceCosts> devices;
  /// Peak of the device with the largest, and sum over all devices.
  uint64_t peak_bytes = 0, total_bytes = 0;
  /// Time of a step on the machines in a simulation that launches
  /// CostOptions::steps steps at once; 0 without simulation.
  int64_t step_ns = 0;
  /// Bytes that one step moves inside islands, and between islands; and for
  /// each pair of islands.
  uint64_t ici_bytes = 0, dcn_bytes = 0;
  std::vector<LinkCosts> links;
  std::vector<CopiedArgument> copied;
  /// Names of movements that are in no sum, since they have too many pieces.
  std::vector<std::string> not_counted;
};

} // namespace pathways

#endif // PATHWAYS_PLANCOSTS_H
