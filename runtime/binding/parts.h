//===- parts.h - How hosts hold arrays in parts -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host holds of an argument or a result what its own shards have of it: every
// distinct block once, however many of its shards share it, in the order of the
// first shard that has it; of a partial array every contribution to a block. A
// stepped array has all steps of a block together. The client cuts and joins
// arrays by the same rule, so only bytes travel.
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
  int32_t shard = 0;         // the first one that has it
  int64_t contribution = 0;  // its rank
  uint64_t offset = 0;       // bytes of the parts before it, of one step
  uint64_t bytes = 0;        // of one step
};

struct Parts {
  std::vector<Part> parts;       // none is empty
  std::vector<int32_t> part_of;  // of each shard asked for; -1: it has none
  uint64_t step_bytes = 0;       // of all parts
};

// The parts of `shards`, ascending.
Parts CutParts(const layout::Layout& layout, const layout::Mesh& mesh,
               int64_t element_bytes, const std::vector<int32_t>& shards);

// Where an array of a launch is, on all hosts.
struct ArrayPlacement {
  layout::Layout layout;
  layout::Mesh mesh;
  std::vector<int32_t> device_of;  // of the cluster, by shard
  int64_t element_bytes = 0;
  proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
  bool stepped = false;
  struct Host {
    int32_t host = 0;
    Parts parts;  // without part_of
  };
  std::vector<Host> hosts;  // that have parts, ascending

  // Whether an array of equal type placed there is placed here.
  bool Fits(const ArrayPlacement& there) const;
};
std::shared_ptr<const ArrayPlacement> MakeArrayPlacement(
    const PreparedPlan& plan, const Topology& topology, int buffer,
    bool stepped);

}  // namespace pathways

#endif  // RUNTIME_BINDING_PARTS_H_
