//===- runtime_context.h - What the actors of a process share ---*- C++ -*-===//
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
#include "runtime/base/run_options.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/binding/plan_index.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/device/device_backend.h"
#include "runtime/device/long_work.h"
#include "runtime/program/dispatch.h"
#include "runtime/protocol/directory.h"
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
  uint32_t process = 0;  // of the directory's places, the one that is here
  PlanIndex plans;
  KernelResolver* kernels = nullptr;    // where code of plans comes from
  Registry<const PreparedPlan> loaded;  // by incarnation
  const DeviceBackends* backends = &CpuBackends();
  ControlPool controls;
  DispatchOptions dispatch;
  WorkLimits limits;
  // The controller's: a kernel of a host has not returned for the time that it
  // may take. On the controller's worker, perhaps more than once; empty: nobody
  // is told.
  std::function<void(int32_t host, uint32_t life, const absl::Status& why)>
      on_worker_lost;
  SpillOptions spill;
  // Of the hosts that are here, until they take them.
  std::map<int32_t, std::unique_ptr<SpillDisk>> spill_disks;
  bool traced = false;     // the processes with hosts and the controller's are
  Trace* trace = nullptr;  // of this process, if it is one of those and traced

  bool IsHere(int32_t host) const {
    return directory.place(host).process == process;
  }
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_RUNTIME_CONTEXT_H_
