//===- block_grid.cc - The distinct blocks of an array --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/block_grid.h"

namespace pathways {

BlockGrid::BlockGrid(const layout::Layout& layout, const layout::Mesh& mesh)
    : shape_(layout.shape), extent_(layout::ShardShape(layout, mesh)) {
  for (size_t d = 0; d < shape_.size(); ++d) {
    counts_.push_back(
        extent_[d] == 0 ? 0 : (shape_[d] + extent_[d] - 1) / extent_[d]);
    size_ *= counts_[d];
    if (counts_[d] > 1) cut_ = d + 1;
  }
}

layout::Box BlockGrid::box(int64_t block) const {
  layout::Box box;
  box.begin.resize(shape_.size());
  box.extent.resize(shape_.size());
  for (size_t d = shape_.size(); d-- > 0;) {
    box.begin[d] = block % counts_[d] * extent_[d];
    box.extent[d] = std::min(extent_[d], shape_[d] - box.begin[d]);
    block /= counts_[d];
  }
  return box;
}

int64_t BlockGrid::Find(const std::vector<int64_t>& element) const {
  int64_t block = 0;
  for (size_t d = 0; d < shape_.size(); ++d) {
    block = block * counts_[d] + element[d] / extent_[d];
  }
  return block;
}

BlockGrid::Place BlockGrid::Locate(int64_t element) const {
  Place place{0, 0, 1};
  // The dimensions that are not cut are contiguous in both array and block.
  int64_t stride = 1, block_stride = 1, grid_stride = 1;
  int64_t rest = element;
  for (size_t d = shape_.size(); d-- > 0;) {
    const int64_t index = rest % shape_[d];
    rest /= shape_[d];
    const int64_t block = index / extent_[d];
    const int64_t begin = block * extent_[d];
    const int64_t extent = std::min(extent_[d], shape_[d] - begin);
    if (d + 1 >= cut_) {
      // The run ends where the block's range of the last cut dimension ends.
      place.count = (begin + extent) * stride - element % (shape_[d] * stride);
    }
    place.at += (index - begin) * block_stride;
    place.block += block * grid_stride;
    stride *= shape_[d];
    block_stride *= extent;
    grid_stride *= counts_[d];
  }
  return place;
}

}  // namespace pathways
