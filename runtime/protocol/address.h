//===- address.h - Who can be spoken to from another host -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The controller, the scheduler of an island, the executor of a host, the
// reporter of a process, a client. Devices are known to their host alone and
// have no address.
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
  kClient = 4,     // index: one of its process, which no other process gives
  kReporter = 5,   // index: process
};

// "controller", "scheduler", ...; "unknown" of other numbers.
const char* RoleName(Role role);

// Who an actor is. The epoch is the number of its host's life: 1, and one more
// each time that the host is replaced; 0: of none that is known.
struct Address {
  Role role = Role::kController;
  uint32_t index = 0;
  uint32_t epoch = 0;
  bool operator==(const Address&) const = default;
};

// The number of an actor that has an address: a function of its role, its index
// and the sizes of the cluster (directory.h), so the same in every process.
using ActorId = uint32_t;
inline constexpr ActorId kNoActor = UINT32_MAX;

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_ADDRESS_H_
