//===- parts.cc - Blocks of arrays that a host holds ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/parts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pathways {

Parts CutParts(const layout::Layout& layout, const layout::Mesh& mesh,
               int64_t element_bytes, const std::vector<int32_t>& shards) {
  Parts out;
  // Index of a block's part, by contribution and origin of the block.
  std::map<std::pair<int64_t, std::vector<int64_t>>, int32_t> seen;
  for (int32_t shard : shards) {
    const layout::Box box = layout::ShardBox(layout, mesh, shard);
    if (box.empty()) {
      out.part_of.push_back(-1);
      continue;
    }
    const int64_t contribution = layout::ContributionOf(layout, mesh, shard);
    auto [found, added] = seen.try_emplace({contribution, box.begin},
                                           static_cast<int32_t>(seen.size()));
    out.part_of.push_back(found->second);
    if (!added) continue;
    Part part;
    part.shard = shard;
    part.contribution = contribution;
    part.offset = out.step_bytes;
    part.bytes = static_cast<uint64_t>(box.numElements()) * element_bytes;
    out.step_bytes += part.bytes;
    out.parts.push_back(part);
  }
  return out;
}

bool ArrayPlacement::Fits(const ArrayPlacement& there) const {
  return this == &there ||
         (layout == there.layout && mesh == there.mesh &&
          device_of == there.device_of && element == there.element &&
          stepped == there.stepped);
}

std::shared_ptr<const ArrayPlacement> MakeArrayPlacement(
    const PreparedPlan& plan, const Topology& topology, int buffer,
    bool stepped) {
  const PreparedBuffer& b = plan.buffers()[buffer];
  const PreparedSlice& slice = plan.slices()[b.slice];
  const SliceBinding& bound = plan.bound(static_cast<uint32_t>(b.slice));
  auto out = std::make_shared<ArrayPlacement>();
  out->layout = b.layout;
  out->mesh = slice.mesh;
  out->device_of = bound.device_of;
  out->element_bytes = b.element_bytes;
  out->element = b.element;
  out->stepped = stepped;
  std::map<int32_t, std::vector<int32_t>> shards;  // by host
  for (size_t s = 0; s < bound.device_of.size(); ++s) {
    shards[topology.LocateGlobal(bound.device_of[s]).host].push_back(
        static_cast<int32_t>(s));
  }
  for (const auto& [host, own] : shards) {
    ArrayPlacement::Host one{
        host, CutParts(b.layout, slice.mesh, b.element_bytes, own)};
    one.parts.part_of = {};
    if (one.parts.step_bytes > 0) out->hosts.push_back(std::move(one));
  }
  return out;
}

}  // namespace pathways
