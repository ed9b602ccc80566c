//===- run_options.h - How programs are run ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What whoever starts a cluster says about how it runs, in C++ as on a command
// line. The one description of it: the runtime and the public API both take
// this. What is out of range is refused when the cluster starts.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_RUN_OPTIONS_H_
#define RUNTIME_BASE_RUN_OPTIONS_H_

#include <cstdint>
#include <string>

namespace pathways {

// Where hosts put arrays that nobody uses right now when their memory runs out
// (docs/scheduling.md, "More than memory").
struct SpillOptions {
  // Of each machine, and there before the cluster starts: every host makes a
  // folder of its own in it. Empty: arrays stay in memory. A simulation keeps
  // what is spilled elsewhere, and makes no files.
  std::string folder = {};
  // Most bytes of files of each host; 0: eight times its memory.
  uint64_t bytes = 0;
  // Shares of a host's memory: above the one that is used, arrays leave until
  // the other is.
  double begin = 0.8, end = 0.6;
};

struct RunOptions {
  // Real threads, or a deterministic simulation in virtual time.
  enum WorldKind { kThreads, kSim };
  WorldKind world = kThreads;
  // Simulation: orders what it leaves open: ties, jitter, faults. The same
  // seed, the same run.
  uint64_t seed = 0;
  // Threads of each process with hosts; 0: one per physical core that it may
  // use. In a simulation, places that devices of a host share; 0: none.
  int workers = 0;
  // Threads: pin each worker to a core; several processes of this machine have
  // a share of the cores each.
  bool bind_workers = false;
  // Threads: processes of this machine that hosts live in, a `pw-node worker`
  // each, which end with this one. One that ends before is started again: what
  // had shards there is an error that names the host, and may be loaded anew.
  // 0: hosts are here; negative: one for each. They need the program pw-node
  // beside the one that runs, or along PATH.
  int processes = 0;
  // How hosts of several processes speak with each other: over sockets; or by
  // UCX, where it is installed, through shared memory or TCP. With controller
  // and clients they speak over sockets in any case.
  enum WorkerLinks { kSockets, kSharedMemory, kTcp };
  WorkerLinks worker_links = kSockets;
  // Several processes: what a bad network would do to what they send each
  // other, such as "delay=0.3,duplicate=0.1" (docs/clusters.md); empty:
  // nothing. Results are the same.
  std::string chaos = {};
  // Simulation: what goes wrong and when, a file or the name of a preset
  // (docs/simulation.md); empty: nothing.
  std::string faults = {};
  // Threads: whether a message between hosts takes the time that the cluster's
  // links say; what they leave out costs nothing. A simulation always keeps
  // them, and has numbers of its own for what they leave out.
  bool link_costs = false;
  // Longest time without any progress of a launch before it ends with an error
  // that names what it waits for; nanoseconds, as below. A simulation notices
  // at once that nothing is left to happen.
  int64_t stall_timeout_ns = 10'000'000'000;
  // Longest time that a kernel, or the preparation of an action by a host, may
  // take; 0: any. One that takes longer is an error, and its worker is lost
  // until the process ends: its devices take no work, and whatever has shards
  // there ends with that error. In a simulation time is virtual.
  int64_t kernel_timeout_ns = 0;
  // Who of those that want the same devices is granted them next:
  // docs/scheduling.md. "priority", then fair shares by weight; "fair"; "fifo";
  // "deadline".
  std::string policy = "priority";
  // When hosts prepare the actions of a step: all of them at once, ahead of
  // what they read, or each when it was heard that the actions it reads from
  // are enqueued. Sequential is there to be compared with.
  enum Dispatch { kParallel, kSequential };
  Dispatch dispatch = kParallel;
  // Emulates slower hosts: time, up to one hour, that a host needs to prepare
  // one action for one step, one after another. 0: none, then parallel dispatch
  // is free.
  int64_t host_work_ns = 0;
  // Keep this many of the last events of each worker, and more that a power of
  // two leaves room for, 40 bytes each, for traces; 0: trace nothing.
  int64_t trace_events = 0;
  SpillOptions spill = {};
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RUN_OPTIONS_H_
