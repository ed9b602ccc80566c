//===- relocator.h - Programs and arrays on other devices -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RELOCATOR_H_
#define RUNTIME_CLIENT_RELOCATOR_H_

#include <atomic>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/client/array_store.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/device_drains.h"
#include "runtime/client/handles.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/client/program_catalog.h"
#include "runtime/client/program_loader.h"
#include "runtime/client/rebind_gate.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Moves loaded programs of one client to other devices, and what it has on
// drained devices off them. Any thread may call it. Each program is moved while
// no call of Launch with it is in progress (RebindGate).
class Relocator {
 public:
  // All arguments outlive the relocator. The lock of the channel guards
  // `programs`.
  Relocator(ControlChannel* channel, const Topology* topology,
            ProgramCatalog* catalog, RebindGate* gate, ProgramLoader* loader,
            DeviceDrains* drains, ArrayStore* store,
            const LoadedPrograms* programs)
      : channel_(*channel),
        topology_(*topology),
        catalog_(*catalog),
        gate_(*gate),
        loader_(*loader),
        drains_(*drains),
        store_(*store),
        programs_(*programs) {}

  // Moves a program off the devices that options.avoid names, or that `avoid`
  // marks. Waits. Client::Rebind describes it.
  absl::Status Rebind(ProgramHandle program, const RebindOptions& options);
  absl::Status Rebind(ProgramHandle program, const std::vector<bool>& avoid,
                      const RebindOptions& options);
  // Returns true if Rebind would move the program. Returns ResourceExhausted if
  // Rebind would find too few devices. Does not wait.
  absl::StatusOr<bool> Moves(ProgramHandle program,
                             const std::vector<bool>& avoid,
                             bool oversubscribe);
  // Loads a lost program again, without the devices that `avoid` marks, or
  // where it was if `avoid` is null. May be called again after it has failed.
  // Waits.
  absl::Status Restore(ProgramHandle program, const std::vector<bool>* avoid,
                       const RebindOptions& options);

  // Records which programs and arrays are on drained devices. Runs on the
  // worker of the client's actor.
  void OnDrainSeen(const proto::DrainSeen& seen);
  // Called before a launch of an elastic client: moves the program and arrays
  // off drained devices and hosts, as far as that is possible. Waits if there
  // is anything to move.
  void MoveOffDrained(ProgramHandle program);

 private:
  absl::Status RebindTo(ProgramHandle program, const SharedProgram& old,
                        const PlanSlices& slices, const RebindOptions& options);

  ControlChannel& channel_;
  const Topology& topology_;
  ProgramCatalog& catalog_;
  RebindGate& gate_;
  ProgramLoader& loader_;
  DeviceDrains& drains_;
  ArrayStore& store_;
  const LoadedPrograms& programs_ ABSL_GUARDED_BY(channel_.mutex());
  std::atomic<bool> has_drained_arrays_{false};  // the controller said so
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RELOCATOR_H_
