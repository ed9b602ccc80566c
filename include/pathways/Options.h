//===- Options.h - Options of clusters, clients and runs --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of the public API, which the runtime and the command line share.
// Values that are out of range are refused by the call that takes them.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_OPTIONS_H
#define PATHWAYS_OPTIONS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pathways {

//===----------------------------------------------------------------------===//
// Options of a cluster
//===----------------------------------------------------------------------===//

/// Files to which a host moves idle arrays when its memory runs out
/// (docs/scheduling.md, "More than memory").
struct SpillOptions {
  /// Folder on each machine, which must exist before the cluster starts. Each
  /// host makes a folder of its own in it. Empty: arrays stay in memory. A
  /// simulation makes no files and keeps spilled arrays elsewhere.
  std::string folder = {};
  /// Largest total size of each host's files in bytes; 0: eight times its
  /// memory.
  uint64_t bytes = 0;
  /// Shares of a host's memory: when more than `begin` is used, arrays are
  /// spilled until no more than `end` is.
  double begin = 0.8, end = 0.6;
};

struct RunOptions {
  /// Kind of world: real threads, or a deterministic simulation in virtual
  /// time.
  enum WorldKind { kThreads, kSim };
  WorldKind world = kThreads;
  /// Simulation only: decides everything that is open, such as ties, jitter and
  /// faults. The same seed gives the same run.
  uint64_t seed = 0;
  /// Worker threads of each process with hosts; 0: one per physical core that
  /// the process may use. In a simulation: number of places that the devices of
  /// a host share; 0: devices share no place.
  int workers = 0;
  /// Threads only: pins each worker to a core. Several processes of this
  /// machine get a share of the cores each.
  bool bind_workers = false;
  /// Threads only: number of processes of this machine in which hosts live,
  /// each a `pw-node worker` that ends with this process. A process that ends
  /// earlier is restarted; programs that had shards there fail with an error
  /// that names the host, and can be loaded again. 0: hosts live in this
  /// process; negative: one process for each host. The program pw-node is
  /// looked for beside libpathways.so.1, beside this program, and in PATH.
  int processes = 0;
  /// Links between hosts of several processes: sockets, or UCX, if it is
  /// installed, through shared memory or TCP. Links to the controller and to
  /// clients are always sockets.
  enum WorkerLinks { kSockets, kSharedMemory, kTcp };
  WorkerLinks worker_links = kSockets;
  /// Simulation only; false: a session only costs. Kernels and copies take
  /// virtual time, but do nothing and need no memory, so that thousands of
  /// devices fit into one process. Arrays have shapes and no values: put takes
  /// arrays without data, and fetches return such. Hosts exchange the same
  /// messages.
  bool run_kernels = true;
  /// Several processes only: faults of a bad network that are applied to
  /// messages between them, such as "delay=0.3,duplicate=0.1"
  /// (docs/clusters.md). Empty: none. Results stay the same.
  std::string chaos = {};
  /// Simulation only: schedule of faults, a file or the name of a preset
  /// (docs/simulation.md). Empty: none.
  std::string faults = {};
  /// Threads only: if true, a message between hosts takes at least the time of
  /// the cluster's links; links without numbers cost nothing. A simulation
  /// always applies them, and has defaults for missing numbers.
  bool link_costs = false;
  /// Longest time without any progress before a launch ends with an error that
  /// names what it waits for, in nanoseconds. A simulation notices at once that
  /// nothing is left to happen.
  int64_t stall_timeout_ns = 10'000'000'000;
  /// Longest time that a kernel, or the preparation of an action by a host, may
  /// take, in nanoseconds; 0: no limit. If one takes longer, its worker is lost
  /// until the process ends: its devices take no work, and every program with
  /// shards there ends with that error. In a simulation this is virtual time.
  int64_t kernel_timeout_ns = 0;
  /// Policy that orders launches which want the same devices
  /// (docs/scheduling.md): "priority", then fair shares by weight; "fair";
  /// "fifo"; "deadline".
  std::string policy = "priority";
  /// Time at which hosts prepare the actions of a step. kParallel: all at once,
  /// ahead of their operands. kSequential: each one when its host has heard
  /// that the actions it reads from are enqueued; for comparison only.
  enum Dispatch { kParallel, kSequential };
  Dispatch dispatch = kParallel;
  /// Emulates slower hosts: nanoseconds, at most one hour, that a host needs to
  /// prepare one action for one step, one after another. 0: none; parallel
  /// dispatch is then free.
  int64_t host_work_ns = 0;
  /// Number of the latest events that each worker keeps for traces, rounded up
  /// to a power of two, 40 bytes each. 0: no tracing.
  int64_t trace_events = 0;
  SpillOptions spill = {};
};

//===----------------------------------------------------------------------===//
// Options of clients, loads, slices and launches
//===----------------------------------------------------------------------===//

inline constexpr int32_t kMaxPriority = 100;
inline constexpr double kMinWeight = 1e-3, kMaxWeight = 1e3;
/// Largest number of open launches of one client. A further launch waits.
inline constexpr int kMaxLaunches = 64;

struct ClientOptions {
  /// Share of device time relative to other clients that want the same devices:
  /// a client of weight 2 gets twice as much as one of weight 1. kMinWeight to
  /// kMaxWeight.
  double weight = 1;
  /// Launches of higher priority are granted devices first
  /// (docs/scheduling.md). -kMaxPriority to kMaxPriority.
  int32_t priority = 0;
  /// Limit in bytes for the client's programs on devices and its arrays on
  /// hosts, all together. 0: no limit.
  uint64_t quota_bytes = 0;
  /// Largest number of open launches, 1 to kMaxLaunches. The call of a further
  /// launch waits.
  int run_ahead = kMaxLaunches;
  /// If true, a program on devices that are drained moves to others with its
  /// next launch, as Rebind would move it, if there are any.
  bool elastic = false;
};

/// Choice of the devices on which a program is loaded.
enum class LoadPlace {
  kAsCompiled, // the devices that the program was compiled for
  /// The least loaded devices of the same kind and target that have the memory.
  /// Shards of one island stay together on one island.
  kAnywhere,
  /// The compiled devices, but those that are drained, lost, or on a host that
  /// is gone are replaced as Rebind chooses. If there are too few others,
  /// exactly the compiled devices.
  kPresent,
};

/// Options of one load of a program.
struct LoadOptions {
  LoadPlace place = LoadPlace::kAsCompiled;
  /// With kPresent: several devices of the program may share one device if
  /// there are too few.
  bool oversubscribe = false;
  /// Longest wait in nanoseconds for memory that other clients hold. 0: no
  /// wait; negative: no limit. A need that the cluster could never meet,
  /// whoever released memory, fails at once.
  int64_t wait_ns = -1;
  /// If true, the load also waits for hosts that are gone, until they return,
  /// and for devices that are drained.
  bool await_devices = false;
  /// Called when the load starts to wait, and again whenever the reason
  /// changes, with one line that names the reason and who holds the load up. It
  /// runs on a thread of the cluster that others may wait for: it must not call
  /// the client, nor take long.
  std::function<void(const std::string &why)> on_waiting = {};
};

/// Options of a slice: devices that a client reserves while other clients run.
struct SliceOptions {
  /// Name of the slice in messages.
  std::string name = "slice";
  /// Shape of the slice's mesh, row-major. Its product is the number of
  /// devices.
  std::vector<int64_t> shape = {1};
  std::string kind = "cpu";
  /// Number of islands over which the devices are divided, in equal runs.
  int64_t islands = 1;
  /// If true, the devices of each run are neighbours in the mesh, or torus, of
  /// their island and form the run's own shape: that of the slice with its
  /// first axis cut.
  bool contiguous = false;
  /// Bytes of each device that are reserved for the client. 0: the whole
  /// device, which no other client may use. Otherwise other clients may use the
  /// rest, and share the device's time by weight.
  uint64_t device_bytes = 0;
  /// Longest wait and its notification, as in LoadOptions.
  int64_t wait_ns = -1;
  std::function<void(const std::string &why)> on_waiting = {};
};

/// Options for moving a loaded program to other devices.
struct RebindOptions {
  /// Islands, hosts and devices that the program must not be on, by the names
  /// in messages: "island1", "host2", "island0/host2/device1".
  std::vector<std::string> avoid = {};
  /// If true, several devices of the program may share one device if there are
  /// too few.
  bool oversubscribe = false;
  LoadOptions load = {};
};

/// Options of one launch.
struct LaunchOptions {
  /// Replaces the client's priority.
  std::optional<int32_t> priority = {};
  /// Deadline in nanoseconds from the call; 0: none. It orders launches if the
  /// cluster's policy goes by deadlines. A launch that misses it still
  /// completes.
  int64_t deadline_ns = 0;
  /// Number of the first step, from 0: the value of `pw.step_index` in it. A
  /// run that consists of several launches passes the number of steps before
  /// each launch, so that steps are numbered as in one launch. At most
  /// kMaxSteps together with the steps of the launch. Errors and traces name
  /// steps by these numbers.
  int64_t first_step = 0;
};

//===----------------------------------------------------------------------===//
// Options of checkpoints and recovery
//===----------------------------------------------------------------------===//

struct RecoveryOptions {
  /// Reaction when a host is lost or a run stalls. kFail: the run ends with the
  /// error. kRetry: the run resumes from the last checkpoint on its own
  /// devices, once the host has returned. kRebind: it resumes on other devices,
  /// as Rebind chooses them, or as with kRetry if there are too few. With
  /// kRebind a run also leaves devices that are drained, and returns to devices
  /// that are available again, at the next checkpoint.
  enum Mode { kFail, kRetry, kRebind };
  Mode mode = kFail;
  /// Number of steps between two checkpoints; 0: the beginning is the only one.
  int64_t checkpoint_every = 0;
  /// Folder for checkpoints: "checkpoint-N" after N steps. The last one stays,
  /// even that of the end (docs/checkpoints.md). Empty: checkpoints are kept in
  /// the memory of this process.
  std::string checkpoint_dir = {};
  /// If true, checkpoints go from the program's hosts directly to other hosts,
  /// whose devices reserve memory for the program while the run lasts. Excludes
  /// checkpoint_dir. A checkpoint for which no such host is left is kept in the
  /// memory of this process. If the last checkpoint is lost with its hosts, and
  /// a host of the program with them, the run starts again from the beginning.
  bool checkpoints_on_hosts = false;
  /// Resumes from the checkpoint in `checkpoint_dir`, if there is one.
  bool resume = false;
  /// Number of losses between two checkpoints that a run survives.
  int max_losses = 4;
  /// Several devices of the program may share one device if there are too few,
  /// as in RebindOptions.
  bool oversubscribe = false;
  /// Longest wait for devices, and its notification. await_devices is taken as
  /// true.
  LoadOptions load = {};
  /// Called with one line for each loss and each move, on the thread that runs.
  std::function<void(const std::string &what)> on_event = {};
};

/// Costs of recovery so far. Times are those of the world's clock.
struct RecoveryReport {
  int64_t resumed_at = 0;        // steps done before this run
  int64_t losses = 0;            // losses that the run survived
  int64_t moves = 0;             // moves to other devices without a loss
  int64_t repeated_steps = 0;    // steps lost and run again
  int64_t checkpoints = 0;       // number made, without the beginning
  uint64_t checkpoint_bytes = 0; // bytes of one checkpoint
  int64_t checkpoint_ns = 0;     // time to make all; steps continue meanwhile
  int64_t run_ns = 0;            // time of the whole run
};

} // namespace pathways

#endif // PATHWAYS_OPTIONS_H
