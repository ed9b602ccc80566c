//===- collective.h - The arithmetic of collectives -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contributions are combined in rank order, one after the other, so that the
// bits do not depend on who arrived first or on where the shards are.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_COLLECTIVE_H_
#define RUNTIME_EXECUTOR_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways {

// One collective of a group, seen by its member of rank `rank`.
struct CollectiveShape {
  proto::CollectiveKind kind = proto::ALL_REDUCE;
  proto::ReductionKind reduction = proto::ADD;
  proto::ElementType element = proto::F32;
  int64_t element_bytes = 4;
  int64_t size = 1;  // members
  int64_t dim = 0, concat_dim = 0, shift = 0;
  bool wrap = false;
  std::vector<int64_t> source;  // shape of a contribution
  std::vector<int64_t> result;  // shape of the result
};

// Writes the result of member `rank`, dense, to `result`. contributions[r]
// points to the contribution of rank r; none may overlap `result`.
void CombineCollective(const CollectiveShape& shape, int64_t rank,
                       const char* const* contributions, char* result);

// Fills `count` elements with the identity of a reduction, or with zeros.
void FillIdentity(proto::ReductionKind reduction, proto::ElementType element,
                  int64_t count, char* data);

// into[i] = into[i] `reduction` from[i].
void Accumulate(proto::ReductionKind reduction, proto::ElementType element,
                int64_t count, const char* from, char* into);

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_COLLECTIVE_H_
