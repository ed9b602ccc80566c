//===- cluster_options.h - How a cluster runs -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_CLUSTER_OPTIONS_H_
#define RUNTIME_CLUSTER_CLUSTER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/client_options.h"
#include "runtime/base/run_options.h"
#include "runtime/device/long_work.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/world.h"

namespace pathways {

class DeviceBackends;
class KernelResolver;
struct SimOptions;

// How a cluster runs, and parts of it that whoever embeds one may replace.
struct ClusterOptions : RunOptions {
  // Called once for each kernel, and each preparation of an action by a host,
  // that takes longer than the stall timeout: the run goes on, but may never
  // end. On any thread, perhaps one that waits for the cluster; it must not
  // call that or a client. In a simulation time is virtual, and a kernel that
  // never returns is not found.
  std::function<void(const LongWork&)> on_long_work;
  // Longest time without an answer of the hosts that a call waits for, before
  // it ends with DeadlineExceeded, which names them; 0: the stall timeout.
  // Hosts that have something to run are waited for: they may be in a kernel.
  TimeNs answer_timeout_ns = 0;
  // False, in a simulation only: kernels and copies cost time, but do nothing
  // and need no memory. Arrays have the right shapes and no values; whatever is
  // said between hosts and clients is the same.
  bool run_kernels = true;
  // What devices are made of; null: what `run_kernels` says. Not owned.
  const DeviceBackends* backends = nullptr;
  // Where kernels come from; null: from the plan's object code. Not owned.
  KernelResolver* kernels = nullptr;

  // Threads: whose time they go by; null: the machine's.
  std::shared_ptr<Clock> clock;

  // For tests of the protocol. Probabilities, per message between hosts; in a
  // simulation only.
  double duplicate_probability = 0;
  double reorder_probability = 0;
  // Of control messages alone: a hot one that is lost stalls its program.
  double drop_probability = 0;
  std::vector<HostStop> host_stops;
  // Called for every message between hosts, hot and control; on threads by
  // several workers.
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  // Called with what a simulation is made of, before it is.
  std::function<void(SimOptions*)> edit_simulation;
  // False: islands grant in the order of arrival. Programs may then deadlock;
  // exists to show that the detector names it.
  bool ticket_order = true;
};

// InvalidArgument names what is out of range, and the range.
absl::Status CheckOptions(const ClusterOptions& options);

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_CLUSTER_OPTIONS_H_
