//===- memory_uses.cc - Arrays that fill a plan's memory ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/memory_uses.h"

#include <algorithm>
#include <utility>

#include "runtime/layout/live_bytes.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

enum class Origin { kNone, kParameter, kKept, kArriving };

struct Buffer {
  Origin origin = Origin::kNone;
  int64_t begin = 0;  // entry of the action that writes it
  int64_t end = -1;   // last gang, send or fetch that reads it
  // Buffer whose memory it takes over; -1: none. Number of these before it.
  int64_t before = -1, taken = 0;
};

// Begin and end of bytes in a segment.
using Interval = std::pair<uint64_t, uint64_t>;

// Returns the bytes that are in any of the intervals.
uint64_t UnionOf(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  uint64_t bytes = 0, covered = 0;
  for (auto [begin, end] : intervals) {
    begin = std::max(begin, covered);
    if (end <= begin) continue;
    bytes += end - begin;
    covered = end;
  }
  return bytes;
}

// Notes that `result` takes over the memory of `operand` in action `a`.
void TakeOver(uint32_t operand, uint32_t result, int a,
              std::vector<Buffer>* buffers) {
  Buffer& from = (*buffers)[operand];
  Buffer& to = (*buffers)[result];
  to.before = operand;
  to.taken = from.taken + 1;
  from.end = a - 1;
  if (from.origin == Origin::kParameter || from.origin == Origin::kArriving) {
    to.origin = from.origin;
    return;
  }
  // A single call may write its result over an operand that it no longer needs.
  // An array that gangs update again and again is a sum.
  if (to.taken < 2) return;
  for (int64_t b = result; b >= 0; b = (*buffers)[b].before) {
    (*buffers)[b].origin = Origin::kParameter;
  }
}

// Returns what each buffer is, by the actions that write and read it.
std::vector<Buffer> BuffersOf(const proto::Plan& plan) {
  std::vector<Buffer> buffers(plan.buffers_size());
  for (int a = 0; a < plan.actions_size(); ++a) {
    const proto::Action& action = plan.actions(a);
    for (uint32_t b : action.results()) {
      buffers[b].begin = EntryOf(plan, static_cast<uint32_t>(a));
      if (action.kind() == proto::FEED) buffers[b].origin = Origin::kParameter;
      if (action.kind() == proto::RECV) buffers[b].origin = Origin::kArriving;
    }
    for (uint32_t b : action.operands()) {
      if (action.kind() == proto::FEED) {
        buffers[b].origin = Origin::kParameter;  // carried from step to step
        continue;
      }
      buffers[b].end = std::max<int64_t>(buffers[b].end, a);
      if (action.kind() == proto::GANG && buffers[b].origin == Origin::kNone &&
          buffers[b].begin < a) {
        buffers[b].origin = Origin::kKept;
      }
    }
    for (const proto::Alias& alias : action.aliases()) {
      TakeOver(alias.operand(), alias.result(), a, &buffers);
    }
  }
  return buffers;
}

}  // namespace

std::vector<MemoryUses> MemoryUsesOf(const proto::Plan& plan) {
  const std::vector<Buffer> buffers = BuffersOf(plan);
  std::vector<std::vector<Interval>> parameters(plan.slices_size()),
      arriving(plan.slices_size());
  std::vector<std::vector<layout::LiveRange>> kept(plan.slices_size());
  for (int b = 0; b < plan.buffers_size(); ++b) {
    const proto::Buffer& buffer = plan.buffers(b);
    const Origin origin = buffers[b].origin;
    if (buffer.memory() != proto::DEVICE || origin == Origin::kNone) continue;
    if (origin == Origin::kKept) {
      kept[buffer.slice()].push_back({buffers[b].begin, buffers[b].end,
                                      buffer.bytes() * buffer.credits()});
      continue;
    }
    std::vector<Interval>& intervals =
        (origin == Origin::kParameter ? parameters : arriving)[buffer.slice()];
    for (uint64_t slot = 0; slot < buffer.credits(); ++slot) {
      const uint64_t begin = buffer.offset() + slot * buffer.slot_stride();
      intervals.emplace_back(begin, begin + buffer.bytes());
    }
  }
  std::vector<MemoryUses> uses(plan.slices_size());
  for (int s = 0; s < plan.slices_size(); ++s) {
    uses[s].parameters = UnionOf(std::move(parameters[s]));
    uses[s].kept = layout::PeakLiveBytes(plan.actions_size(), kept[s]);
    uses[s].arriving = UnionOf(std::move(arriving[s]));
  }
  return uses;
}

}  // namespace pathways
