//===- client.h - One tenant of a cluster -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLIENT_H_
#define RUNTIME_CLIENT_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/HostArray.h"
#include "pathways/Options.h"
#include "runtime/base/free_list.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/array_reader.h"
#include "runtime/client/array_store.h"
#include "runtime/client/array_table.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/client/cluster_stats.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/device_drains.h"
#include "runtime/client/file_reader.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/launcher.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/process_reports.h"
#include "runtime/client/program_catalog.h"
#include "runtime/client/program_loader.h"
#include "runtime/client/rebind_gate.h"
#include "runtime/client/recovered_run.h"
#include "runtime/client/relocator.h"
#include "runtime/client/run_catalog.h"
#include "runtime/client/run_table.h"
#include "runtime/client/run_watchers.h"
#include "runtime/client/slice_reservations.h"
#include "runtime/client/suspension.h"
#include "runtime/plan/plan_file.h"
#include "runtime/proto/profile.pb.h"
#include "runtime/trace/summary.h"

namespace pathways {

// Loads programs, launches them asynchronously, holds arrays and fetches
// results. Cluster::Connect makes it, and it is destroyed before the cluster.
// Any number of threads may call it. It sends requests to the controller alone,
// as messages, so the hosts that run its programs may be in any process. When
// the cluster ends, calls that wait, and later calls that would wait, return
// the reason. Invariants: (1) requests reach the controller in the order in
// which the client's tables changed; (2) a handle of another client is an
// error; (3) the destructor gives up everything that the client holds, even
// while launches are in flight.
//
// Each call is handed to the object that does it. The client owns these objects
// and the tables that they share, and hands them the messages of its actor.
class Client {
 public:
  // Calls Close. No other call may be in progress.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& name() const { return owner_.client(); }

  // Loads `plan`: checks it (the rules of docs/plan-format.md, then against the
  // cluster: islands, devices, kinds, code for their CPUs), admits it to the
  // memory of all its devices at once, and derives the tables on every host.
  // Waits, also for memory that other clients hold. After an error nothing is
  // loaded.
  //
  // Returns InvalidArgument if a check fails; FailedPrecondition if there is no
  // code for a device's CPU; ResourceExhausted, with the device, the need and
  // the holders, if the memory can never be free whatever other clients do, if
  // it is not free and the load may not wait, or if the need exceeds the
  // client's quota; DeadlineExceeded if the load has waited for as long as it
  // may.
  absl::StatusOr<ProgramHandle> Load(PlanData plan,
                                     const LoadOptions& options = {});
  // Loads all plans or none, so two clients that want the same programs do not
  // deadlock, in whatever order they name them.
  absl::StatusOr<std::vector<ProgramHandle>> Load(
      std::vector<PlanData> plans, const LoadOptions& options = {});
  // Loads a program on a slice. The devices of each island that the program was
  // compiled for become, in order, the first devices of the slice on one
  // island, and the program takes its memory from the slice's. Returns
  // InvalidArgument if the slice has too few devices, or devices of another
  // kind or CPU; FailedPrecondition if too little of the slice's memory is
  // left, or if the slice was released.
  absl::StatusOr<ProgramHandle> Load(PlanData plan, SliceHandle slice,
                                     const LoadOptions& options = {});
  // Reserves devices to load programs on, exclusively for this client or with
  // memory reserved for it (SliceOptions), on other islands than the slices of
  // `apart_from`. Chooses the devices of least load, all of one CPU type. Waits
  // for what other clients hold, and returns errors, as Load does; also returns
  // InvalidArgument for a shape that islands cannot share, or a kind that no
  // device has.
  absl::StatusOr<SliceHandle> ReserveSlice(
      const SliceOptions& options,
      const std::vector<SliceHandle>& apart_from = {}) {
    return slices_.Reserve(options, apart_from);
  }
  // Returns the names of the devices, row-major by the slice's shape.
  absl::StatusOr<std::vector<std::string>> DevicesOf(SliceHandle slice) {
    return slices_.DevicesOf(slice);
  }
  // Releases the slice. Programs that are loaded on it stay until they are
  // unloaded. Does not wait.
  absl::Status ReleaseSlice(SliceHandle slice) {
    return slices_.Release(slice);
  }
  // Returns the plan, bound to the devices that the program is on now.
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> PlanOf(
      ProgramHandle program);
  // Unloads a program. Waits. Returns FailedPrecondition while a launch of it
  // has not ended.
  absl::Status Unload(ProgramHandle program);
  // Gives up a program: it is unloaded once its launches so far have ended.
  // Does not wait; later calls of Load and Stats wait for unloads that have
  // begun.
  absl::Status Discard(ProgramHandle program) {
    return catalog_.Discard(program);
  }

  // Moves a program to other devices: those to avoid, of the devices for which
  // it was first loaded, are replaced; with nothing to avoid, it returns there.
  // Its handle, its kernels and its bits stay. Waits for the launches so far;
  // callers of Launch wait meanwhile. If there is memory for both, the program
  // is loaded at the new place before it is given up at the old one; otherwise
  // after, and it is restored at the old place if the new one refuses it.
  // Arrays stay where they are: the next launch that takes one moves it.
  //
  // Returns InvalidArgument if the cluster has no part of that name;
  // ResourceExhausted if there are too few devices; errors of Load. If neither
  // place takes the program, it is no longer loaded, and the message says so;
  // launches fail with that reason until another Rebind loads it.
  absl::Status Rebind(ProgramHandle program,
                      const RebindOptions& options = {}) {
    return relocator_.Rebind(program, options);
  }

  // Returns which devices, by number over the cluster, cannot take programs
  // now: those of hosts that are gone, those of lost workers, and drained ones.
  // Waits.
  absl::StatusOr<std::vector<bool>> AwayDevices() {
    return drains_.AwayDevices();
  }
  // Drains islands, hosts or devices, by name: no more programs are loaded
  // there until Undrain, and loaded programs continue. Waits until no program
  // is left there, and no array on hosts whose devices are all drained; their
  // owners give these up or move them, as ClientOptions::elastic does with
  // every launch. Returns DeadlineExceeded after `wait_ns`, if that is not
  // negative, and leaves the devices drained; InvalidArgument if there is no
  // such part; Cancelled if the devices are undrained meanwhile.
  absl::Status Drain(const std::vector<std::string>& names,
                     int64_t wait_ns = -1) {
    return drains_.Drain(names, wait_ns, /*undo=*/false);
  }
  absl::Status Undrain(const std::vector<std::string>& names) {
    return drains_.Drain(names, /*wait_ns=*/-1, /*undo=*/true);
  }

  // Suspends the client to free devices and hosts for others: waits for its
  // launches, moves its arrays from hosts to this process, or to files in a new
  // folder, and unloads its programs. Handles stay; calls of Load, Launch and
  // Rebind wait until Resume. Results that nobody kept stay on hosts. Returns
  // FailedPrecondition if the client is suspended, or being suspended or
  // resumed; ResourceExhausted if this process has no memory for an array;
  // errors of Save. After an error the client continues as before.
  absl::Status Suspend(const std::string& folder = "") {
    return suspension_.Suspend(folder);
  }
  // Loads the programs again, each where Rebind would move it, without devices
  // that cannot take programs. Arrays go to hosts with the launches that use
  // them; a folder must not change until then. Returns FailedPrecondition if
  // the client is not suspended, or is being suspended or resumed; or errors of
  // Rebind: then that program and those after it stay suspended, and Resume may
  // be called again.
  absl::Status Resume(const RebindOptions& options = {}) {
    return suspension_.Resume(options);
  }

  // Runs `steps` steps to their end, in launches of checkpoint_every steps.
  // After each the carried state is checkpointed, while the next ones run, and
  // after the loss of a host the run resumes from the last checkpoint
  // (RecoveryOptions). The bits are those of one launch, except that
  // contributions to a partial argument are combined if a program with other
  // ranks resumes. Waits. Arguments are those of Launch; an array on hosts is
  // first copied to this process.
  //
  // Returns the error of a failure that is no loss, at once; the error of the
  // loss that exceeds max_losses; errors of Load when devices are short; errors
  // of LoadArrays and Save; AlreadyExists if the folder has a checkpoint and
  // options.resume is not set; InvalidArgument if that checkpoint belongs to
  // another program, has at least as many steps as this run, or belongs to a
  // run that begins at another step; FailedPrecondition if a simulation without
  // kernels has nothing to checkpoint.
  absl::StatusOr<RecoveredResults> RunToEnd(ProgramHandle program,
                                            LaunchArguments arguments,
                                            int64_t steps,
                                            const RecoveryOptions& options,
                                            const LaunchOptions& launch = {});

  // Runs `steps` steps. Arguments are in the order of the plan's interface;
  // stepped ones have a leading dimension of `steps`. Each host is sent what
  // its own shards need, and reserves memory for what they return. Does not
  // wait, except while ClientOptions::run_ahead launches have not ended, and
  // for an array whose layout on hosts is not the one that the program wants:
  // its values are fetched and sent out again. Launches of one program run in
  // the order of the calls, and a launch that uses another's result runs after
  // it. Returns InvalidArgument, with the name of the argument and both types,
  // if an argument has the wrong type. A result of a failed run is accepted as
  // an argument, whether the failure is known or not; Await returns the
  // failure.
  absl::StatusOr<RunHandle> Launch(ProgramHandle program,
                                   LaunchArguments arguments, int64_t steps = 1,
                                   const LaunchOptions& options = {});
  // Cancels a run: firings that devices were granted run, the rest never start,
  // and the run ends with Cancelled, unless it was practically over. Its
  // results are not valid then. Later launches continue. Does not wait.
  absl::Status Cancel(RunHandle run) { return run_catalog_.Cancel(run); }
  // Waits for the end. Returns the first cause if an action failed (smallest
  // step, position, shard); ResourceExhausted if a host had no memory for its
  // part of the values (nothing has run then); the failure of an earlier run if
  // an argument was its result; DeadlineExceeded if the run stalled. May be
  // called again, and by several threads.
  absl::Status Await(RunHandle run) {
    return AwaitFor(run, /*limit_ns=*/-1).status();
  }
  // Does what Await does, but waits for at most `limit_ns` nanoseconds if that
  // is not negative, and returns false if the run has not ended by then. A
  // simulation takes no account of the limit.
  absl::StatusOr<bool> AwaitFor(RunHandle run, int64_t limit_ns);
  // Awaits the run and returns one result, as a global array. Fails if a
  // failure poisoned any shard of it; other results of the run stay available.
  // Returns ResourceExhausted after a successful run if this process has no
  // memory for the result.
  absl::StatusOr<HostArray> Fetch(RunHandle run, int64_t result);
  absl::StatusOr<HostArray> Fetch(RunHandle run, const std::string& result);
  // Returns a result as an array, to be an argument of later launches. Its
  // blocks stay where they are. Does not wait, except for a result without
  // bytes, which no host has; a failure is reported by the calls that use the
  // array.
  absl::StatusOr<ArrayHandle> Keep(RunHandle run, int64_t result);
  absl::StatusOr<ArrayHandle> Keep(RunHandle run, const std::string& result);
  // Calls `callback` once with what Await returns: when the run has ended, when
  // the client was closed, or when the cluster has ended. It runs on the
  // caller's thread if that is so already; otherwise on a thread of the cluster
  // that others wait for, so it must not call the client, nor take long.
  absl::Status NotifyEnd(RunHandle run, RunWatchers::Callback callback) {
    return run_catalog_.NotifyEnd(run, std::move(callback));
  }
  // Waits until `done`, which a callback of NotifyEnd makes true, returns true.
  // A simulation goes on meanwhile. Returns DeadlineExceeded if that can never
  // happen (in a simulation); Cancelled if the client was closed; the reason if
  // the cluster has ended. `what` is called for its name only after an error.
  absl::Status WaitUntil(absl::FunctionRef<bool()> done,
                         absl::FunctionRef<std::string()> what) {
    return channel_.WaitUntil(done, what);
  }
  // Drops a run, and those of its results that were not kept, on all hosts,
  // once it has ended. Does not wait.
  absl::Status ReleaseRun(RunHandle run) { return run_catalog_.Release(run); }

  // Adds an array. Its values stay in the client's memory until its first
  // launch has ended; from then on the hosts of that launch hold it in blocks,
  // and launches that want the same layout move none of it. Returns
  // ResourceExhausted if the client's memory is full, which is bounded by that
  // of all hosts together; InvalidArgument if the data do not have the size of
  // the type.
  absl::StatusOr<ArrayHandle> Put(HostArray array) {
    return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
  }
  // Adds a partial array. The data of `array` are the `contributions`, one
  // dense array of its shape per rank, in order.
  absl::StatusOr<ArrayHandle> Put(HostArray array,
                                  layout::Contributions contributions) {
    return store_.Put(std::make_shared<const ArrayValue>(
        std::move(array), std::move(contributions)));
  }
  // Adds an array without a copy and without a bound. The caller must keep the
  // values in place until `done` is called. That happens once hosts hold them,
  // the array is released before that, or the client is destroyed, and if this
  // call fails.
  absl::StatusOr<ArrayHandle> Put(BorrowedArray array) {
    return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
  }
  // Adds a saved array. It stays in its files, which must not change until the
  // first launch with it has ended; hosts are sent the parts that they need,
  // however the array was cut. That launch ends with DataLoss if a file has
  // changed meanwhile.
  absl::StatusOr<ArrayHandle> Put(std::shared_ptr<const SavedArray> array) {
    return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
  }
  // Awaits the array and returns its values. Returns ResourceExhausted for a
  // good array if this process has no memory for a copy.
  absl::StatusOr<HostArray> Get(ArrayHandle array) { return store_.Get(array); }
  // Does what Get does, but writes the values to `into`, which has `bytes`
  // bytes: each is copied once, unless contributions are combined. Nothing
  // writes there after the call. Returns InvalidArgument if the array has
  // another size; FailedPrecondition if a simulation without kernels has no
  // values. After an error the contents are undefined.
  absl::Status GetInto(ArrayHandle array, char* into, uint64_t bytes) {
    return store_.GetInto(array, into, bytes);
  }
  using ArrayView = ValueView;
  // Awaits the array and returns its values without a copy. Returns
  // FailedPrecondition, with the reason, unless they are dense in one block of
  // memory of this process.
  absl::StatusOr<ArrayView> View(ArrayHandle array) {
    return store_.View(array);
  }
  // Returns where hosts hold the array; null if this process or files hold the
  // values, or if there are none. Does not wait.
  absl::StatusOr<std::shared_ptr<const ArrayPlacement>> PlacementOf(
      ArrayHandle array) {
    return store_.PlacementOf(array);
  }
  // Awaits the array and returns what shard `shard` of its placement holds: the
  // shard's own contribution if the array is partial. Returns errors of Get;
  // InvalidArgument if there is no such shard.
  absl::StatusOr<HostArray> GetShard(ArrayHandle array, int64_t shard) {
    return store_.GetShard(array, shard);
  }
  // Releases an array. Does not wait.
  absl::Status Release(ArrayHandle array) { return store_.Release(array); }

  // Awaits the array and writes it to a new folder (docs/checkpoints.md): each
  // block of its shards once, with one block at a time in this process. The
  // folder appears once all of it is on the disk, and not at all after an
  // error. Returns errors of AwaitArray, SaveFolder and CheckSavable;
  // ResourceExhausted also if there is no memory for a block;
  // FailedPrecondition if a simulation without kernels has no values.
  absl::Status Save(ArrayHandle array, const std::string& folder) {
    return store_.Save(array, folder);
  }
  // Writes several arrays, by name (CheckArrayName), to one folder.
  absl::Status Save(const std::map<std::string, ArrayHandle>& arrays,
                    const std::string& folder) {
    return store_.Save(arrays, folder);
  }
  // Writes one array, as `folder` itself or, with a name, as a folder in it.
  absl::Status Save(ArrayHandle array, SaveFolder* folder,
                    const std::string& name = "") {
    return store_.Save(array, folder, name);
  }
  // Returns the names of the arrays in a folder that Save has written for
  // several arrays. Returns errors of LoadArrays.
  static absl::StatusOr<std::vector<std::string>> SavedNames(
      const std::string& folder) {
    return ArrayStore::SavedNames(folder);
  }
  // Both check what was saved (SavedArray::Open) and put it. They wait for
  // files alone.
  absl::StatusOr<ArrayHandle> LoadArray(const std::string& folder) {
    return store_.Load(folder);
  }
  absl::StatusOr<std::map<std::string, ArrayHandle>> LoadArrays(
      const std::string& folder) {
    return store_.LoadAll(folder);
  }

  // The next three do not wait. IsReady returns true if a call that waits for
  // the array or the run would return at once, with it or with an error.
  absl::StatusOr<ArrayType> TypeOf(ArrayHandle array) {
    return store_.TypeOf(array);
  }
  absl::StatusOr<bool> IsReady(ArrayHandle array) {
    return store_.IsReady(array);
  }
  absl::StatusOr<bool> IsReady(RunHandle run) {
    return run_catalog_.IsReady(run);
  }
  // Waits until the array is good. Returns the error of the run that should
  // have produced it.
  absl::Status AwaitArray(ArrayHandle array) {
    return store_.AwaitFor(array, /*limit_ns=*/-1).status();
  }
  // Does what AwaitArray does, with a limit as in AwaitFor.
  absl::StatusOr<bool> AwaitArrayFor(ArrayHandle array, int64_t limit_ns) {
    return store_.AwaitFor(array, limit_ns);
  }

  // Returns the counts of all processes, after memory released before was given
  // back. Waits.
  absl::StatusOr<ClusterStats> Stats();
  // The next three read what was traced so far, also of a run that is in
  // progress or failed. They wait. They return FailedPrecondition if the
  // cluster's options have no trace_events.
  //
  // Writes the trace as JSON that Perfetto opens (docs/tracing.md).
  absl::Status WriteTrace(std::ostream* out) {
    return reports_.WriteTrace(out);
  }
  absl::StatusOr<TraceSummary> Summarize() { return reports_.Summarize(); }
  // Returns the costs of the program whose plans have that header. Returns
  // InvalidArgument in a simulation, whose time is made of costs. See also
  // MeasureProfile().
  absl::StatusOr<proto::Profile> Measure(const proto::Header& header) {
    return reports_.Measure(header);
  }

  // Gives up everything that the client holds: running launches end, programs
  // are unloaded, arrays and runs are released; then the name is free. Does not
  // wait. Calls that wait return Cancelled, and so do later ones.
  void Close();

 private:
  friend class Cluster;

  // `context` and `actor`, which is attached, outlive the client.
  Client(ClientContext* context, ClientActor* actor, std::string name,
         const ClientOptions& options);
  // Waits for the controller's answer. Returns AlreadyExists if another client
  // has the name.
  absl::Status Connect();

  // Handlers of messages (client.cc). They run on the worker of the actor.
  void OnControl(const proto::Control& control);
  void OnPlanRequest(const proto::PlanRequest& request);

  ClientContext& context_;
  ClientActor& actor_;
  const HandleOwner owner_;
  const ClientOptions options_;
  ControlChannel channel_;
  // The tables. Objects below are given those that they need.
  LoadedPrograms programs_ ABSL_GUARDED_BY(channel_.mutex());
  FreeList run_memory_;  // destroyed after the owners of runs
  RunTable runs_ ABSL_GUARDED_BY(channel_.mutex());
  ArrayTable arrays_ ABSL_GUARDED_BY(channel_.mutex());
  ObjectHolds holds_ ABSL_GUARDED_BY(channel_.mutex());
  // Programs and devices.
  ProgramCatalog catalog_;
  SliceReservations slices_;
  DeviceDrains drains_;
  ProgramLoader loader_;
  RebindGate gate_;
  // Arrays and runs.
  ArrayReader array_reader_;
  ArrayStore store_;
  RunCatalog run_catalog_;
  Launcher launcher_;
  // The client as a whole.
  Relocator relocator_;
  Suspension suspension_;
  ProcessReports reports_;
  std::unique_ptr<FileReader> file_reader_;  // null in a simulation
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_H_
