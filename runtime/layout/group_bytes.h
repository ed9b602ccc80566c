//===- group_bytes.h - Bytes that a collective moves ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that the members of a group send to each other in one collective,
// counted without sending them. The compiler and the tools both use these
// numbers.
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
  // The traffic inside one host with members: `devices` is the number of
  // different devices that its members are on, and `bytes` what these devices
  // send to each other. In an all-reduce, that is one contribution and one
  // result for each device but one.
  struct Host {
    uint64_t devices = 0, bytes = 0;
  };
  std::map<int32_t, Host> hosts;
  // Bytes sent between hosts, by (sender, receiver).
  std::map<std::pair<int32_t, int32_t>, uint64_t> between;
  // Number of rounds of messages between hosts; 0 if there is only one host.
  uint64_t rounds = 0;

  uint64_t total() const;
};

// `spec.hosts` may all be the same. `devices` has a number for each rank that
// is unique within the rank's host.
GroupBytes CountGroupBytes(const ExchangeSpec& spec,
                           const std::vector<int64_t>& devices);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_GROUP_BYTES_H_
