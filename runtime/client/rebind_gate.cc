//===- rebind_gate.cc - Launches and rebindings of a program --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/rebind_gate.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace pathways {

absl::StatusOr<SharedProgram> RebindGate::Begin(ProgramHandle handle, Use use) {
  absl::Status owned = owner_.Check(handle, "program");
  if (!owned.ok()) return owned;
  while (true) {
    std::string name;
    uint64_t ended = 0;
    {
      MutexLock lock(&channel_.mutex());
      absl::StatusOr<SharedProgram> program = programs_.Find(handle.id);
      if (!program.ok()) return program;
      if (rebinding_.count(handle.id) == 0) {
        if (use == Use::kCall) {
          const absl::Status& lost = (*program)->lost();
          if (!lost.ok()) {
            return absl::Status(
                lost.code(), absl::StrCat("program '", (*program)->name(),
                                          "' is no longer loaded: ",
                                          absl::string_view(lost.message())));
          }
          (*program)->calls().fetch_add(1, std::memory_order_seq_cst);
        } else {
          rebinding_.insert(handle.id);
          ++rebinds_;
        }
        return program;
      }
      name = (*program)->name();
      ended = rebinds_ended_.load();
    }
    // Another rebinding may begin at once, so the wait is for one that has
    // ended, not for a moment without any.
    absl::Status waited = channel_.WaitUntil(
        [&] { return rebinds_ended_.load() > ended; },
        [&] { return absl::StrCat("the rebinding of program '", name, "'"); });
    if (!waited.ok()) return waited;
  }
}

void RebindGate::EndCall(const LoadedProgram& program) {
  if (program.calls().fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      rebinds_.load(std::memory_order_seq_cst) > 0) {
    world_.Notify();
  }
}

absl::StatusOr<SharedProgram> RebindGate::BeginRebind(ProgramHandle handle) {
  absl::StatusOr<SharedProgram> program = Begin(handle, Use::kRebind);
  if (!program.ok()) return program;
  absl::Status waited =
      channel_.WaitUntil([&] { return (*program)->calls().load() == 0; },
                         [&] {
                           return absl::StrCat("the rebinding of program '",
                                               (*program)->name(), "'");
                         });
  if (waited.ok()) return program;
  EndRebind(handle);
  return waited;
}

void RebindGate::EndRebind(ProgramHandle handle) {
  {
    MutexLock lock(&channel_.mutex());
    rebinding_.erase(handle.id);
    --rebinds_;
    ++rebinds_ended_;
  }
  world_.Notify();
}

}  // namespace pathways
