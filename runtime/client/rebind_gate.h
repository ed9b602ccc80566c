//===- rebind_gate.h - Launches and rebindings of a program -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_REBIND_GATE_H_
#define RUNTIME_CLIENT_REBIND_GATE_H_

#include <atomic>
#include <cstdint>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/world/world.h"

namespace pathways {

// Keeps calls of Launch and rebindings of the same program apart. A call or a
// rebinding waits while the program is rebound; a rebinding also waits for the
// calls in progress. Any thread may call it.
class RebindGate {
 public:
  // All arguments outlive the gate. The lock of the channel guards the table.
  RebindGate(ControlChannel* channel, const HandleOwner* owner, World* world,
             const LoadedPrograms* programs)
      : channel_(*channel),
        owner_(*owner),
        world_(*world),
        programs_(*programs) {}

  // Begins a call of Launch. Waits. Returns the error with which the program
  // was lost, if it was, and errors of ProgramCatalog::Find.
  absl::StatusOr<SharedProgram> BeginCall(ProgramHandle program) {
    return Begin(program, Use::kCall);
  }
  // Does not wait.
  void EndCall(const LoadedProgram& program);
  // Begins a rebinding, also of a lost program. Waits. Returns errors of
  // ProgramCatalog::Find.
  absl::StatusOr<SharedProgram> BeginRebind(ProgramHandle program);
  // Ends a rebinding, even if the program was given up meanwhile. Does not
  // wait.
  void EndRebind(ProgramHandle program);

 private:
  enum class Use { kCall, kRebind };
  absl::StatusOr<SharedProgram> Begin(ProgramHandle program, Use use);

  ControlChannel& channel_;
  const HandleOwner& owner_;
  World& world_;
  const LoadedPrograms& programs_ ABSL_GUARDED_BY(channel_.mutex());
  std::set<uint64_t> rebinding_ ABSL_GUARDED_BY(channel_.mutex());  // programs
  std::atomic<int> rebinds_{0};  // size of rebinding_
  std::atomic<uint64_t> rebinds_ended_{0};
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REBIND_GATE_H_
