//===- parts.h - Blocks of arrays that a host holds -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host holds the blocks of an argument or result that belong to its own
// shards. It holds each distinct block once, however many of its shards share
// it, ordered by the first shard that has the block. Of a partial array it
// holds every contribution to a block. All steps of a stepped array's block lie
// together. The client cuts and joins arrays by the same rule, so only bytes
// travel.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PARTS_H_
#define RUNTIME_BINDING_PARTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/binding/prepared_plan.h"
#include "runtime/layout/layout.h"
#include "runtime/topology/topology.h"

namespace pathways {

struct Part {
  int32_t shard = 0;         // first shard that has the part
  int64_t contribution = 0;  // rank of the contribution
  uint64_t offset = 0;       // bytes of the preceding parts, in one step
  uint64_t bytes = 0;        // in one step
};

struct Parts {
  std::vector<Part> parts;  // none is empty
  // Index of each requested shard's part; -1: none.
  std::vector<int32_t> part_of;
  uint64_t step_bytes = 0;  // of all parts
};

// Returns the parts of `shards`, which must be ascending.
Parts CutParts(const layout::Layout& layout, const layout::Mesh& mesh,
               int64_t element_bytes, const std::vector<int32_t>& shards);

// Hosts and devices that hold an array of a launch.
struct ArrayPlacement {
  layout::Layout layout;
  layout::Mesh mesh;
  std::vector<int32_t> device_of;  // number in the cluster, by shard
  int64_t element_bytes = 0;
  proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
  bool stepped = false;
  struct Host {
    int32_t host = 0;
    Parts parts;  // part_of is empty
  };
  std::vector<Host> hosts;  // hosts with at least one part, ascending

  // Returns true if an array of equal type placed as `there` is also placed as
  // this.
  bool Fits(const ArrayPlacement& there) const;
};
std::shared_ptr<const ArrayPlacement> MakeArrayPlacement(
    const PreparedPlan& plan, const Topology& topology, int buffer,
    bool stepped);

}  // namespace pathways

#endif  // RUNTIME_BINDING_PARTS_H_
