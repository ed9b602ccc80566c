//===- memory_need.cc - Purpose of a plan's memory ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/memory_need.h"

#include <algorithm>

#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/tables.h"

namespace pathways {

MemoryNeeds::MemoryNeeds(const proto::Plan& plan) : plan_(plan) {
  FindUses();
  FindPlaces();
}

void MemoryNeeds::FindUses() {
  uses_.resize(plan_.buffers_size());
  for (int b = 0; b < plan_.buffers_size(); ++b) {
    uses_[b].bytes = plan_.buffers(b).bytes();
    uses_[b].credits = plan_.buffers(b).credits();
  }
  for (int a = 0; a < plan_.actions_size(); ++a) {
    for (uint32_t b : plan_.actions(a).results()) {
      uses_[b].begin = EntryOf(plan_, static_cast<uint32_t>(a));
      uses_[b].end = std::max<int64_t>(uses_[b].end, a);
    }
    if (plan_.actions(a).kind() == proto::FEED) continue;
    for (uint32_t b : plan_.actions(a).operands()) {
      uses_[b].end = std::max<int64_t>(uses_[b].end, a);
    }
  }
  for (int a = 0; a < plan_.actions_size(); ++a) {
    const proto::Action& action = plan_.actions(a);
    // The result takes the place of the operand from here on.
    for (const proto::Alias& alias : action.aliases()) {
      uses_[alias.operand()].end = a - 1;
    }
    if (action.kind() != proto::FEED) continue;
    // A carried value stays in its buffer until its feed copies it in the next
    // step.
    for (uint32_t b : action.operands()) {
      uses_[b].end = plan_.actions_size() - 1;
      uses_[b].early = std::max<int64_t>(uses_[b].early, a - 1);
    }
  }
}

// Does what FindShared of a loaded plan does, but by the purpose of each
// buffer.
void MemoryNeeds::FindPlaces() {
  places_.resize(plan_.buffers_size());
  for (size_t b = 0; b < places_.size(); ++b) {
    places_[b] = static_cast<uint32_t>(b);
  }
  for (const proto::Action& action : plan_.actions()) {
    for (const proto::Alias& alias : action.aliases()) {
      Join(alias.operand(), alias.result());
    }
    if (action.kind() != proto::FEED) continue;
    for (uint32_t b : action.operands()) {
      if (IsSharedRing(b, action.results(0))) Join(action.results(0), b);
    }
  }
  stays_.assign(places_.size(), false);
  for (const proto::Action& action : plan_.actions()) {
    if (action.kind() != proto::GANG) {
      for (uint32_t b : action.results()) stays_[PlaceOf(b)] = true;
    }
    if (action.kind() != proto::FEED) continue;
    for (uint32_t b : action.operands()) stays_[PlaceOf(b)] = true;
  }
  for (size_t b = 0; b < uses_.size(); ++b) {
    uses_[b].place = PlaceOf(static_cast<uint32_t>(b));
  }
}

bool MemoryNeeds::IsSharedRing(uint32_t operand, uint32_t result) const {
  const proto::Buffer& a = plan_.buffers(static_cast<int>(operand));
  const proto::Buffer& b = plan_.buffers(static_cast<int>(result));
  return a.offset() == b.offset() && a.memory() == b.memory() &&
         a.credits() == 1 && b.credits() == 1;
}

uint32_t MemoryNeeds::PlaceOf(uint32_t buffer) {
  uint32_t place = buffer;
  while (places_[place] != place) place = places_[place];
  // Shortens the path, so that long chains are walked only once.
  while (places_[buffer] != place) {
    const uint32_t next = places_[buffer];
    places_[buffer] = place;
    buffer = next;
  }
  return place;
}

void MemoryNeeds::AddRanges(const Use& use, uint64_t shards, Count count,
                            std::vector<layout::LiveRange>* ranges) const {
  uint64_t bytes = count == kAligned ? AlignBuffer(use.bytes) : use.bytes;
  bytes = AddBytes(0, bytes, shards);
  if (count != kOneStep) bytes = AddBytes(0, bytes, use.credits);
  if (count >= kKept && stays_[use.place]) {
    // Buffers that follow each other in a place count once.
    if (&use != &uses_[use.place]) return;
    ranges->push_back({0, plan_.actions_size() - 1, bytes});
    return;
  }
  ranges->push_back({use.begin, use.end, bytes});
  // Slots that exist already are enough for the previous step.
  const int64_t early =
      count == kOneStep ? use.early : std::min(use.early, use.begin - 1);
  if (early >= 0) ranges->push_back({0, early, bytes});
}

uint64_t MemoryNeeds::Peak(const std::vector<uint64_t>& shards,
                           Count count) const {
  std::vector<layout::LiveRange> ranges;
  for (size_t b = 0; b < uses_.size(); ++b) {
    const proto::Buffer& buffer = plan_.buffers(static_cast<int>(b));
    const uint64_t here = shards[buffer.slice()];
    if (here == 0 || buffer.memory() != proto::DEVICE) continue;
    AddRanges(uses_[b], here, count, &ranges);
  }
  return layout::PeakLiveBytes(plan_.actions_size(), ranges);
}

const MemoryNeed& MemoryNeeds::Of(
    const std::vector<std::pair<uint32_t, uint64_t>>& shards, uint64_t bytes) {
  auto [known, added] = known_.try_emplace(shards);
  MemoryNeed& need = known->second;
  if (!added) return need;
  std::vector<uint64_t> of_slice(plan_.slices_size(), 0);
  for (auto [slice, count] : shards) of_slice[slice] += count;
  // Plans that another compiler made may let received buffers share their
  // memory.
  const uint64_t slots = std::min(Peak(of_slice, kSlots), bytes);
  const uint64_t least = std::min(Peak(of_slice, kOneStep), slots);
  const uint64_t kept = std::clamp(Peak(of_slice, kKept), slots, bytes);
  const uint64_t aligned = std::clamp(Peak(of_slice, kAligned), kept, bytes);
  need = {least,          slots - least,   kept - slots,
          aligned - kept, bytes - aligned, /*scratch=*/0};
  return need;
}

}  // namespace pathways
