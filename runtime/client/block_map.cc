//===- block_map.cc - Bytes of a host in a client's array -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/block_map.h"

#include <algorithm>

#include "runtime/plan/tables.h"
#include "runtime/program/reduction.h"

namespace pathways {

BlockMap::BlockMap(const ArrayPlacement& placement, const Parts& parts,
                   uint64_t steps, const layout::Box* window, bool sends_all)
    : bytes_(parts.step_bytes * steps),
      array_bytes_(steps * placement.element_bytes),
      reduction_(placement.layout.reduction),
      element_(placement.element),
      element_bytes_(placement.element_bytes),
      sends_all_(sends_all) {
  const layout::Layout& layout = placement.layout;
  std::vector<int64_t> shape =
      window == nullptr ? layout.shape : window->extent;
  for (int64_t size : shape) array_bytes_ *= size;
  shape.insert(shape.begin(), static_cast<int64_t>(steps));
  for (const Part& part : parts.parts) {
    layout::Box box = layout::ShardBox(layout, placement.mesh, part.shard);
    for (size_t d = 0; window != nullptr && d < box.begin.size(); ++d) {
      box.begin[d] -= window->begin[d];
    }
    box.begin.insert(box.begin.begin(), 0);
    box.extent.insert(box.extent.begin(), static_cast<int64_t>(steps));
    blocks_.push_back({part.offset * steps, part.contribution,
                       layout::BlockRuns(shape, box, placement.element_bytes)});
  }
}

size_t BlockMap::IndexAt(uint64_t at) const {
  const auto next = std::upper_bound(
      blocks_.begin(), blocks_.end(), at,
      [](uint64_t byte, const Block& block) { return byte < block.begin; });
  return next == blocks_.begin() ? 0 : next - blocks_.begin() - 1;
}

std::optional<uint64_t> BlockMap::Contiguous(uint64_t at,
                                             uint64_t bytes) const {
  const Block& block = blocks_[IndexAt(at)];
  if (IsNothing(block)) return std::nullopt;
  const layout::BlockRuns::Run run = block.runs.At(at - block.begin);
  if (run.bytes < bytes) return std::nullopt;
  return BeginOf(block) + run.offset;
}

void BlockMap::FillIdentities(uint64_t bytes, char* to) const {
  FillIdentity(ReductionKindOf(reduction_), element_,
               static_cast<int64_t>(bytes) / element_bytes_, to);
}

void BlockMap::Gather(const char* array, uint64_t at, uint64_t bytes,
                      char* to) const {
  Walk(at, bytes,
       [&](const Block& block, uint64_t from, uint64_t here, uint64_t begin) {
         if (IsNothing(block)) return FillIdentities(here, to + begin);
         block.runs.Gather(array + BeginOf(block), from, here, to + begin);
       });
}

void BlockMap::Scatter(const char* from, uint64_t at, uint64_t bytes,
                       char* arrays) const {
  Walk(at, bytes,
       [&](const Block& block, uint64_t into, uint64_t here, uint64_t begin) {
         block.runs.Scatter(from + begin, into, here, arrays + BeginOf(block));
       });
}

}  // namespace pathways
