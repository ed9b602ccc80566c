//===- block_runs.cc - Byte ranges of a block in its array ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/block_runs.h"

#include <algorithm>
#include <cstring>

namespace pathways::layout {
namespace {

// A size that is known at compile time turns the copy of one element into a
// load and a store.
template <uint64_t kBytes>
void CopyRuns(const char* from, uint64_t from_stride, char* to,
              uint64_t to_stride, uint64_t bytes, uint64_t runs) {
  for (; runs > 0; --runs, from += from_stride, to += to_stride) {
    std::memcpy(to, from, kBytes > 0 ? kBytes : bytes);
  }
}

void CopyRuns(const char* from, uint64_t from_stride, char* to,
              uint64_t to_stride, uint64_t bytes, uint64_t runs) {
  switch (bytes) {
    case 1:
      return CopyRuns<1>(from, from_stride, to, to_stride, bytes, runs);
    case 2:
      return CopyRuns<2>(from, from_stride, to, to_stride, bytes, runs);
    case 4:
      return CopyRuns<4>(from, from_stride, to, to_stride, bytes, runs);
    case 8:
      return CopyRuns<8>(from, from_stride, to, to_stride, bytes, runs);
    default:
      return CopyRuns<0>(from, from_stride, to, to_stride, bytes, runs);
  }
}

}  // namespace

BlockRuns::BlockRuns(const std::vector<int64_t>& shape, const Box& box,
                     int64_t element_bytes) {
  run_bytes_ = static_cast<uint64_t>(element_bytes);
  // The loop starts at the last dimension: while dimensions are taken whole, a
  // run extends into the next one.
  uint64_t stride = run_bytes_;
  bool whole = true;
  for (size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<uint64_t>(box.extent[d]);
    base_ += static_cast<uint64_t>(box.begin[d]) * stride;
    if (whole) {
      run_bytes_ *= extent;
    } else if (!dims_.empty() &&
               dims_.back().stride * dims_.back().extent == stride) {
      dims_.back().extent *= extent;
    } else if (extent > 1) {
      dims_.push_back({extent, stride});
    }
    whole &= box.extent[d] == shape[d];
    stride *= static_cast<uint64_t>(shape[d]);
  }
  std::reverse(dims_.begin(), dims_.end());
  bytes_ = run_bytes_;
  for (const Dim& dim : dims_) bytes_ *= dim.extent;
}

BlockRuns::Run BlockRuns::At(uint64_t at) const {
  uint64_t run = at / run_bytes_;
  const uint64_t within = at % run_bytes_;
  Run out{base_ + within, run_bytes_ - within};
  for (size_t d = dims_.size(); d-- > 0;) {
    out.offset += run % dims_[d].extent * dims_[d].stride;
    run /= dims_[d].extent;
  }
  return out;
}

template <typename Copy>
void BlockRuns::Walk(uint64_t at, uint64_t bytes, Copy copy) const {
  while (bytes > 0) {
    const Run run = At(at);
    uint64_t taken = std::min(bytes, run.bytes);
    if (taken < run_bytes_ || dims_.empty()) {
      copy(run.offset, taken, /*runs=*/1, /*stride=*/0);
    } else {
      // Copies whole runs up to the end of the last dimension.
      const Dim& dim = dims_.back();
      const uint64_t runs = std::min(dim.extent - at / run_bytes_ % dim.extent,
                                     bytes / run_bytes_);
      copy(run.offset, run_bytes_, runs, dim.stride);
      taken = runs * run_bytes_;
    }
    at += taken;
    bytes -= taken;
  }
}

void BlockRuns::Gather(const char* array, uint64_t at, uint64_t bytes,
                       char* to) const {
  Walk(at, bytes,
       [&](uint64_t offset, uint64_t run, uint64_t runs, uint64_t stride) {
         CopyRuns(array + offset, stride, to, run, run, runs);
         to += run * runs;
       });
}

void BlockRuns::Scatter(const char* from, uint64_t at, uint64_t bytes,
                        char* array) const {
  Walk(at, bytes,
       [&](uint64_t offset, uint64_t run, uint64_t runs, uint64_t stride) {
         CopyRuns(from, run, array + offset, stride, run, runs);
         from += run * runs;
       });
}

}  // namespace pathways::layout
