//===- edge_bases.h - First in-edge of each edge ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_EDGE_BASES_H_
#define RUNTIME_PROGRAM_EDGE_BASES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pathways {

// No entry, or no in-edge.
inline constexpr uint32_t kNoEntry = UINT32_MAX;

// The in-edges of a device that belong to one edge are consecutive, in the
// order of the device's shards. This table has the index of the first one, for
// each edge of the plan and each device of the host.
class EdgeBases {
 public:
  EdgeBases() = default;
  // At first there are no in-edges.
  EdgeBases(size_t edges, size_t devices)
      : devices_(devices), bases_(edges * devices, kNoEntry) {}

  // Returns the in-edge of the device's first shard, or kNoEntry. `edge` and
  // `device` must exist.
  uint32_t At(uint32_t edge, uint32_t device) const {
    return bases_[uint64_t{edge} * devices_ + device];
  }
  void Set(uint32_t edge, uint32_t device, uint32_t in_edge) {
    bases_[uint64_t{edge} * devices_ + device] = in_edge;
  }

 private:
  size_t devices_ = 0;
  std::vector<uint32_t> bases_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_EDGE_BASES_H_
