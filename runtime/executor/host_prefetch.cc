//===- host_prefetch.cc - Prefetching for a host's executor ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/prefetch.h"
#include "runtime/executor/host_executor.h"

namespace pathways {

void HostExecutor::ReadSoon(int host, uint64_t sequence, uint32_t program,
                            int step) const {
  if (step == 0) {
    PrefetchBytes(this, 1);
    PrefetchBetween(&programs_, &counters_.duplicates);
    return;
  }
  if (program >= programs_.size()) return;
  if (step == 1) {
    links_.prefetch(host);
    PrefetchBytes(programs_.data() + program, sizeof(programs_[0]));
  } else if (step == 2) {
    const HostProgram* loaded = programs_[program].get();
    if (loaded != nullptr) PrefetchBytes(loaded, sizeof(HostProgram));
    const auto link = links_.find(host);
    if (link != links_.end()) link->second.Prefetch(sequence);
  }
}

void HostExecutor::PrefetchLocal(const LocalMessage& message, int step) const {
  ReadSoon(static_cast<int>(message.extra), /*sequence=*/0, message.program,
           step);
}

void HostExecutor::PrefetchWire(ActorId from, const WireMessage& message,
                                int step) const {
  if (step < 3) {
    return ReadSoon(context_.directory.HostOfExecutor(from), message.sequence,
                    message.program, step);
  }
  const HostProgram* program = Find(message.program, message.incarnation);
  if (program == nullptr || message.target >= program->plan->edges().size()) {
    return;
  }
  const uint32_t to = program->plan->edges()[message.target].to;
  if (message.kind != kPieceMessage) {
    PrefetchBytes(
        program->edge_bases.data() + program->EdgeAt(message.target, 0), 1);
  } else if (step == 3) {
    PrefetchBytes(program->piece_begin.data() + to, 2 * sizeof(uint32_t));
  } else {
    const absl::Span<const PieceIn> pieces = program->PiecesOf(to);
    if (pieces.empty()) return;
    PrefetchBytes(pieces.data() + pieces.size() / 2, sizeof(PieceIn));
  }
}

}  // namespace pathways
