//===- client.h - One tenant of a cluster -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLIENT_H_
#define RUNTIME_CLIENT_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/client_options.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/host_array.h"
#include "runtime/base/mutex.h"
#include "runtime/base/recovery_options.h"
#include "runtime/checkpoint/array_writer.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/array_table.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/client/cluster_stats.h"
#include "runtime/client/fetch_assembly.h"
#include "runtime/client/file_reader.h"
#include "runtime/client/handles.h"
#include "runtime/client/in_flight_limiter.h"
#include "runtime/client/loaded_program.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/recovered_run.h"
#include "runtime/client/request_table.h"
#include "runtime/client/run_table.h"
#include "runtime/client/spare_memory.h"
#include "runtime/plan/plan_file.h"
#include "runtime/proto/profile.pb.h"
#include "runtime/protocol/client_id.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/summary.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Loads programs, launches them asynchronously, holds arrays and fetches
// results. Made by Cluster::Connect, and gone before the cluster is. Any number
// of threads may call it. Invariants: (1) what it asks for reaches the
// controller in the order in which its tables changed; (2) a handle of another
// client is an error; (3) what it holds is given back at its end, whatever is
// under way. It speaks with the controller alone, by messages: what runs its
// programs may be in any process. At the cluster's end calls that wait, and
// later ones that would, return why it ended.
class Client {
 public:
  // Close; no other call may be under way.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& name() const { return name_; }

  // Checks `plan` (the rules of docs/plan-format.md, then against the cluster:
  // islands, devices, kinds, code for their CPUs), admits it to the memory of
  // all its devices at once, and derives the tables on every host. Waits, also
  // for memory that other clients have.
  // InvalidArgument, FailedPrecondition (no code for a device's CPU),
  // ResourceExhausted (names the device, the need, the holders; it will not be
  // there, whatever others do, or is not there and may not be waited for, or is
  // above the client's quota), DeadlineExceeded (it has waited for so long):
  // nothing stays.
  absl::StatusOr<ProgramHandle> Load(PlanData plan,
                                     const LoadOptions& options = {});
  // Several, all or none of which are loaded: so no two clients that want the
  // same ones wait for each other, in whatever order they name them.
  absl::StatusOr<std::vector<ProgramHandle>> Load(
      std::vector<PlanData> plans, const LoadOptions& options = {});
  // On a slice: the devices that the program was compiled for on one island
  // become the first ones of the slice on one, in order, and it takes of the
  // memory that the slice has. InvalidArgument: there are fewer of these, or
  // they are of another kind or CPU; FailedPrecondition: there is too little of
  // that left, or the slice was given back.
  absl::StatusOr<ProgramHandle> Load(PlanData plan, SliceHandle slice,
                                     const LoadOptions& options = {});
  // Devices to load programs on, for this client alone or with memory that is
  // for it alone (SliceOptions), on other islands than the slices of
  // `apart_from`. They are those of least load, and on one CPU type. Waits for
  // what others have, as Load, with its errors; InvalidArgument also for a
  // shape that islands cannot share, or a kind that nobody has.
  absl::StatusOr<SliceHandle> ReserveSlice(
      const SliceOptions& options,
      const std::vector<SliceHandle>& apart_from = {});
  // Their names, row-major by the slice's shape.
  absl::StatusOr<std::vector<std::string>> DevicesOf(SliceHandle slice);
  // Gives it back; programs that are loaded there stay until they are unloaded.
  // Does not wait.
  absl::Status ReleaseSlice(SliceHandle slice);
  // The plan on the devices that it is on now.
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> PlanOf(
      ProgramHandle program);
  // FailedPrecondition while a launch of it has not ended. Waits.
  absl::Status Unload(ProgramHandle program);
  // Gives up a program: it is unloaded when its launches so far have ended.
  // Does not wait; a later Load and Stats wait for what can be unloaded.
  absl::Status Discard(ProgramHandle program);

  // Moves a program to other devices, from those that it was first loaded for:
  // with nothing to avoid it comes back. Its handle, its kernels and its bits
  // stay. Waits for the launches so far; who calls Launch meanwhile waits, too.
  // Where there is memory for both, it is loaded anew before it is given up
  // where it was, else after, and is back there when that was refused. Arrays
  // stay where they are: the next launch that takes one brings it along.
  // InvalidArgument: no such part of the cluster; ResourceExhausted: there are
  // too few devices; else as Load. When neither place takes it, it is no longer
  // loaded, and the message says so; launches fail with the reason until
  // another Rebind loads it.
  absl::Status Rebind(ProgramHandle program, const RebindOptions& options = {});

  // Devices that no program can be loaded on now, by number over the cluster:
  // of hosts that are gone, of workers that were lost, and those that are
  // drained. Waits.
  absl::StatusOr<std::vector<bool>> AwayDevices();
  // No more programs are loaded on these islands, hosts or devices, by name,
  // until Undrain; what is there goes on. Waits until nothing is there any
  // more, nor arrays on hosts all of whose devices these are: whoever has it
  // gives it up, or moves it, as ClientOptions::elastic lets every launch do;
  // DeadlineExceeded, which leaves them drained, after `wait_ns`, unless that
  // is negative. InvalidArgument: there is no such part; Cancelled: they are
  // drained no more.
  absl::Status Drain(const std::vector<std::string>& names,
                     int64_t wait_ns = -1);
  absl::Status Undrain(const std::vector<std::string>& names);

  // Gives way to others: waits for its launches, brings its arrays from hosts
  // to this process, or to files in a new folder, and unloads its programs.
  // Handles stay; calls of Load, Launch and Rebind wait until Resume. Results
  // that nobody kept stay on hosts. FailedPrecondition: it is suspended
  // already, or that or the opposite is under way; ResourceExhausted: this
  // process has no memory for an array; or as Save: it goes on as before then.
  absl::Status Suspend(const std::string& folder = "");
  // Loads its programs again, each as Rebind would move it, without devices
  // that no program can be loaded on. Arrays go to hosts with the launches that
  // use them; a folder stays as it is until then. FailedPrecondition: it is not
  // suspended, or that or the opposite is under way; or as Rebind: the program,
  // and those after it, stay suspended, and Resume may be called again.
  absl::Status Resume(const RebindOptions& options = {});

  // Runs `steps` steps to their end, in intervals of checkpoint_every; behind
  // each the state that is carried is put by, while the next ones run, and when
  // a host is lost the run goes on from there (RecoveryOptions). The same bits
  // as one launch; but contributions to a partial argument that a program with
  // other ranks resumes are combined. Waits. Arguments as of Launch: of an
  // array that is on hosts a copy comes to this process before it begins.
  // Errors: of a failure that is no loss, at once; the loss itself, of too
  // many; those of Load, when devices are short; of folders, as LoadArrays and
  // Save; AlreadyExists: the folder has a checkpoint and options.resume is not
  // set; InvalidArgument: that checkpoint is another program's, of more steps,
  // or of a run that begins at another step; FailedPrecondition: a simulation
  // without kernels has nothing to put by.
  absl::StatusOr<RecoveredResults> RunToEnd(ProgramHandle program,
                                            LaunchArguments arguments,
                                            int64_t steps,
                                            const RecoveryOptions& options,
                                            const LaunchOptions& launch = {});

  // Runs `steps` steps; arguments in the order of the plan's interface, stepped
  // ones with a leading dimension of `steps`. Each host is sent what its own
  // shards need, and makes room for what they will return. Does not wait, but
  // while ClientOptions::run_ahead have not ended, and for an array that lies
  // on hosts in another way than the program wants it: its values then come
  // back and go out again. Launches of one program run in the order of the
  // calls, and one that uses what another fills runs behind it. InvalidArgument
  // names the argument and both types. What a failed run was to fill is taken
  // all the same, whether that is known or not: Await says so.
  absl::StatusOr<RunHandle> Launch(ProgramHandle program,
                                   LaunchArguments arguments, int64_t steps = 1,
                                   const LaunchOptions& options = {});
  // The run is not wanted any more: what devices were granted of it runs out,
  // the rest never starts, and it ends with Cancelled, unless it was as good as
  // over; its results do not hold then. Launches behind it go on. Does not
  // wait.
  absl::Status Cancel(RunHandle run);
  // Waits for the end. Returns the first cause when an action failed (smallest
  // step, position, shard), ResourceExhausted when a host had no room for its
  // part of the values (nothing has run then), the failure of an earlier run
  // when that filled an argument, DeadlineExceeded when the run stalled. May be
  // called again, and by several threads.
  absl::Status Await(RunHandle run);
  // Await, then one result, global. Fails when any shard of it was fed by a
  // failure; other results of the run stay available. ResourceExhausted, of a
  // run that ended well: this process has no memory for it.
  absl::StatusOr<HostArray> Fetch(RunHandle run, int64_t result);
  absl::StatusOr<HostArray> Fetch(RunHandle run, const std::string& result);
  // A result as an array, to be an argument of a later launch. Its blocks stay
  // where they are. Does not wait, but for a result without bytes, which no
  // host has: what failed is said by who uses the array.
  absl::StatusOr<ArrayHandle> Keep(RunHandle run, int64_t result);
  absl::StatusOr<ArrayHandle> Keep(RunHandle run, const std::string& result);
  // Drops a run and those of its results that nobody keeps, on all hosts, when
  // it has ended. Does not wait.
  absl::Status ReleaseRun(RunHandle run);

  // A new array stays in the client's memory, which is bounded by that of all
  // hosts together (ResourceExhausted), until its first launch has ended; from
  // then on the hosts of that launch hold it in blocks, and launches that want
  // it so move none of it.
  // InvalidArgument: it has not the bytes of its type.
  absl::StatusOr<ArrayHandle> Put(HostArray array);
  // Without a copy and without a bound: the values stay where they are until
  // hosts hold them, the array is released before, the client is gone, or this
  // failed; then `done` is called.
  absl::StatusOr<ArrayHandle> Put(BorrowedArray array);
  // What was saved. It stays in its files, which must stay as they are until
  // the first launch with it has ended, and hosts are sent the parts that they
  // need, however it was cut. That launch ends with DataLoss when a file has
  // changed meanwhile.
  absl::StatusOr<ArrayHandle> Put(std::shared_ptr<const SavedArray> array);
  // AwaitArray, then its values. ResourceExhausted, of a good array: this
  // process has no memory for a copy.
  absl::StatusOr<HostArray> Get(ArrayHandle array);
  // Does not wait.
  absl::Status Release(ArrayHandle array);

  // AwaitArray, then writes it to a new folder (docs/checkpoints.md), each
  // block of its shards once, of which this process has one at a time. The
  // folder is there when all of it is on the disk, and not at all after an
  // error, which is one of AwaitArray, SaveFolder or CheckSavable;
  // ResourceExhausted also: no memory for a block; FailedPrecondition: a
  // simulation without kernels has no values.
  absl::Status Save(ArrayHandle array, const std::string& folder);
  // Several, by name (CheckArrayName), to one folder.
  absl::Status Save(const std::map<std::string, ArrayHandle>& arrays,
                    const std::string& folder);
  // One, as that folder or, with a name, as a folder in it.
  absl::Status Save(ArrayHandle array, SaveFolder* folder,
                    const std::string& name = "");
  // Checks what was saved (SavedArray::Open) and puts it. Waits for files
  // alone.
  absl::StatusOr<ArrayHandle> LoadArray(const std::string& folder);
  absl::StatusOr<std::map<std::string, ArrayHandle>> LoadArrays(
      const std::string& folder);

  // Do not wait. Whether a call that waits for the array, or the run, would
  // return at once, with it or with an error.
  absl::StatusOr<ArrayType> TypeOf(ArrayHandle array);
  absl::StatusOr<bool> IsReady(ArrayHandle array);
  absl::StatusOr<bool> IsReady(RunHandle run);
  // Waits until the array is good; the error of the run that should fill it.
  absl::Status AwaitArray(ArrayHandle array);

  // What all processes have counted, once what was released before is given
  // back. Waits.
  absl::StatusOr<ClusterStats> Stats();
  // What was traced so far, also of a run that goes on or failed. Waits.
  // FailedPrecondition: the cluster's options have no trace_events.
  //
  // As JSON that Perfetto opens (docs/tracing.md).
  absl::Status WriteTrace(std::ostream* out);
  absl::StatusOr<TraceSummary> Summarize();
  // What the program of plans with that header cost; InvalidArgument: the world
  // is a simulation, whose time is made of costs. See also MeasureProfile().
  absl::StatusOr<proto::Profile> Measure(const proto::Header& header);

  // Gives up all that it holds: what runs ends, programs are unloaded, arrays
  // and runs are released; then the name is free. Does not wait. Calls that
  // wait return Cancelled, and so do later ones.
  void Close();

 private:
  friend class Cluster;
  friend class HostCheckpoints;
  friend class RecoveredRun;
  struct Draft;
  class TracedCall;

  // `context` and `actor`, which is attached, outlive it.
  Client(ClientContext* context, ClientActor* actor, std::string name,
         const ClientOptions& options);
  // AlreadyExists: another client has the name. Waits.
  absl::Status Connect();

  // Messages (client.cc), on the worker of the actor.
  void OnControl(const proto::Control& control);
  void OnAnswer(const proto::Answer& answer);
  void OnCollected(const proto::Collected& collected);
  void OnPlanRequest(const proto::PlanRequest& request);
  void OnLoadWaits(const proto::LoadWaits& waits);
  void OnDrainSeen(const proto::DrainSeen& seen);
  void OnLaunchEnded(const proto::LaunchEnded& ended);
  // As InFlightLimiter wants it, there too.
  void OnTick();

  // Sends a request, to be waited for. `fill` makes it, from its number.
  std::shared_ptr<Request> Ask(
      absl::FunctionRef<void(uint64_t id, proto::Control*)> fill,
      std::shared_ptr<Request> request = std::make_shared<Request>());
  // Gives a request its place among those of this client, which must be sent
  // before mutex_ or a sender of the gate is given back.
  void Number(const ControlRef& control) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `from`: the client's actor, in its handler; else nobody.
  void Send(ControlRef control, ActorId from = kNoActor);
  ControlRef NewControl() { return context_.runtime->controls.New(); }
  ControlRef NewControl(ControlMessage::Kind kind) {
    return context_.runtime->controls.New(kind);
  }
  // Waits for `done`. DeadlineExceeded: it will never be (in a simulation);
  // Cancelled: the client was closed, or the cluster shut down. `what` is asked
  // for its name when there is an error.
  absl::Status WaitFor(Completion& done, absl::FunctionRef<std::string()> what);
  absl::Status WaitUntil(absl::FunctionRef<bool()> done,
                         absl::FunctionRef<std::string()> what);
  absl::Status WaitForRun(RunState& run);
  bool stopping() const { return closed_.load() || context_.stopping.load(); }
  // The id by which others know a run of this client.
  uint64_t IdOf(uint64_t run) const { return ClientId(actor_.index(), run); }

  // Launches (client_launches.cc).
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> FindProgram(
      ProgramHandle program);
  // The steps of a launch: what its arguments are, whose values are brought
  // home if they must go elsewhere; whether there is room for it, and the wait
  // for that; then where they go, its place among the requests, and what is
  // sent.
  absl::Status Resolve(LaunchArguments arguments, Draft* draft);
  absl::Status ResolveArgument(int index, LaunchArgument argument, Draft* draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Values whose contributions the program cannot take as they are: of another
  // mesh, or by a layout that is not partial.
  absl::Status CombineArguments(Draft* draft);
  absl::Status TakeTurn(Draft* draft);
  absl::Status AwaitTurn(uint64_t turn);
  absl::Status Place(Draft* draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status PlaceArgument(int index, Draft* draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendLaunch(Draft* draft);

  // Values (client_values.cc).
  absl::StatusOr<std::shared_ptr<RunState>> FindRun(RunHandle run);
  // The run, when it has ended and the result is good. Waits.
  absl::StatusOr<std::shared_ptr<RunState>> AwaitResult(RunHandle run,
                                                        int64_t result);
  absl::StatusOr<ArrayHandle> PutValue(SharedValue value);
  // Loads (client_loads.cc). As `origin` with these slices.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> LoadPlan(
      std::shared_ptr<const PreparedPlan> origin, const PlanSlices& slices,
      const LoadOptions& options);
  struct Candidate {
    PlanName name;
    std::shared_ptr<const PreparedPlan> plan, origin;
    uint64_t slice = 0;  // to load it on; 0: none
  };
  // Whose rules it checks, if it is not here; elsewhere than `origin`.
  absl::StatusOr<Candidate> Prepare(PlanData plan);
  absl::StatusOr<Candidate> Prepare(std::shared_ptr<const PreparedPlan> origin,
                                    const PlanSlices& slices);
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> MakePlan(
      const PlanName& name, PlanData plan);
  // Chooses devices for all of them, each of which has a slice then.
  absl::Status FindPlaces(std::vector<Candidate>* candidates,
                          const LoadOptions& options);
  // Replaces devices that are away (LoadPlace::kPresent).
  absl::Status LeaveAway(std::vector<Candidate>* candidates,
                         bool oversubscribe);
  absl::StatusOr<std::vector<std::shared_ptr<const LoadedProgram>>> Submit(
      std::vector<Candidate> candidates, const LoadOptions& options);
  absl::Status AwaitResumed();
  std::vector<ProgramHandle> Adopt(
      std::vector<std::shared_ptr<const LoadedProgram>> loaded);
  // Waits for what may wait for others.
  absl::Status AwaitOrCancel(std::shared_ptr<Request> request, uint64_t number,
                             absl::FunctionRef<std::string()> what);
  // Handles and devices.
  using GrantedSlices = std::vector<std::pair<uint64_t, std::vector<int64_t>>>;
  absl::StatusOr<GrantedSlices> AskForSlices(
      absl::FunctionRef<void(proto::SlicesRequest*)> fill, int64_t wait_ns,
      const std::function<void(const std::string&)>& on_waiting);
  void SendRelease(uint64_t slice);
  struct HeldSlice {
    std::string name;
    size_t run = 0;  // of its devices are on each island
    std::vector<int64_t> devices;
  };
  absl::StatusOr<HeldSlice> FindSlice(SliceHandle slice);
  absl::Status UnloadProgram(const LoadedProgram& program);
  // Rebinding (client_rebind.cc). A call of a launch, or a rebinding, begins;
  // both wait while the program is rebound.
  enum class Use { kCall, kRebind };
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> Begin(
      ProgramHandle program, Use use);
  void EndCall(const LoadedProgram& program);
  // Waits for the calls that have begun, too.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> BeginRebind(
      ProgramHandle program);
  void EndRebind(ProgramHandle program);
  absl::Status Rebind(ProgramHandle program, const std::vector<bool>& avoid,
                      const RebindOptions& options);
  // Whether Rebind would take it elsewhere. ResourceExhausted: it would find
  // too few devices.
  absl::StatusOr<bool> Moves(ProgramHandle program,
                             const std::vector<bool>& avoid,
                             bool oversubscribe);
  // No host has it any more.
  bool IsLost(const LoadedProgram& program);
  void Lose(const LoadedProgram& program, const absl::Status& why);
  // Loads a program that was given up again, without the devices that `avoid`
  // says; null: where it was. It may have failed before. Waits.
  absl::Status Restore(ProgramHandle program, const std::vector<bool>* avoid,
                       const RebindOptions& options);
  // Suspending (client_suspend.cc).
  // One suspends or resumes at a time. FailedPrecondition: it is under way, or
  // so it is already.
  absl::Status BeginChange(bool suspends);
  void EndChange();
  absl::Status SuspendAll(const std::string& folder);
  absl::Status ResumeAll(const RebindOptions& options);
  // Calls go on.
  void EndSuspension();
  // Arrays that are on one of these hosts, which are marked; one.
  absl::Status FetchToClient(const std::vector<bool>& hosts,
                             const std::string& folder);
  absl::Status FetchToClient(uint64_t array, SharedValue value);
  // Before a launch.
  void MoveOffDrained(ProgramHandle program);
  absl::Status SendDrain(const std::vector<std::string>& names, int64_t wait_ns,
                         bool undo);
  absl::Status RebindTo(ProgramHandle program,
                        const std::shared_ptr<const LoadedProgram>& old,
                        const PlanSlices& slices, const RebindOptions& options);
  // Waits until all its launches have ended, well or not.
  absl::Status AwaitLaunches(const LoadedProgram& program);
  // Unless it was given up meanwhile; then `by` is, too, and this is false.
  bool Replace(ProgramHandle program, std::shared_ptr<const LoadedProgram> by);
  // Unloads a program that was given up, if no launch of it is open.
  void UnloadDiscarded(uint64_t program, ActorId from)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // FailedPrecondition: there is none.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> FindLoaded(
      uint64_t program) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the array is good, if it is a result.
  absl::Status AwaitArray(uint64_t array);
  // Whether it is a result that was not made.
  bool HasFailed(uint64_t array);
  // Where an array is, once it is good: with this process, or on hosts.
  struct ArrayLocation {
    SharedType type;
    SharedValue dense;  // null: on hosts
    PlacedObject placed;
  };
  absl::StatusOr<ArrayLocation> Locate(ArrayHandle array);
  // The values of an array as they are, to go out again: a partial array keeps
  // its contributions. Waits; errors as Get.
  absl::StatusOr<SharedValue> GetValue(ArrayHandle array);
  // A copy of a value, with its contributions combined. `what` names it.
  // ResourceExhausted: there is no memory for it; or as SavedArray::Read.
  static absl::StatusOr<HostArray> Combined(const ArrayValue& value,
                                            const std::string& what);
  // Joins the blocks that hosts hold, and keeps contributions; waits. NotFound:
  // released meanwhile.
  absl::StatusOr<SharedValue> Gather(const PlacedObject& placed,
                                     const ArrayType& type,
                                     const std::string& what);
  // The same with contributions combined.
  absl::StatusOr<HostArray> GatherCombined(const PlacedObject& placed,
                                           const ArrayType& type,
                                           const std::string& what);
  // Joins one block, or all blocks, that the placement has; `type` is that of
  // what is joined.
  absl::StatusOr<HostArray> Join(uint64_t object,
                                 const ArrayPlacement& placement,
                                 const layout::Box* window,
                                 const ArrayType& type, const std::string& what,
                                 FetchAssembly::Partial partial);
  // Writes all blocks of an array that hosts hold, or that the client has.
  absl::Status WriteBlocks(const PlacedObject& placed, const std::string& what,
                           ElementType element, ArrayWriter* writer);
  // Gives up one hold of each object; asks the controller, as Send, to release
  // those that nothing here holds. Does not wait.
  void Unhold(const ObjectList& objects, ActorId from = kNoActor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the hosts have dropped what anybody released so far.
  absl::Status AwaitReleases();

  // Reports (client_reports.cc).
  absl::StatusOr<std::shared_ptr<Request>> Collect(proto::Question question);
  // The clocks of the other processes, seen from this one. Waits.
  absl::StatusOr<ProcessClocks> ReadClocks();
  absl::Status ReadTrace(TraceLog* log, TraceFacts* facts);

  // InvalidArgument: the handle is not of this client.
  template <typename Handle>
  absl::Status CheckOwner(Handle handle, const char* what) const;

  ClientContext& context_;
  ClientActor& actor_;
  const std::string name_;
  const ClientOptions options_;
  const uint64_t owner_;  // of its handles
  std::atomic<bool> closed_{false};
  Mutex mutex_;
  RequestTable requests_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<const LoadedProgram>> programs_
      ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, HeldSlice> slices_ ABSL_GUARDED_BY(mutex_);
  std::set<uint64_t> rebinding_ ABSL_GUARDED_BY(mutex_);  // programs
  std::atomic<int> rebinds_{0};                           // how many these are
  std::atomic<uint64_t> rebinds_ended_{0};
  std::atomic<bool> has_drained_arrays_{false};  // it was told so
  std::atomic<bool> suspended_{false};
  // "being suspended" or "being resumed"; null: neither.
  const char* change_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // That wait for Resume, as if they were rebound.
  std::vector<ProgramHandle> suspended_programs_ ABSL_GUARDED_BY(mutex_);
  // Given up, and not unloaded; and unloads of such that nobody waited for.
  std::set<uint64_t> discarded_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Request>> unloads_ ABSL_GUARDED_BY(mutex_);
  SpareMemory run_memory_;  // goes after those who have runs
  RunTable runs_ ABSL_GUARDED_BY(mutex_);
  InFlightLimiter room_;  // who has mutex_ owns it
  ArrayTable arrays_ ABSL_GUARDED_BY(mutex_);
  ObjectHolds holds_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileReader> reader_;  // null: in a simulation
};

template <typename Handle>
absl::Status Client::CheckOwner(Handle handle, const char* what) const {
  if (handle.owner == owner_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", handle.id, " is not of client '", name_, "'",
                   Tag(ErrorId::kNotOfClient)));
}

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_H_
