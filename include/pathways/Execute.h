//===- Execute.h - Load plans, launch them, fetch results -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executing half of the public API. It needs no MLIR: link PathwaysExecute
// to run plans that were compiled before, elsewhere or by Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_EXECUTE_H
#define PATHWAYS_EXECUTE_H

#include "pathways/Result.h"
#include "runtime/base/client_options.h"
#include "runtime/base/host_array.h"
#include "runtime/base/recovery_options.h"
#include "runtime/base/run_options.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pathways {

/// A low-level program: what runs, where, in which order. Immutable and cheap
/// to copy. Moved from, it is empty: it has no bytes, and every use of it is an
/// InvalidArgument. Contains executable code: load only plans you trust.
class Plan {
public:
  /// Reads a plan file (docs/plan-format.md). Errors: NotFound,
  /// InvalidArgument; Refused: there is no memory for it.
  static Result<Plan> read(const std::string &path);
  /// The same from memory; the bytes are copied.
  static Result<Plan> parse(std::string_view bytes);

  /// The file's bytes, deterministic.
  const std::string &bytes() const;
  /// Writes the file, whole or not at all. Errors: Unwritable.
  Status write(const std::string &path) const;

  struct State;
  explicit Plan(std::shared_ptr<const State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<const State> state;
};

/// What a session is opened with.
struct SessionOptions {
  /// Name of the session, for messages; sessions of one cluster have other
  /// names.
  std::string name = "session";
  /// "2x1x4" (islands x hosts x devices of each), a .textproto file, or empty
  /// for this machine.
  std::string topology = {};
  /// How the cluster runs.
  RunOptions run = {};
  /// The session's place among others of the cluster.
  ClientOptions client = {};
  /// Called with one line for each kernel, and each preparation of an operation
  /// by a host, that takes longer than the stall timeout; it names program,
  /// operation, source line, step and device. The run goes on, but may never
  /// end. On any thread, perhaps one that waits for the session: it must not
  /// call the session, nor wait for long.
  std::function<void(const std::string &warning)> on_warning = {};
};

/// How a session connects to a cluster that runs elsewhere.
struct RemoteOptions {
  /// Name of the session; other sessions of the cluster, of whatever process,
  /// have other names. Empty: one that says which process this is.
  std::string name = {};
  /// The file with the cluster's key, which an address HOST:PORT needs, and
  /// which nobody but the user may read.
  std::string key = {};
  /// Or takes every process of this machine for a friend, on loopback, if the
  /// cluster does so too.
  bool trust_loopback = false;
  /// As RunOptions::chaos, of what this process sends.
  std::string chaos = {};
  /// The session's place among others of the cluster.
  ClientOptions client = {};
  /// As of SessionOptions, of this session's programs.
  std::function<void(const std::string &)> on_warning = {};
};

/// An array that a session holds, in memory of the process or on devices, where
/// its last launch left it. A value: copies are the same array, whose memory is
/// given back when the last copy is gone. To destroy one never waits. It may be
/// the result of a run that has not ended, and an argument of the next launch
/// all the same. Moved from, it is empty, like one made of nothing: every call
/// is an error.
class Array {
public:
  Array() = default;

  /// Its type, also before it is ready; nothing of an empty one.
  ElementType getElement() const;
  const std::vector<int64_t> &getShape() const;
  /// Whether await and get would return without waiting for a run, with the
  /// array or with an error. Never waits.
  bool isReady() const;
  /// Waits for the run that fills it, if there is one. Errors: RunFailed.
  Status await() const;
  /// Waits, then copies it out: global, dense. Errors: as await;
  /// InvalidArgument: it was released; Refused, naming type and bytes: this
  /// process has no memory for the copy. The array stays.
  Result<HostArray> get() const;
  /// Waits, then writes it to a new folder (docs/checkpoints.md), each block of
  /// its shards once: this process has one of them at a time in memory. All of
  /// the folder is there, on the disk, or nothing. Errors: as await;
  /// AlreadyExists: something is there, other than an empty folder; Unwritable:
  /// no folder can be made there, no permission, no room; InvalidArgument: it
  /// was released, or has no values, as a simulation without kernels computes
  /// none; Refused: there is no memory for a block.
  Status save(const std::string &folder) const;
  /// Gives its memory back before the last copy is gone; all copies are of no
  /// use then. A launch that has it as argument goes on. Never waits.
  void release();

  struct State;
  explicit Array(std::shared_ptr<State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

/// One argument of a launch: values to be sent along, or an array.
using Argument = std::variant<HostArray, Array>;

/// A launch under way, and the owner of its results but for those taken as
/// arrays. To destroy the last copy does not wait, and the launch goes on.
/// Moved from, it is empty: it is ready, and every call is an InvalidArgument.
class Run {
public:
  /// Waits for the end. Errors: RunFailed, with the first cause.
  Status await();
  /// Nobody wants it any more: what devices were granted of it runs out, within
  /// milliseconds, and the rest never starts. It ends with RunFailed, unless it
  /// was as good as over, and so does what reads its results. Never waits.
  /// Errors: InvalidArgument.
  Status cancel();
  /// Whether await would return at once. Never waits.
  bool isReady() const;
  /// Waits, then copies a result out: global, dense. Errors: as await;
  /// InvalidArgument for a name that is no result; Refused, naming type and
  /// bytes: this process has no memory for the copy. The result stays.
  Result<HostArray> fetch(const std::string &result);
  /// A result as an array, which stays where it is, on the devices. Does not
  /// wait: whoever reads the array sees the run's failure. (But a result of no
  /// elements is nowhere, and nobody would see: it is waited for.) Errors:
  /// InvalidArgument for a name that is no result; RunFailed when the run has
  /// ended so.
  Result<Array> take(const std::string &result);

  struct State;
  explicit Run(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

/// What Executable::runToEnd returns.
struct FinishedRun {
  /// By name. Stepped ones have the steps that this run made.
  std::map<std::string, Array> results;
  RecoveryReport report;
};

/// A loaded plan. Holds its memory on the devices until the last copy is gone,
/// and its launches have ended: to destroy it does not wait. Moved from, it is
/// empty: every call is an InvalidArgument.
class Executable {
public:
  /// Starts `steps` steps and returns at once; several launches may be under
  /// way and run in order. `arguments` has every argument by name, global and
  /// dense; a stepped one has `steps` as an extra leading dimension. An array
  /// that already lies where the program wants it moves nowhere. Errors:
  /// InvalidArgument, naming the argument, also for an array that is empty, was
  /// released or is another session's; Refused, also when there is no memory
  /// for the values, naming the argument; RunFailed when the run that fills an
  /// argument has failed.
  Result<Run> launch(const std::map<std::string, Argument> &arguments,
                     int64_t steps = 1, const LaunchOptions &options = {});

  /// Runs `steps` steps to their end, with the results of one launch to the
  /// last bit (but for contributions to a partial argument that a program with
  /// other ranks resumes: it combines them), and puts by what is carried from
  /// step to step every
  /// RecoveryOptions::checkpoint_every: from there the run goes on when a host
  /// is lost, on the same devices or on others, or in another process, later.
  /// Waits. Arguments as of launch; of arrays on devices a copy comes to this
  /// process. Errors: as launch; RunFailed: a failure that is no loss, or one
  /// loss too many; Refused: devices or memory are short; AlreadyExists: the
  /// folder has a checkpoint, and is not to be resumed; InvalidArgument: that
  /// checkpoint is another program's, or of a run that begins at another step;
  /// Damaged: it is not what was written; Unwritable: a checkpoint could not be
  /// written.
  Result<FinishedRun> runToEnd(const std::map<std::string, Argument> &arguments,
                               int64_t steps, const RecoveryOptions &recovery,
                               const LaunchOptions &options = {});

  /// Moves the program to other devices than it was loaded for, by name; with
  /// nothing to avoid it comes back to those. Not compiled again, and with the
  /// same results to the last bit. Waits for its launches so far; launches that
  /// are called meanwhile wait for it. Arrays stay where they are until a
  /// launch takes them along. Errors: InvalidArgument: there is no part of the
  /// cluster of that name; Refused, naming what is short: too few devices, or
  /// memory; the program is where it was then, but where even that has no more
  /// room, it is no longer loaded, and the message says so, until another
  /// rebind loads it.
  Status rebind(const RebindOptions &options = {});

  struct State;
  explicit Executable(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

/// Devices that a session holds, to load programs on. Given back when the last
/// copy is gone, which never waits; programs that are loaded there stay until
/// they go themselves. Moved from, it is empty: every use is an
/// InvalidArgument.
class Slice {
public:
  Slice() = default;

  /// Names of its devices, row-major by its shape ("island0/host1/device2");
  /// nothing of an empty one.
  const std::vector<std::string> &devices() const;
  /// Gives it back before the last copy is gone.
  void release();

  struct State;
  explicit Slice(std::shared_ptr<State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

/// A tenant of a cluster: a controller and devices, in this process or
/// elsewhere. Copies are the same session. What it loads, launches and holds is
/// its own. When the last copy is gone, and all that came from it, what still
/// runs is ended; the last session of a cluster of this process stops that.
/// Moved from, it is empty: every call is an InvalidArgument. Thread-safe.
class Session {
public:
  /// A cluster and its first session.
  static Result<Session> open(const SessionOptions &options);
  /// A session of the cluster whose `pw-node controller` listens at `address`:
  /// HOST:PORT, unix:/PATH or unix:@NAME. When that ends, calls that wait
  /// return RunFailed or Refused and say so. Errors: InvalidArgument: the
  /// address, or the key file; AlreadyExists: a session has that name; Refused:
  /// nobody listens there, it has another key, or waits for hosts.
  static Result<Session> connect(const std::string &address,
                                 const RemoteOptions &options = {});
  /// Another session of this one's cluster. Its programs share the devices with
  /// all others, by weight and priority (docs/scheduling.md). Errors:
  /// AlreadyExists: a session has that name; Refused: there are too many;
  /// InvalidArgument: an option is out of range.
  Result<Session> another(const std::string &name,
                          const ClientOptions &options = {});
  /// The cluster's machines, as CompileOptions::topology takes them; nothing of
  /// an empty session.
  std::string topology() const;

  /// A new array. Its values go to devices with the first launch that has it as
  /// argument. Errors: InvalidArgument: it has not the bytes of its type;
  /// Refused: there is no memory.
  Result<Array> put(HostArray array);
  /// The same without a copy, so that nothing but the caller's memory bounds
  /// it: the values must stay as they are until `done` is called, once, which
  /// is when devices have them, or the array is gone before, or this failed.
  /// `done` may be called on any thread, also one that is in a call of the
  /// session, and must not use the session.
  Result<Array> put(BorrowedArray array);

  /// Saves several arrays to one new folder, in folders of their names, which
  /// have letters, digits, _ $ - and, but not first, a point. Errors: as
  /// Array::save; InvalidArgument: a name, or an array that is empty or another
  /// session's.
  Status save(const std::map<std::string, Array> &arrays,
              const std::string &folder);
  /// A new array, of what was saved, wherever and however it was cut.
  /// Compares all of it with its checksums first; then nothing of it is in
  /// memory: a launch reads what its devices need. So the folder must stay as
  /// it is until the first launch with it has ended, which fails otherwise.
  /// Errors: NotFound: no such folder, or nothing was saved there to the end;
  /// Damaged: a file is missing or not what was written; InvalidArgument:
  /// another version of the format, several arrays, or no permission; Refused:
  /// no memory for the index.
  Result<Array> loadArray(const std::string &folder);
  /// The same, of what `save` has written.
  Result<std::map<std::string, Array>> loadArrays(const std::string &folder);

  /// Checks, places and loads a plan. Waits, also for memory that other
  /// sessions have (LoadOptions). Errors: InvalidArgument for a plan that
  /// breaks a rule; Refused, naming what is short and who has it, when it can
  /// never fit, others wait for this session's memory too, or it has waited for
  /// so long.
  Result<Executable> load(const Plan &plan, const LoadOptions &options = {});
  /// Several, all or none of which are loaded. Sessions that want the same
  /// memory for several programs each ask for all of them so, and never wait
  /// for each other in a circle. Errors: as of one.
  Result<std::vector<Executable>> load(const std::vector<Plan> &plans,
                                       const LoadOptions &options = {});

  /// Devices for programs of this session, on other islands than `apartFrom`.
  /// Waits, as load does. Errors: InvalidArgument: no cluster has such a slice,
  /// or a slice of `apartFrom` is empty or another session's; Refused, naming
  /// what is short and who has it: as load.
  Result<Slice> reserve(const SliceOptions &options,
                        const std::vector<Slice> &apartFrom = {});
  /// Loads a plan on a slice: the devices that it was compiled for on one
  /// island become the first of the slice on one, in order, with memory that
  /// the slice has. Errors: as load; InvalidArgument also for a slice of too
  /// few devices, or of other CPUs; Refused also when too little of its memory
  /// is left.
  Result<Executable> load(const Plan &plan, const Slice &slice,
                          const LoadOptions &options = {});

  /// Gives way to others: waits for the session's launches, brings its arrays
  /// to this process, or to files in a new folder, and unloads its programs.
  /// What it has handed out stays; load, launch and rebind wait until `resume`,
  /// which loads the programs again, on other devices where theirs are not to
  /// be had. A folder stays as it is until launches have used the arrays.
  /// Errors: InvalidArgument: it is suspended already, or is not; Refused:
  /// there is no memory here, or devices are short: what could not be resumed
  /// stays suspended; RunFailed, Unwritable, AlreadyExists: as Array::save.
  Status suspend(const std::string &folder = "");
  Status resume(const RebindOptions &options = {});

  /// No more programs are loaded on these islands, hosts or devices, until
  /// `undrain`; what is there goes on. Waits until nothing is there any more:
  /// sessions unload or rebind their programs, or have
  /// ClientOptions::elastic. Errors: InvalidArgument: there is no such part;
  /// Refused: `wait_ns` are over, unless that is negative, and who is still
  /// there; they stay drained.
  Status drain(const std::vector<std::string> &names, int64_t wait_ns = -1);
  Status undrain(const std::vector<std::string> &names);

  /// Writes what happened so far as JSON that Perfetto opens (docs/tracing.md);
  /// runs may be under way. Errors: InvalidArgument without
  /// RunOptions::trace_events; Refused: there is no memory for it; Unwritable
  /// when the stream failed.
  Status writeTrace(std::ostream &out);

  /// Writes what the parts of the plan's program cost in the runs so far
  /// (docs/profiles.md), for CompileOptions::profile. Errors: as of writeTrace;
  /// InvalidArgument also in a simulation, where the plan has no fingerprint,
  /// and before anything of it has run.
  Status writeProfile(const Plan &plan, std::ostream &out);

  struct State;
  explicit Session(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

} // namespace pathways

#endif // PATHWAYS_EXECUTE_H
