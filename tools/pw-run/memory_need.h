//===- memory_need.h - What a plan needs memory for -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory of a device, from what no plan with these actions in this order
// could do without up to what it takes, by what each part is there for.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_MEMORY_NEED_H_
#define TOOLS_PW_RUN_MEMORY_NEED_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/layout/live_bytes.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// In bytes; each but the first on top of those before it. The sum is the peak.
struct MemoryNeed {
  // The lower bound: the most that is in use at one action when one step runs
  // at a time. What a gang writes in place counts once.
  uint64_t least = 0;
  uint64_t credits = 0;  // for the slots of further steps in flight
  uint64_t kept = 0;     // for what is fed, received or carried when not in use
  uint64_t alignment = 0;  // for whole multiples of the alignment
  uint64_t packing = 0;    // for what buffers of other sizes leave between them
  uint64_t scratch = 0;    // for kernels
  bool operator==(const MemoryNeed&) const = default;
};

// The needs of the devices of one plan, which passed the verifier.
class MemoryNeeds {
 public:
  explicit MemoryNeeds(const proto::Plan& plan);

  // Of a device that has so many shards of each of these slices, buffers of
  // `bytes` in all. Linear in the plan; known after the first time.
  const MemoryNeed& Of(const std::vector<std::pair<uint32_t, uint64_t>>& shards,
                       uint64_t bytes);

 private:
  // A buffer, or several that follow each other in one place.
  struct Use {
    int64_t begin = 0, end = 0;
    int64_t early = -1;  // also from the first action on to this one
    uint64_t bytes = 0;
    uint64_t credits = 1;
    uint32_t place = 0;  // the first buffer there
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
  std::vector<Use> uses_;         // by buffer
  std::vector<uint32_t> places_;  // by buffer: one of the same place
  std::vector<bool> stays_;       // by place
  std::map<std::vector<std::pair<uint32_t, uint64_t>>, MemoryNeed> known_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_MEMORY_NEED_H_
