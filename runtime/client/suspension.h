//===- suspension.h - Suspending and resuming a client ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_SUSPENSION_H_
#define RUNTIME_CLIENT_SUSPENSION_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "pathways/Options.h"
#include "runtime/client/array_store.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/device_drains.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/client/program_catalog.h"
#include "runtime/client/program_loader.h"
#include "runtime/client/rebind_gate.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Suspends one client and resumes it: active -> being suspended -> suspended ->
// being resumed -> active. A suspended program counts as being rebound, so
// calls with it wait. Any thread may call it.
class Suspension {
 public:
  // All arguments outlive the suspension. The lock of the channel guards
  // `programs`.
  Suspension(ControlChannel* channel, const HandleOwner* owner, World* world,
             const Topology* topology, ProgramCatalog* catalog,
             RebindGate* gate, ProgramLoader* loader, DeviceDrains* drains,
             ArrayStore* store, const LoadedPrograms* programs)
      : channel_(*channel),
        owner_(*owner),
        world_(*world),
        topology_(*topology),
        catalog_(*catalog),
        gate_(*gate),
        loader_(*loader),
        drains_(*drains),
        store_(*store),
        programs_(*programs) {}

  // The next two wait. Client describes them.
  absl::Status Suspend(const std::string& folder);
  absl::Status Resume(const RebindOptions& options);
  // Waits while the client is suspended.
  absl::Status AwaitResumed();

 private:
  // Begins to suspend or to resume; one call does so at a time. Returns
  // FailedPrecondition if one is in progress, or if the client is in that state
  // already.
  absl::Status BeginChange(bool suspends);
  void EndChange();
  absl::Status SuspendAll(const std::string& folder);
  absl::Status ResumeAll(const RebindOptions& options);
  // Lets waiting calls continue.
  void EndSuspension();

  ControlChannel& channel_;
  const HandleOwner& owner_;
  World& world_;
  const Topology& topology_;
  ProgramCatalog& catalog_;
  RebindGate& gate_;
  ProgramLoader& loader_;
  DeviceDrains& drains_;
  ArrayStore& store_;
  const LoadedPrograms& programs_ ABSL_GUARDED_BY(channel_.mutex());
  std::atomic<bool> suspended_{false};
  // State change in progress, "being suspended" or "being resumed"; null: none.
  const char* change_ ABSL_GUARDED_BY(channel_.mutex()) = nullptr;
  // Programs that wait for Resume.
  std::vector<ProgramHandle> suspended_programs_
      ABSL_GUARDED_BY(channel_.mutex());
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_SUSPENSION_H_
