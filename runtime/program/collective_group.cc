//===- collective_group.cc - Members of collectives on a host -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/collective_group.h"

#include <algorithm>
#include <utility>

namespace pathways {

GroupMeeting::GroupMeeting(std::vector<std::vector<uint32_t>> devices)
    : cohorts(std::move(devices)), counts(cohorts.size()) {
  for (size_t c = 0; c < cohorts.size(); ++c) {
    counts[c].devices = static_cast<uint32_t>(cohorts[c].size());
  }
}

bool GroupMeeting::ArriveCohort(Count* near, uint64_t which, bool* poison) {
  *poison = near->poisoned[which];
  near->arrived[which] = 0;
  near->poisoned[which] = false;
  if (cohorts.size() == 1) return true;
  Slot& slot = slots[which];
  if (*poison) slot.poisoned.store(true, std::memory_order_relaxed);
  // Releases the cohort's contributions; the last cohort acquires all of them.
  if (slot.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 <
      cohorts.size()) {
    return false;
  }
  *poison = slot.poisoned.load(std::memory_order_relaxed);
  // The other cohorts use the slot again only after they were notified.
  slot.arrived.store(0, std::memory_order_relaxed);
  slot.poisoned.store(false, std::memory_order_relaxed);
  return true;
}

void HostGroup::SetMemory(char* memory) {
  data = memory;
  for (uint64_t which : {0, 1}) {
    for (uint32_t rank = 0; rank < at.size(); ++rank) {
      contributions[which].push_back(contribution(which, rank));
    }
  }
}

int64_t HostGroup::num_own() const {
  int64_t own = 0;
  for (const Local& local : locals) {
    own += static_cast<int64_t>(local.ranks.size());
  }
  return own;
}

namespace {

// Shares are cut so that no two devices write to one cache line.
constexpr int64_t kGrain = 64;  // elements
// Bytes of a group's results above which no cache holds them.
constexpr int64_t kStreamBytes = 16 << 20;

// Returns the range of elements of a contribution that is the share of device
// number `local`.
std::pair<int64_t, int64_t> ShareOf(const CollectiveShape& shape,
                                    const HostGroup& group, uint32_t local) {
  const auto shares = static_cast<int64_t>(group.locals.size());
  const int64_t count = shape.source_bytes / shape.element_bytes;
  const int64_t most = (count + shares * kGrain - 1) / (shares * kGrain);
  const int64_t begin = std::min(count, local * most * kGrain);
  return {begin, std::min(count, begin + most * kGrain)};
}

}  // namespace

void BeginInPlace(const HostGroup& group, uint64_t firing) {
  InPlaceGroup& in_place = *group.in_place;
  for (const HostGroup::Local& local : group.locals) {
    for (uint32_t rank : local.ranks) {
      in_place.operands[rank] = in_place.sources[rank].at(firing);
      in_place.outputs[rank] = in_place.results[rank].at(firing);
    }
  }
}

void CombineShare(const CollectiveShape& shape, const HostGroup& group,
                  uint32_t local, uint64_t firing) {
  if (shape.result_bytes == 0) return;
  const InPlaceGroup& in_place = *group.in_place;
  if (shape.kind != proto::ALL_REDUCE) {
    for (uint32_t rank : group.locals[local].ranks) {
      CombineCollective(shape, rank, in_place.operands.data(),
                        in_place.outputs[rank]);
    }
    return;
  }
  const auto [begin, end] = ShareOf(shape, group, local);
  Reduction reduction;
  reduction.order = &shape.order;
  reduction.operands = in_place.operands.data();
  reduction.operand_first = reduction.result_first = begin;
  reduction.results = in_place.outputs.data();
  reduction.num_results = group.members.size();
  reduction.count = end - begin;
  const Reducer reducer(shape.reduction, shape.element);
  if (group.exchange == nullptr) {
    reduction.streams = shape.size * shape.result_bytes >= kStreamBytes;
    return reducer.Reduce(reduction);
  }
  // With an exchange, compute its nodes.
  const layout::HostExchange& plan = group.exchange->plan();
  reduction.num_results = 1;
  reduction.wide_results = true;
  for (size_t node = 0; node < plan.node_orders.size(); ++node) {
    char* to = group.exchange->memory(firing) + plan.nodes_begin +
               node * plan.nodes_stride;
    reduction.order = &plan.node_orders[node];
    reduction.results = &to;
    reducer.Reduce(reduction);
  }
}

}  // namespace pathways
