//===- runtime_context.h - State shared by a process's actors ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_RUNTIME_CONTEXT_H_
#define RUNTIME_EXECUTOR_RUNTIME_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "pathways/Options.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/binding/plan_index.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/long_work.h"
#include "runtime/program/dispatch.h"
#include "runtime/protocol/directory.h"
#include "runtime/store/lent_objects.h"
#include "runtime/store/spill_disk.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/trace.h"
#include "runtime/world/control_actor.h"
#include "runtime/world/world.h"

namespace pathways {

// Shared by all parts of a runtime; outlives its actors.
struct RuntimeContext {
  World* world = nullptr;
  const Topology* topology = nullptr;
  Directory directory;
  uint32_t process = 0;  // this process, in the directory's locations
  PlanIndex plans;
  KernelResolver* kernels = nullptr;    // source of the plans' code
  Registry<const PreparedPlan> loaded;  // by incarnation
  const DeviceBackends* backends = &CpuBackends();
  ControlPool controls;
  DispatchOptions dispatch;
  WorkLimits limits;
  // Called on the controller's worker, perhaps more than once, when a kernel of
  // a host has not returned within its limit. Empty: no call.
  std::function<void(int32_t host, uint32_t life, const absl::Status& why)>
      on_worker_lost;
  LentObjects lent;
  SpillOptions spill;
  // Disks of this process's hosts, which take them.
  std::map<int32_t, std::unique_ptr<SpillDisk>> spill_disks;
  // The processes with hosts and the controller's are traced.
  bool traced = false;
  // Trace of this process; null if it records none.
  Trace* trace = nullptr;

  bool IsHere(int32_t host) const {
    return directory.place(host).process == process;
  }
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_RUNTIME_CONTEXT_H_
