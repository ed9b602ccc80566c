//===- client_id.h - Numbers of clients' launches and arrays ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CLIENT_ID_H_
#define RUNTIME_PROTOCOL_CLIENT_ID_H_

#include <cstdint>

namespace pathways {

// Client numbers per process: client c belongs to process
// c / kMaxProcessClients.
inline constexpr uint32_t kMaxProcessClients = 128;

// A client numbers its launches and its objects from 1. Between the controller
// and the hosts, an id also contains the client. So clients need not agree on
// numbers, and cannot name what belongs to another client.
inline constexpr int kClientNumberBits = 44;
inline constexpr uint64_t kMaxClientNumber =
    (uint64_t{1} << kClientNumberBits) - 1;

// `number` is at most kMaxClientNumber; 0, which names nothing, stays 0.
constexpr uint64_t ClientId(uint32_t client, uint64_t number) {
  return number == 0 ? 0 : uint64_t{client} << kClientNumberBits | number;
}
constexpr uint32_t ClientOf(uint64_t id) {
  return static_cast<uint32_t>(id >> kClientNumberBits);
}
constexpr uint64_t NumberOf(uint64_t id) { return id & kMaxClientNumber; }

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CLIENT_ID_H_
