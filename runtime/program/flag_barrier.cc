//===- flag_barrier.cc - Barrier for small collectives --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/flag_barrier.h"

#include <algorithm>
#include <utility>

#include "runtime/base/buffer_bytes.h"

namespace pathways {

FlagBarrier::FlagBarrier(std::vector<Members> cohorts, uint64_t bytes,
                         uint64_t result_bytes)
    : cohorts_(std::move(cohorts)),
      bytes_(bytes),
      shared_(result_bytes > 0),
      local_(cohorts_.size()),
      cells_(cohorts_.size()) {
  size_t most = 0, all = 0;
  for (size_t c = 0; c < cohorts_.size(); ++c) {
    most = std::max(most, cohorts_[c].devices.size());
    all += cohorts_[c].devices.size();
    local_[c].devices = static_cast<uint32_t>(cohorts_[c].devices.size());
    local_[c].contributions[0] = local_[c].contributions[1] = local_[c].staged;
    local_[c].result = local_[c].own_result;
  }
  for (Local& local : local_) {
    for (auto& operands : local.operands) operands.resize(all);
  }
  if (most * bytes > kCellBytes) {
    slot_bytes_ = cohorts_.size() * AlignBuffer(most * bytes);
  }
  if (result_bytes > kResultBytes) {
    result_bytes_ = cohorts_.size() * AlignBuffer(result_bytes);
  }
  FindOperands();
}

void FlagBarrier::SetMemory(char* memory) {
  for (size_t c = 0; c < cohorts_.size(); ++c) {
    if (slot_bytes_ > 0) {
      char* const begin = memory + c * (slot_bytes_ / cohorts_.size());
      local_[c].contributions[0] = begin;
      local_[c].contributions[1] = begin + slot_bytes_;
    }
    if (result_bytes_ > 0) {
      local_[c].result =
          memory + 2 * slot_bytes_ + c * (result_bytes_ / cohorts_.size());
    }
  }
  FindOperands();
}

void FlagBarrier::FindOperands() {
  for (size_t reader = 0; reader < cohorts_.size(); ++reader) {
    for (uint64_t which : {0, 1}) {
      for (size_t c = 0; c < cohorts_.size(); ++c) {
        char* from = local_[c].contributions[which];
        // A leader that combines for its cohort does so before any of its
        // devices can contribute to the next meeting, so it may read `staged`.
        const bool is_own = c == reader && shared_;
        if (from == local_[c].staged && !is_own) {
          from = cell(c, which).contributions;
        }
        const std::vector<uint32_t>& ranks = cohorts_[c].ranks;
        for (size_t i = 0; i < ranks.size(); ++i) {
          local_[reader].operands[which][ranks[i]] =
              AddressAt(from, i * bytes_);
        }
      }
    }
  }
}

// No wakeup is lost. A leader that arrives stores `arrived`, then loads `waits`
// of the others; a leader that parks stores `waits`, then loads `arrived` of
// the others. All four are sequentially consistent, so of the last leader to
// arrive and one that parks, at least one sees the store of the other. If both
// do, the compare-exchange decides which of them clears `waits`.
bool FlagBarrier::Park(uint32_t cohort) {
  const Local& local = local_[cohort];
  std::atomic<uint64_t>& waits = cell(cohort, local.met - 1).waits;
  waits.store(Mark(local), std::memory_order_seq_cst);
  if (!Look(cohort)) return false;
  uint64_t expected = Mark(local);
  return waits.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
}

bool FlagBarrier::MustWake(uint32_t cohort, uint32_t other) {
  const Local& local = local_[cohort];
  std::atomic<uint64_t>& waits = cell(other, local.met - 1).waits;
  uint64_t expected = Mark(local);
  return waits.load(std::memory_order_seq_cst) == expected &&
         waits.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
}

}  // namespace pathways
