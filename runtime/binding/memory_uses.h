//===- memory_uses.h - Arrays that fill a plan's memory ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the arrays of a slice by their origin: schedules of a pipeline differ
// in what calls keep for later calls and in what arrives from other slices.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_MEMORY_USES_H_
#define RUNTIME_BINDING_MEMORY_USES_H_

#include <cstdint>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways {

// Bytes of one shard in device memory. Each number is the most at any time, at
// times that may differ, and holds neither alignment nor scratch.
struct MemoryUses {
  // Slots of arguments, and of arrays that gangs update in place: weights,
  // state of optimizers, sums of gradients.
  uint64_t parameters = 0;
  // Results of gangs that later gangs read.
  uint64_t kept = 0;
  // Slots of arrays that other slices send.
  uint64_t arriving = 0;
  bool operator==(const MemoryUses&) const = default;
};

// Returns the uses of each slice. The plan passed the verifier and has no
// loops. Takes time linear in the plan, but for sorting.
std::vector<MemoryUses> MemoryUsesOf(const proto::Plan& plan);

}  // namespace pathways

#endif  // RUNTIME_BINDING_MEMORY_USES_H_
