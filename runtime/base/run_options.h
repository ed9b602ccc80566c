//===- run_options.h - Options of a cluster's run ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options that the process which starts a cluster gives, in C++ as on a
// command line. The runtime and the public API share this one description.
// Values that are out of range are refused when the cluster starts.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_RUN_OPTIONS_H_
#define RUNTIME_BASE_RUN_OPTIONS_H_

#include <cstdint>
#include <string>

namespace pathways {

// Files to which a host moves idle arrays when its memory runs out
// (docs/scheduling.md, "More than memory").
struct SpillOptions {
  // Folder on each machine, which must exist before the cluster starts. Each
  // host makes a folder of its own in it. Empty: arrays stay in memory. A
  // simulation makes no files and keeps spilled arrays elsewhere.
  std::string folder = {};
  // Largest total size of each host's files in bytes; 0: eight times its
  // memory.
  uint64_t bytes = 0;
  // Shares of a host's memory: when more than `begin` is used, arrays are
  // spilled until no more than `end` is.
  double begin = 0.8, end = 0.6;
};

struct RunOptions {
  // Kind of world: real threads, or a deterministic simulation in virtual time.
  enum WorldKind { kThreads, kSim };
  WorldKind world = kThreads;
  // Simulation only: decides everything that is open, such as ties, jitter and
  // faults. The same seed gives the same run.
  uint64_t seed = 0;
  // Worker threads of each process with hosts; 0: one per physical core that
  // the process may use. In a simulation: number of places that the devices of
  // a host share; 0: devices share no place.
  int workers = 0;
  // Threads only: pins each worker to a core. Several processes of this machine
  // get a share of the cores each.
  bool bind_workers = false;
  // Threads only: number of processes of this machine in which hosts live, each
  // a `pw-node worker` that ends with this process. A process that ends earlier
  // is restarted; programs that had shards there fail with an error that names
  // the host, and can be loaded again. 0: hosts live in this process; negative:
  // one process for each host. The program pw-node must be beside this program,
  // or in PATH.
  int processes = 0;
  // Links between hosts of several processes: sockets, or UCX, if it is
  // installed, through shared memory or TCP. Links to the controller and to
  // clients are always sockets.
  enum WorkerLinks { kSockets, kSharedMemory, kTcp };
  WorkerLinks worker_links = kSockets;
  // Several processes only: faults of a bad network that are applied to
  // messages between them, such as "delay=0.3,duplicate=0.1"
  // (docs/clusters.md). Empty: none. Results stay the same.
  std::string chaos = {};
  // Simulation only: schedule of faults, a file or the name of a preset
  // (docs/simulation.md). Empty: none.
  std::string faults = {};
  // Threads only: if true, a message between hosts takes at least the time of
  // the cluster's links; links without numbers cost nothing. A simulation
  // always applies them, and has defaults for missing numbers.
  bool link_costs = false;
  // Longest time without any progress before a launch ends with an error that
  // names what it waits for, in nanoseconds. A simulation notices at once that
  // nothing is left to happen.
  int64_t stall_timeout_ns = 10'000'000'000;
  // Longest time that a kernel, or the preparation of an action by a host, may
  // take, in nanoseconds; 0: no limit. If one takes longer, its worker is lost
  // until the process ends: its devices take no work, and every program with
  // shards there ends with that error. In a simulation this is virtual time.
  int64_t kernel_timeout_ns = 0;
  // Policy that orders launches which want the same devices
  // (docs/scheduling.md): "priority", then fair shares by weight; "fair";
  // "fifo"; "deadline".
  std::string policy = "priority";
  // Time at which hosts prepare the actions of a step. kParallel: all at once,
  // ahead of their operands. kSequential: each one when its host has heard that
  // the actions it reads from are enqueued; for comparison only.
  enum Dispatch { kParallel, kSequential };
  Dispatch dispatch = kParallel;
  // Emulates slower hosts: nanoseconds, at most one hour, that a host needs to
  // prepare one action for one step, one after another. 0: none; parallel
  // dispatch is then free.
  int64_t host_work_ns = 0;
  // Number of the latest events that each worker keeps for traces, rounded up
  // to a power of two, 40 bytes each. 0: no tracing.
  int64_t trace_events = 0;
  SpillOptions spill = {};
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RUN_OPTIONS_H_
