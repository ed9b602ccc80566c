//===- array_blocks.cc - Arrays into blocks, and back ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_blocks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/executor/launch.h"

namespace pathways {

void CutBlocks(const ArrayPlacement& placement, const HostArray& array,
               uint64_t steps, absl::FunctionRef<void(BlockBytes)> pass_on) {
  const layout::Layout& layout = placement.layout;
  const std::vector<int64_t> zeros(layout.shape.size(), 0);
  const uint64_t step_bytes = array.data.size() / steps;
  for (const ArrayPlacement::Host& host : placement.hosts) {
    std::string bytes(host.parts.step_bytes * steps, '\0');
    for (const Part& part : host.parts.parts) {
      const layout::Box box =
          layout::ShardBox(layout, placement.mesh, part.shard);
      char* to = bytes.data() + part.offset * steps;
      for (uint64_t step = 0; step < steps; ++step) {
        layout::CopyBox(array.data.data() + step * step_bytes, layout.shape,
                        box.begin, to + step * part.bytes, box.extent, zeros,
                        box.extent, placement.element_bytes);
      }
    }
    for (uint64_t at = 0; at < bytes.size(); at += kMaxPieceBytes) {
      pass_on({host.host, bytes.size(), at,
               absl::string_view(bytes).substr(at, kMaxPieceBytes)});
    }
  }
}

BlockAssembly::BlockAssembly(std::shared_ptr<const ArrayPlacement> placement,
                             ElementType element, std::vector<int64_t> shape)
    : placement_(std::move(placement)),
      element_(element),
      shape_(std::move(shape)),
      steps_(placement_->stepped ? shape_.front() : 1) {
  std::set<std::vector<int64_t>> covered;  // where blocks begin
  for (const ArrayPlacement::Host& host : placement_->hosts) {
    uint64_t end = UINT64_MAX;  // of the last range of this host
    for (const Part& part : host.parts.parts) {
      const layout::Box box =
          layout::ShardBox(placement_->layout, placement_->mesh, part.shard);
      if (!covered.insert(box.begin).second) continue;
      if (part.offset * steps_ != end) {
        ranges_.push_back({host.host, part.offset * steps_, {}});
      }
      std::vector<char>& data = ranges_.back().data;
      blocks_.push_back({&part, ranges_.size() - 1, data.size()});
      data.resize(data.size() + part.bytes * steps_);
      remaining_ += part.bytes * steps_;
      end = (part.offset + part.bytes) * steps_;
    }
  }
}

bool BlockAssembly::Write(int32_t host, uint64_t offset,
                          absl::string_view data) {
  auto range = std::upper_bound(
      ranges_.begin(), ranges_.end(), std::make_pair(host, offset),
      [](const std::pair<int32_t, uint64_t>& a, const Range& b) {
        return a < std::make_pair(b.host, b.offset);
      });
  if (range == ranges_.begin()) return complete();
  --range;
  if (range->host != host || offset - range->offset > range->data.size() ||
      data.size() > range->data.size() - (offset - range->offset) ||
      !seen_.insert({host, offset}).second) {
    return complete();
  }
  if (!data.empty()) {
    std::memcpy(range->data.data() + (offset - range->offset), data.data(),
                data.size());
  }
  remaining_ -= std::min<uint64_t>(remaining_, data.size());
  return complete();
}

HostArray BlockAssembly::Join() const {
  HostArray array;
  array.element = element_;
  array.shape = shape_;
  const layout::Layout& layout = placement_->layout;
  const uint64_t bytes = array.num_elements() * placement_->element_bytes;
  const std::vector<int64_t> zeros(layout.shape.size(), 0);
  array.data.resize(bytes);
  for (const Block& block : blocks_) {
    const layout::Box box =
        layout::ShardBox(layout, placement_->mesh, block.part->shard);
    const char* from = ranges_[block.range].data.data() + block.offset;
    for (uint64_t step = 0; step < steps_; ++step) {
      layout::CopyBox(from + step * block.part->bytes, box.extent, zeros,
                      array.data.data() + step * (bytes / steps_), layout.shape,
                      box.begin, box.extent, placement_->element_bytes);
    }
  }
  return array;
}

}  // namespace pathways
