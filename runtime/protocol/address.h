//===- address.h - Addresses of actors --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addressable actors: the controller, the scheduler of an island, the executor
// of a host, the reporter of a process, and a client. Devices have no address:
// only their own host knows them.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_ADDRESS_H_
#define RUNTIME_PROTOCOL_ADDRESS_H_

#include <cstdint>

namespace pathways {

// The numbers are part of the wire format.
enum class Role : uint8_t {
  kController = 1,
  kScheduler = 2,  // index: island
  kExecutor = 3,   // index: host of the cluster
  kClient = 4,     // index: unique among all processes
  kReporter = 5,   // index: process
};

// Returns "controller", "scheduler", ...; "unknown" for other numbers.
const char* RoleName(Role role);

// Identity of an actor. The epoch counts the incarnations of its host: 1, plus
// 1 for each replacement; 0 if unknown.
struct Address {
  Role role = Role::kController;
  uint32_t index = 0;
  uint32_t epoch = 0;
  bool operator==(const Address&) const = default;
};

// Number of an addressable actor. It is a function of the role, the index and
// the sizes of the cluster (directory.h), so it is the same in every process.
using ActorId = uint32_t;
inline constexpr ActorId kNoActor = UINT32_MAX;

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_ADDRESS_H_
