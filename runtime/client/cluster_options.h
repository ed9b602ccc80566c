//===- cluster_options.h - How a cluster runs -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLUSTER_OPTIONS_H_
#define RUNTIME_CLIENT_CLUSTER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/long_work.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/world.h"

namespace pathways {

class KernelResolver;

struct ClusterOptions {
  enum WorldKind { kThreads, kSim };
  WorldKind world = kThreads;
  uint64_t seed = 0;  // simulation: order of ties, jitter, faults
  // Threads; 0: one per physical core. In a simulation, places that devices of
  // a host share; 0: none.
  int workers = 0;
  bool bind_workers = false;  // threads: pin each worker to a core
  // Threads: whether a message between hosts takes the time that the cluster's
  // links say; what they leave out costs nothing. A simulation always keeps
  // them, and has numbers of its own for what they leave out.
  bool link_costs = false;
  // Longest time without any progress of a launch before it ends with an error
  // that names what it waits for. A simulation notices at once that nothing is
  // left to happen.
  TimeNs stall_timeout_ns = 10'000'000'000;
  // Called once for each kernel, and each preparation of an action by a host,
  // that takes longer than that: the run goes on, but may never end. On a
  // thread of the cluster's own; it must not call the cluster or a client. In a
  // simulation time is virtual, and a kernel that never returns is not found.
  std::function<void(const LongWork&)> on_long_work;
  // Longest time without an answer of the hosts that a call waits for, before
  // it ends with DeadlineExceeded, which names them; 0: the stall timeout.
  // Hosts that have something to run are waited for: they may be in a kernel.
  TimeNs answer_timeout_ns = 0;
  // Longest time that a kernel, or the preparation of an action by a host, may
  // take; 0: any. One that takes longer is an error, and its worker is lost
  // until the process ends: its devices take no work, and whatever has shards
  // there ends with that error. In a simulation time is virtual.
  TimeNs kernel_timeout_ns = 0;
  // False, in a simulation only: kernels and copies cost time, but do nothing
  // and need no memory. Results have the right shapes and no values.
  bool run_kernels = true;
  // When hosts prepare the actions of a step: all of them at once, ahead of
  // what they read, or each when it was heard that the actions it reads from
  // are enqueued. Sequential is there to be compared with.
  enum Dispatch { kParallel, kSequential };
  Dispatch dispatch = kParallel;
  // Emulates slower hosts: time that a host needs to prepare one action for one
  // step, one after another. 0: none, then parallel dispatch is free.
  TimeNs host_work_ns = 0;
  // Where kernels come from; null: from the plan's object code. Not owned.
  KernelResolver* kernels = nullptr;

  // Keep this many of the last events of each worker, and more that a power of
  // two leaves room for, 40 bytes each, for WriteTrace and Summarize; 0: trace
  // nothing.
  int64_t trace_events = 0;

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
  // False: islands grant in the order of arrival. Programs may then deadlock;
  // exists to show that the detector names it.
  bool ticket_order = true;
};

// InvalidArgument names what is out of range, and the range.
absl::Status CheckOptions(const ClusterOptions& options);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLUSTER_OPTIONS_H_
