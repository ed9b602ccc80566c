//===- derive_edges.h - Edges that follow from buffers ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_DERIVE_EDGES_H_
#define RUNTIME_PLAN_DERIVE_EDGES_H_

#include <cstdint>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways {

// Buffer `after` takes bytes of buffer `before`: in the same firing, or in a
// later one (then `after` is among the first buffers in these bytes and
// `before` among the last).
struct MemoryTurn {
  uint32_t before = 0;
  uint32_t after = 0;
  bool is_later = false;

  bool operator==(const MemoryTurn&) const = default;
};

// Returns which buffers of a plan take turns in the same bytes, by the offsets
// of the buffers and the order of the actions, sorted by slice, credits and
// place of the entry. Buffers that share bytes must have equal credits and
// strides. Every buffer must have one writer.
std::vector<MemoryTurn> FindTurns(const proto::Plan& plan);

// Appends the data, credit and reuse edges that rules 3 to 6 of
// docs/plan-format.md require for the buffers of a plan without loops: data and
// its credits, buffer by buffer; then those by which buffers take turns. No
// edge is appended twice. Every buffer must have one writer, and the send of
// each recv must be its peer. Time is O(n log n) in the size of the tables.
void DeriveEdges(proto::Plan* plan);

}  // namespace pathways

#endif  // RUNTIME_PLAN_DERIVE_EDGES_H_
