//===- group_bytes.h - Bytes that a collective moves ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the members of one group send each other, counted without sending it:
// compiler and tools say the same of a collective.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_GROUP_BYTES_H_
#define RUNTIME_LAYOUT_GROUP_BYTES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/layout/group_exchange.h"

namespace pathways::layout {

struct GroupBytes {
  // Of one host that has members: how many different devices they are on, and
  // what these have in common. Of a reduction that is everybody's contribution
  // to all and the result from them, but the own ones.
  struct Host {
    uint64_t devices = 0, bytes = 0;
  };
  std::map<int32_t, Host> hosts;
  // What hosts send each other, by (sender, receiver).
  std::map<std::pair<int32_t, int32_t>, uint64_t> between;
  // Rounds of messages between hosts; 0: there is one host.
  uint64_t rounds = 0;

  uint64_t total() const;
};

// `spec.hosts` may be one and the same; `devices` are by rank, in numbers that
// tell those of a host apart.
GroupBytes CountGroupBytes(const ExchangeSpec& spec,
                           const std::vector<int64_t>& devices);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_GROUP_BYTES_H_
