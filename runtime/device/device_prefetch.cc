//===- device_prefetch.cc - Prefetching for a device ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>

#include "runtime/base/prefetch.h"
#include "runtime/device/device.h"

namespace pathways {
namespace {

// Upper bound on the prefetched elements of tables with an element per entry;
// most programs have no more on a device.
constexpr size_t kFewEntries = 8;

template <typename Table>
void PrefetchFirst(const Table& table) {
  PrefetchBytes(table.data(),
                std::min(table.size(), kFewEntries) * sizeof(table[0]));
}

}  // namespace

// Prefetches what the handlers of tokens and of the end of a gang read, and
// what fires then. Each step follows pointers that the previous one prefetched.
void Device::PrefetchLocal(const LocalMessage& message, int step) const {
  if (step == 0) {
    PrefetchBetween(this, &counters_);
    PrefetchBytes(&counters_.firings, sizeof(Counter));
    PrefetchBytes(&counters_.sent[kLocalToken], sizeof(Counter));
    PrefetchBytes(&counters_.sent[kCostDone], sizeof(Counter));
    return;
  }
  const DeviceProgram* program =
      message.program < programs_.size() ? programs_[message.program] : nullptr;
  if (program == nullptr) return;
  if (step == 1) {
    PrefetchBetween(program, &program->meetings);
    PrefetchBetween(&program->sends, &program->max_operands);
    PrefetchBytes(cohort_, 1);
    ready_.Prefetch();
    return;
  }
  if (step == 2) {
    PrefetchFirst(program->entries);
    PrefetchFirst(program->in_edges);
    PrefetchFirst(program->out);
    PrefetchBytes(program->queue.get(), 1);
    PrefetchBytes(program->sends.data(), 1);
    PrefetchBytes(program->recvs.data(), 1);
    PrefetchBytes(program->pieces.data(), sizeof(PieceOut));
    program->active.Prefetch();
    cohort_->Prefetch();
    return;
  }
  if (step == 3) {
    const uint64_t firing =
        message.kind == kLocalToken ? message.step : queue_.next_firing();
    PrefetchBytes(program->counts.data() + program->EntryAt(0, firing), 1);
    PrefetchBytes(program->poison.data() + program->EntryAt(0, firing), 1);
    PrefetchBytes(program->arrived.data() + program->InEdgeAt(0, firing), 1);
    if (program->queue != nullptr) {
      PrefetchBytes(program->queue->gangs.data(), sizeof(Gang));
    }
    return;
  }
  if (program->active.empty()) return;
  PrefetchBytes(program->active.front().grant, sizeof(HostGrant));
}

}  // namespace pathways
