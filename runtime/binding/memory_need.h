//===- memory_need.h - Purpose of a plan's memory ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the memory of a device by purpose, from the lower bound of all plans
// with these actions in this order up to the memory that this plan takes.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_MEMORY_NEED_H_
#define RUNTIME_BINDING_MEMORY_NEED_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/layout/live_bytes.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// Needs in bytes; each but the first adds to those before it. The sum is the
// peak.
struct MemoryNeed {
  // Lower bound: the most memory in use at one action when one step runs at a
  // time. A buffer that a gang writes in place counts once.
  uint64_t least = 0;
  uint64_t credits = 0;    // slots of further steps in flight
  uint64_t kept = 0;       // fed, received or carried buffers while not in use
  uint64_t alignment = 0;  // rounding up to the alignment
  uint64_t packing = 0;    // gaps between buffers of different sizes
  uint64_t scratch = 0;    // scratch of kernels
  bool operator==(const MemoryNeed&) const = default;
};

// Needs of the devices of one plan, which passed the verifier.
class MemoryNeeds {
 public:
  explicit MemoryNeeds(const proto::Plan& plan);

  // Returns the needs of a device with that many shards of each of these
  // slices, and buffers of `bytes` in all. The first call for given arguments
  // takes time linear in the plan; later calls return the same result.
  const MemoryNeed& Of(const std::vector<std::pair<uint32_t, uint64_t>>& shards,
                       uint64_t bytes);

 private:
  // Use of a buffer, or of several that follow each other in one place.
  struct Use {
    int64_t begin = 0, end = 0;
    int64_t early = -1;  // not -1: also in use from action 0 to this one
    uint64_t bytes = 0;
    uint64_t credits = 1;
    uint32_t place = 0;  // first buffer of the place
  };
  void FindUses();
  void FindPlaces();
  uint32_t PlaceOf(uint32_t buffer);
  void Join(uint32_t a, uint32_t b) { places_[PlaceOf(b)] = PlaceOf(a); }
  bool IsSharedRing(uint32_t operand, uint32_t result) const;

  enum Count { kOneStep, kSlots, kKept, kAligned };
  uint64_t Peak(const std::vector<uint64_t>& shards, Count count) const;
  void AddRanges(const Use& use, uint64_t shards, Count count,
                 std::vector<layout::LiveRange>* ranges) const;

  const proto::Plan& plan_;
  std::vector<Use> uses_;         // index: buffer
  std::vector<uint32_t> places_;  // index: buffer; a buffer of the same place
  std::vector<bool> stays_;       // index: place
  std::map<std::vector<std::pair<uint32_t, uint64_t>>, MemoryNeed> known_;
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_MEMORY_NEED_H_
