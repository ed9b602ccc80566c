//===- runtime.h - Load plans and run them ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The embedded runtime: one controller, a scheduler per island, an executor per
// host and a queue per device, all in this process, on threads or in a
// simulation. Clients load plans, launch them asynchronously and fetch results.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUNTIME_H_
#define RUNTIME_CLIENT_RUNTIME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/host_array.h"
#include "runtime/executor/long_work.h"
#include "runtime/plan/plan_file.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/trace/summary.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/world.h"

namespace pathways {

class KernelResolver;

struct RuntimeOptions {
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
  // thread of the runtime's own; it must not call the runtime. In a simulation
  // time is virtual, and a kernel that never returns is not found.
  std::function<void(const LongWork&)> on_long_work;
  // Longest time without an answer of the hosts that a call waits for, before
  // it ends with DeadlineExceeded, which names them; 0: the stall timeout.
  // Hosts that have something to run are waited for: they may be in a kernel.
  TimeNs answer_timeout_ns = 0;
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

// Names of things a client holds. Plain values: copying one does not keep the
// thing alive, and using one after its end is an error.
struct ProgramHandle {
  uint64_t id = 0;
};
struct RunHandle {
  uint64_t id = 0;
};
struct ArrayHandle {
  uint64_t id = 0;
};

// One argument: a value, or an array that was put (or kept) before.
using LaunchArgument = std::variant<HostArray, ArrayHandle>;

struct RuntimeStats {
  struct Device {
    std::string name;           // "island0/host1/device3"
    uint64_t memory_bytes = 0;  // bound of the arena
    uint64_t used_bytes = 0;    // held by loaded programs
    uint64_t peak_bytes = 0;    // most ever held
    uint64_t gangs_run = 0;     // gang entries
    uint64_t kernels_run = 0;   // segments, per shard
    // Copied from arguments into buffers, and from buffers into results.
    uint64_t fed_bytes = 0, fetched_bytes = 0;
  };
  struct Host {
    std::string name;
    uint64_t own_shards = 0;     // of all slices of loaded programs
    uint64_t action_shards = 0;  // counters: own shards times their actions
    uint64_t queue_entries = 0;  // gangs of the devices' queues
    uint64_t edge_entries = 0;   // incoming edge ends of action shards
    uint64_t messages_sent = 0;  // to other hosts
    uint64_t bytes_sent = 0;
    uint64_t duplicates_dropped = 0;
    uint64_t stale_dropped = 0;
    uint64_t memory_used_bytes = 0;  // by programs and by what follows
    uint64_t object_bytes = 0;       // its parts of arrays and results
  };
  std::vector<Device> devices;
  std::vector<Host> hosts;
  // Sent so far, by kind of message, in a fixed order ("token", "piece", ...).
  std::vector<std::pair<std::string, uint64_t>> messages;
  uint64_t controller_messages = 0;  // received by the controller
  uint64_t firings = 0;              // of action shards
  uint64_t steps_done = 0;           // of all launches that ended
  uint64_t object_bytes = 0;         // arrays and results, by anybody
  uint64_t programs = 0;             // loaded
  uint64_t worker_wakeups = 0;       // threads: of workers that slept
  uint64_t events = 0;               // simulation
  uint64_t event_hash = 0;           // simulation
  TimeNs now_ns = 0;                 // virtual or real, since creation
};

// Launches of one runtime that have not ended; a further one waits.
inline constexpr size_t kMaxLaunches = 64;

// Thread-safe: any number of client threads. May be stopped in the middle of a
// launch.
class Runtime {
 public:
  // InvalidArgument: the cluster or an option is wrong.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(
      const proto::Cluster& cluster, const RuntimeOptions& options = {});
  ~Runtime();

  // Checks `plan` (the rules of docs/plan-format.md, then against the cluster:
  // islands, devices, kinds, code for their CPUs), admits it to the memory of
  // all its devices at once, and derives the tables on every host. Waits.
  // InvalidArgument, FailedPrecondition (no code for a device's CPU),
  // ResourceExhausted (names the device, the need, the holders): nothing stays.
  absl::StatusOr<ProgramHandle> Load(PlanData plan,
                                     const std::string& client = "client0");
  // FailedPrecondition while a launch of it has not ended. Waits.
  absl::Status Unload(ProgramHandle program);

  // Runs `steps` steps; arguments in the order of the plan's interface, stepped
  // ones with a leading dimension of `steps`. Each host is sent what its own
  // shards need, and makes room for what they will return. Does not wait, but
  // while kMaxLaunches have not ended, and for an array that lies on hosts in
  // another way than the program wants it: its values then come back and go out
  // again. Launches of one program are ordered by their calls, and so are those
  // that use each other's results. InvalidArgument names the argument and both
  // types.
  absl::StatusOr<RunHandle> Launch(ProgramHandle program,
                                   std::vector<LaunchArgument> arguments,
                                   int64_t steps = 1);
  // Waits for the end. Returns the first cause when an action failed (smallest
  // step, position, shard), ResourceExhausted when a host had no room for its
  // part of the values (nothing has run then), the failure of an earlier run
  // when that filled an argument, DeadlineExceeded when the run
  // stalled, Cancelled at shutdown. May be called again, and by several
  // threads.
  absl::Status Await(RunHandle run);
  // Await, then one result, global. Fails when any shard of it was fed by a
  // failure; other results of the run stay available.
  absl::StatusOr<HostArray> Fetch(RunHandle run, int64_t result);
  absl::StatusOr<HostArray> Fetch(RunHandle run, const std::string& result);
  // The same, to be an argument of a later launch. Its parts stay where they
  // are. Does not wait: what failed is said by who uses the array.
  absl::StatusOr<ArrayHandle> Keep(RunHandle run, int64_t result,
                                   const std::string& client = "client0");
  // Drops a run and those of its results that nobody keeps, on all hosts, when
  // it has ended. Does not wait.
  absl::Status ReleaseRun(RunHandle run);

  // Arrays held for a client. A new one stays in the client's memory, which is
  // bounded by that of all hosts together (ResourceExhausted), until its first
  // launch has ended; from then on the hosts of that launch hold it in parts,
  // and launches that want it so move none of it.
  absl::StatusOr<ArrayHandle> Put(HostArray array,
                                  const std::string& client = "client0");
  absl::StatusOr<HostArray> Get(ArrayHandle array);
  absl::Status Release(ArrayHandle array);
  // Frees all arrays and ended runs of `client` and unloads its programs.
  // FailedPrecondition while one of them runs.
  absl::Status ReleaseClient(const std::string& client);

  RuntimeStats Stats();

  // What was traced so far, also of a run that goes on or failed.
  // FailedPrecondition: the options have no trace_events.
  //
  // As JSON that Perfetto opens (docs/tracing.md).
  absl::Status WriteTrace(std::ostream* out);
  absl::StatusOr<TraceSummary> Summarize();

  // Stops all work. Calls that wait, and later ones that would, return
  // Cancelled. The destructor does it too, but a call may not overlap with
  // that.
  void Shutdown();

 private:
  class Impl;
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUNTIME_H_
