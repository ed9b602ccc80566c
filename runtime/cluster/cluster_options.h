//===- cluster_options.h - Options of a cluster -----------------*- C++ -*-===//
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
#include "pathways/Options.h"
#include "runtime/device/long_work.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/world.h"

namespace pathways {

class DeviceBackends;
class KernelResolver;
struct SimOptions;

// Options of a cluster, and parts of it that its embedder may replace.
struct ClusterOptions : RunOptions {
  // Called once for each kernel, and each preparation of an action by a host,
  // that takes longer than the stall timeout: the run continues, but may never
  // end. Runs on any thread, perhaps one that waits for the cluster, so it must
  // not call the cluster or a client. In a simulation time is virtual, and a
  // kernel that never returns is not found.
  std::function<void(const LongWork&)> on_long_work;
  // Longest time that a call waits without an answer of its hosts before it
  // ends with DeadlineExceeded, which names them; 0: the stall timeout. A host
  // with something to run does not time out, since it may be in a kernel.
  TimeNs answer_timeout_ns = 0;
  // Implementation of devices; null: as `run_kernels` says. Not owned.
  const DeviceBackends* backends = nullptr;
  // Source of kernels; null: the plan's object code. Not owned.
  KernelResolver* kernels = nullptr;

  // Clock of a world of threads; null: the machine's.
  std::shared_ptr<Clock> clock;

  // For tests of the protocol, in a simulation only: probabilities per message
  // between hosts.
  double duplicate_probability = 0;
  double reorder_probability = 0;
  // Applies to control messages alone: a lost hot message stalls its program.
  double drop_probability = 0;
  std::vector<HostStop> host_stops;
  // Called for every message between hosts, hot and control; on threads, by
  // several workers.
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  // Called with the options of a simulation before it is made.
  std::function<void(SimOptions*)> edit_simulation;
  // False: islands grant in the order of arrival. Programs may then deadlock;
  // tests use this to show that the detector names the deadlock.
  bool ticket_order = true;
};

// Returns InvalidArgument, with the option and its range, if one is out of
// range.
absl::Status CheckOptions(const ClusterOptions& options);

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_CLUSTER_OPTIONS_H_
