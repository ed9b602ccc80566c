//===- exchange_state.cc - Progress of a host's exchange ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/exchange_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/plan/tables.h"

namespace pathways {

ExchangeState::ExchangeState(std::shared_ptr<const layout::HostExchange> plan,
                             Reducer reducer)
    : plan_(std::move(plan)), reducer_(reducer) {
  for (Slot& slot : slots_) slot.received.assign(plan_->receives.size(), 0);
  size_t most = 0;
  for (const layout::ExchangeReduction& reduction : plan_->reductions) {
    most = std::max(most, reduction.operands.size());
  }
  operands_.resize(most);
}

void ExchangeState::Contribute(const CollectiveShape& shape, uint32_t own,
                               uint64_t firing, const char* source) const {
  char* const memory = this->memory(firing);
  const layout::BlockPlaces& to = plan_->contributions;
  if (to.begin.size() == 1) {
    std::memcpy(memory + to.at(own, 0), source, shape.source_bytes);
    return;
  }
  const Block dense = DenseBlock(shape.source_blocks.first);
  for (int64_t rank = 0; rank < shape.size; ++rank) {
    CopyBlock(shape.source_blocks.at(rank), source, dense,
              memory + to.at(own, rank));
  }
}

void ExchangeState::TakeResult(const CollectiveShape& shape, uint32_t own,
                               uint64_t firing, char* result) const {
  const char* const memory = this->memory(firing);
  if (IsPermutation(shape.kind)) {
    if (plan_->permuted[own] < 0) {
      std::memset(result, 0, shape.result_bytes);
    } else {
      std::memcpy(result, memory + plan_->permuted[own], shape.result_bytes);
    }
    return;
  }
  const layout::BlockPlaces& from = plan_->results;
  if (shape.reduces()) {
    std::memcpy(result, memory + from.at(own, 0), shape.result_bytes);
    return;
  }
  const Block dense = DenseBlock(shape.result_blocks.first);
  for (int64_t rank = 0; rank < shape.size; ++rank) {
    CopyBlock(dense, memory + from.at(own, rank), shape.result_blocks.at(rank),
              result);
  }
}

void ExchangeState::Arrive(uint64_t firing, bool poison) {
  slot(firing).arrived = true;
  slot(firing).poisoned |= poison;
}

bool ExchangeState::Receive(uint64_t firing, int32_t host, uint32_t round,
                            bool poison, const void* payload, uint64_t bytes) {
  if (firing - next_ > 1) return false;  // also if below next_
  const int64_t index = plan_->ReceiveOf(host, round);
  if (index < 0 || slot(firing).received[index]) return false;
  const layout::ExchangeMessage& expected = plan_->receives[index];
  if (!poison && bytes != expected.bytes) return false;
  Slot& at = slot(firing);
  at.poisoned |= poison;
  char* const memory = this->memory(firing);
  if (!poison && payload != nullptr && memory != nullptr && bytes > 0 &&
      payload != memory + expected.begin) {
    std::memcpy(memory + expected.begin, payload, bytes);
  }
  at.received[index] = 1;
  return true;
}

char* ExchangeState::PlaceOf(uint64_t firing, int32_t host, uint32_t round,
                             uint64_t bytes) const {
  if (firing - next_ > 1 || memory(firing) == nullptr) return nullptr;
  const int64_t index = plan_->ReceiveOf(host, round);
  if (index < 0 || slot(firing).received[index] ||
      plan_->receives[index].bytes != bytes) {
    return nullptr;
  }
  return memory(firing) + plan_->receives[index].begin;
}

const layout::ExchangeMessage* ExchangeState::Awaited(uint64_t firing) const {
  const Slot& at = slot(firing);
  if (!at.arrived || at.next >= plan_->steps.size()) return nullptr;
  const layout::ExchangeStep& step = plan_->steps[at.next];
  return step.kind == layout::ExchangeStep::kAwait
             ? &plan_->receives[step.index]
             : nullptr;
}

void ExchangeState::Copy(char* memory, const layout::ExchangeCopy& copy) const {
  std::memcpy(memory + copy.to, memory + copy.from, copy.bytes);
}

void ExchangeState::Reduce(char* memory,
                           const layout::ExchangeReduction& reduction) {
  for (size_t i = 0; i < reduction.operands.size(); ++i) {
    operands_[i] = memory + reduction.operands[i];
  }
  char* const result = memory + reduction.result;
  Reduction work;
  work.order = &reduction.order;
  work.operands = operands_.data();
  work.wide_operands = reduction.wide_operands;
  work.results = &result;
  work.wide_results = reduction.wide_result;
  work.count = reduction.count;
  reducer_.Reduce(work);
}

}  // namespace pathways
