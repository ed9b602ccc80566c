//===- Execute.h - Load plans, launch them, fetch results -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executing half of the public API. It needs no MLIR: link PathwaysExecute
// to run plans that Compile.h made, in this process or elsewhere.
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

/// A compiled program: what runs, where, and in which order. Immutable and
/// cheap to copy. A moved-from plan is empty: it has no bytes, and every use of
/// it returns InvalidArgument. A plan contains executable code: load only plans
/// you trust.
class Plan {
public:
  /// Reads a plan file (docs/plan-format.md). Errors: NotFound;
  /// InvalidArgument; Refused if memory is short.
  static Result<Plan> read(const std::string &path);
  /// Parses the bytes of a plan file, and copies them. Errors: InvalidArgument;
  /// Refused if memory is short.
  static Result<Plan> parse(std::string_view bytes);

  /// The bytes of the plan file. Deterministic.
  const std::string &bytes() const;
  /// Writes the file completely or not at all. Errors: Unwritable.
  Status write(const std::string &path) const;

  struct State;
  explicit Plan(std::shared_ptr<const State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<const State> state;
};

/// Options of a session that opens its own cluster.
struct SessionOptions {
  /// Name of the session in messages, unique among the sessions of a cluster.
  std::string name = "session";
  /// "2x1x4" (islands x hosts x devices per host), a .textproto file, or empty
  /// for this machine.
  std::string topology = {};
  /// Options of the cluster.
  RunOptions run = {};
  /// Weight, priority and limits of the session among the clients of the
  /// cluster.
  ClientOptions client = {};
  /// Called with one line for each kernel, and for each preparation of an
  /// operation by a host, that takes longer than the stall timeout. The line
  /// names program, operation, source line, step and device. The run continues,
  /// but may never end. May be called on any thread, also on one that the
  /// session waits for: it must not call the session, nor block for long.
  std::function<void(const std::string &warning)> on_warning = {};
};

/// Options for connecting to a cluster that runs elsewhere.
struct RemoteOptions {
  /// Name of the session, unique among the sessions of the cluster in all
  /// processes. Empty: a name that identifies this process.
  std::string name = {};
  /// File with the cluster's key, required for an address HOST:PORT. Only the
  /// user may be able to read it.
  std::string key = {};
  /// Alternative to a key, on loopback only: trust every process of this
  /// machine. The cluster must do so too.
  bool trust_loopback = false;
  /// Faults to inject into messages that this process sends, as in
  /// RunOptions::chaos.
  std::string chaos = {};
  /// Weight, priority and limits of the session among the clients of the
  /// cluster.
  ClientOptions client = {};
  /// Called like SessionOptions::on_warning, for the programs of this session.
  std::function<void(const std::string &)> on_warning = {};
};

/// An array that a session holds, in memory of the process or on the devices
/// where its last launch left it. Copies refer to the same array, whose memory
/// is freed with the last copy. The destructor never waits. An array may be the
/// result of a run that has not ended, and still be an argument of the next
/// launch. A moved-from or default-constructed array is empty: every call
/// returns an error.
class Array {
public:
  Array() = default;

  /// The type of the array, known before it is ready. kInvalid and no shape for
  /// an empty array.
  ElementType getElement() const;
  const std::vector<int64_t> &getShape() const;
  /// Returns true if await and get would return, with or without an error,
  /// without waiting for a run. Never waits.
  bool isReady() const;
  /// Waits for the run that fills the array, if there is one. Errors:
  /// RunFailed.
  Status await() const;
  /// Waits, then returns a copy of the whole array, dense. Errors: as for
  /// await; InvalidArgument if the array was released; Refused, naming type and
  /// bytes, if this process lacks memory for the copy. The array remains.
  Result<HostArray> get() const;
  /// Waits, then writes the array to a new folder (docs/checkpoints.md), each
  /// block of its shards once. This process holds one block at a time in
  /// memory. Either the complete folder is on the disk or nothing is. Errors:
  /// as for await; AlreadyExists if the path exists and is not an empty folder;
  /// Unwritable if the folder cannot be made, permission is missing or the disk
  /// is full; InvalidArgument if the array was released, or has no values, as
  /// in a simulation without kernels; Refused if memory for a block is short.
  Status save(const std::string &folder) const;
  /// Frees the memory before the last copy is gone; no copy can be used
  /// afterwards. A launch that has the array as argument continues. Never
  /// waits.
  void release();

  struct State;
  explicit Array(std::shared_ptr<State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

/// One argument of a launch: values to send along, or an array.
using Argument = std::variant<HostArray, Array>;

/// A launch in flight, and the owner of those of its results that were not
/// taken as arrays. Destroying the last copy does not wait, and the launch
/// continues. A moved-from run is empty: isReady() is true, and every other
/// call returns InvalidArgument.
class Run {
public:
  /// Waits for the end of the run. Errors: RunFailed, with the first cause.
  Status await();
  /// Cancels the run: firings already granted to devices finish within
  /// milliseconds, and the rest never starts. The run ends with RunFailed
  /// unless it was almost finished, and so does every run that reads its
  /// results. Never waits. Errors: InvalidArgument.
  Status cancel();
  /// Returns true if await would return at once. Never waits.
  bool isReady() const;
  /// Waits, then returns a copy of the whole result, dense. Errors: as for
  /// await; InvalidArgument for a name that is no result; Refused, naming type
  /// and bytes, if this process lacks memory for the copy. The result remains.
  Result<HostArray> fetch(const std::string &result);
  /// Returns a result as an array, which stays on the devices. Does not wait: a
  /// failure of the run is reported to the reader of the array. (Exception: a
  /// result without elements is on no device, so take() waits for the run.)
  /// Errors: InvalidArgument for a name that is no result; RunFailed if the run
  /// has already failed.
  Result<Array> take(const std::string &result);

  struct State;
  explicit Run(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

/// Results of Executable::runToEnd.
struct FinishedRun {
  /// Results by name. Stepped results have the steps of this run only.
  std::map<std::string, Array> results;
  RecoveryReport report;
};

/// A loaded plan. Holds its memory on the devices until the last copy is gone
/// and its launches have ended; the destructor does not wait. A moved-from
/// executable is empty: every call returns InvalidArgument.
class Executable {
public:
  /// Starts `steps` steps and returns at once. Several launches may be in
  /// flight; they run in order. `arguments` has every argument by name, whole
  /// and dense; a stepped argument has `steps` as an extra leading dimension.
  /// An array that already has the place and layout that the program wants does
  /// not move. Errors: InvalidArgument, naming the argument, also for an array
  /// that is empty, was released or belongs to another session; Refused, also
  /// if memory for the values is short, naming the argument; RunFailed if the
  /// run that fills an argument has failed.
  Result<Run> launch(const std::map<std::string, Argument> &arguments,
                     int64_t steps = 1, const LaunchOptions &options = {});

  /// Runs `steps` steps to their end, and checkpoints the carried values every
  /// RecoveryOptions::checkpoint_every steps. After the loss of a host the run
  /// resumes from a checkpoint, on the same devices or on others, or later in
  /// another process. The results have the bits of a single launch (except that
  /// contributions to a partial argument are combined if a program with other
  /// ranks resumes the run). Waits for the end. `arguments` as for launch;
  /// arrays on devices are copied to this process. Errors: as for launch;
  /// RunFailed for a failure that is no loss, or one loss too many; Refused if
  /// devices or memory are short; AlreadyExists if the folder has a checkpoint
  /// and is not to be resumed; InvalidArgument if that checkpoint is of another
  /// program, or of a run that starts at another step; Damaged if the
  /// checkpoint is not what was written; Unwritable if a checkpoint cannot be
  /// written.
  Result<FinishedRun> runToEnd(const std::map<std::string, Argument> &arguments,
                               int64_t steps, const RecoveryOptions &recovery,
                               const LaunchOptions &options = {});

  /// Moves the program to devices other than those it was loaded for, selected
  /// by name; with nothing to avoid it returns to those. The plan is not
  /// compiled again and gives the same results to the last bit. Waits for the
  /// launches so far; launches called meanwhile wait for rebind. Arrays stay
  /// where they are until a launch needs them. Errors: InvalidArgument if the
  /// cluster has no part of that name; Refused, naming what is short, if
  /// devices or memory are too few. The program then stays where it was. If
  /// there is no room for it there either, it is no longer loaded until another
  /// rebind loads it; the message says so.
  Status rebind(const RebindOptions &options = {});

  struct State;
  explicit Executable(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

/// Devices that a session holds, to load programs on. They are given back with
/// the last copy, which never waits; programs loaded there stay until they are
/// unloaded. A moved-from slice is empty: every use returns InvalidArgument.
class Slice {
public:
  Slice() = default;

  /// Names of the devices, row-major by the shape of the slice
  /// ("island0/host1/device2"). None for an empty slice.
  const std::vector<std::string> &devices() const;
  /// Gives the devices back before the last copy is gone.
  void release();

  struct State;
  explicit Slice(std::shared_ptr<State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

/// A tenant of a cluster: a controller and devices, in this process or
/// elsewhere. Copies refer to the same session. Sessions do not see each
/// other's programs, launches and arrays. When the last copy is gone, and all
/// objects made by the session, its runs are ended; the last session of a
/// cluster in this process also stops the cluster. A moved-from session is
/// empty: every call returns InvalidArgument. Thread-safe.
class Session {
public:
  /// Opens a cluster and its first session.
  static Result<Session> open(const SessionOptions &options);
  /// Opens a session of the cluster whose `pw-node controller` listens at
  /// `address`: HOST:PORT, unix:/PATH or unix:@NAME. When the controller ends,
  /// calls that wait return RunFailed or Refused and say so. Errors:
  /// InvalidArgument for the address or the key file; AlreadyExists if a
  /// session has that name; Refused if nothing listens there, or the controller
  /// has another key or still waits for hosts.
  static Result<Session> connect(const std::string &address,
                                 const RemoteOptions &options = {});
  /// Opens another session of the same cluster. Its programs share the devices
  /// with all others, by weight and priority (docs/scheduling.md). Errors:
  /// AlreadyExists if a session has that name; Refused if there are too many
  /// sessions; InvalidArgument if an option is out of range.
  Result<Session> another(const std::string &name,
                          const ClientOptions &options = {});
  /// The cluster's machines, as CompileOptions::topology takes them. Empty for
  /// an empty session.
  std::string topology() const;

  /// Makes a new array. Its values go to devices with the first launch that has
  /// it as argument. Errors: InvalidArgument if the number of bytes does not
  /// fit the type; Refused if memory is short.
  Result<Array> put(HostArray array);
  /// Makes a new array without a copy, so that only the caller's memory limits
  /// its size. The values must not change until `done` is called. It is called
  /// once: when the devices have the values, when the array is gone before
  /// that, or when put fails. `done` may be called on any thread, also on one
  /// that is in a call of the session, and must not use the session. Errors: as
  /// for the other put.
  Result<Array> put(BorrowedArray array);

  /// Saves several arrays to one new folder, each in a folder of its name. A
  /// name may have letters, digits, _ $ - and, except as its first character, a
  /// point. Errors: as for Array::save; InvalidArgument for a name, or for an
  /// array that is empty or belongs to another session.
  Status save(const std::map<std::string, Array> &arrays,
              const std::string &folder);
  /// Makes a new array from a saved one, however that was cut and wherever it
  /// was. Verifies all checksums first, and keeps none of the values in memory:
  /// a launch reads what its devices need. The folder must therefore stay
  /// unchanged until the first launch with the array has ended; that launch
  /// fails otherwise. Errors: NotFound if there is no such folder, or saving to
  /// it did not finish; Damaged if a file is missing or is not what was
  /// written; InvalidArgument for another version of the format, several
  /// arrays, or missing permission; Refused if memory for the index is short.
  Result<Array> loadArray(const std::string &folder);
  /// Loads the arrays that Session::save has written. Otherwise as loadArray.
  Result<std::map<std::string, Array>> loadArrays(const std::string &folder);

  /// Checks, places and loads a plan. Waits, also for memory that other
  /// sessions hold (LoadOptions). Errors: InvalidArgument for a plan that
  /// breaks a rule; Refused, naming what is short and who holds it, if the plan
  /// can never fit, if sessions that hold the memory wait for this session's
  /// memory too, or if the wait has timed out.
  Result<Executable> load(const Plan &plan, const LoadOptions &options = {});
  /// Loads all of several plans or none. Sessions that compete for memory
  /// should each request all their programs in one call, and then never
  /// deadlock. Errors: as for a single plan.
  Result<std::vector<Executable>> load(const std::vector<Plan> &plans,
                                       const LoadOptions &options = {});

  /// Reserves devices for programs of this session, on other islands than
  /// `apartFrom`. Waits as load does. Errors: InvalidArgument if the cluster
  /// can never have such a slice, or a slice of `apartFrom` is empty or belongs
  /// to another session; Refused, naming what is short and who holds it, as for
  /// load.
  Result<Slice> reserve(const SliceOptions &options,
                        const std::vector<Slice> &apartFrom = {});
  /// Loads a plan on a slice, with memory of the slice: the devices of one
  /// island that the plan was compiled for become the first devices of the
  /// slice on one island, in order. Errors: as for load; also InvalidArgument
  /// if the slice has too few devices or other CPUs, and Refused if too little
  /// of its memory is left.
  Result<Executable> load(const Plan &plan, const Slice &slice,
                          const LoadOptions &options = {});

  /// Gives its resources to other sessions: waits for the session's launches,
  /// brings its arrays to this process, or to files in a new folder, and
  /// unloads its programs. Handles remain valid; load, launch and rebind wait
  /// until `resume`, which loads the programs again, on other devices if theirs
  /// are not available. The folder must stay unchanged until launches have used
  /// the arrays. Errors: InvalidArgument if the session is already suspended,
  /// or is not; Refused if memory of this process or devices are short:
  /// programs that could not be resumed stay suspended; RunFailed, Unwritable,
  /// AlreadyExists: as for Array::save.
  Status suspend(const std::string &folder = "");
  Status resume(const RebindOptions &options = {});

  /// Stops loading programs onto these islands, hosts or devices until
  /// `undrain`; loaded programs continue. Waits until no program is left there:
  /// sessions unload or rebind their programs, or have ClientOptions::elastic.
  /// Errors: InvalidArgument if there is no such part; Refused, naming the
  /// remaining programs, if `wait_ns` (if not negative) have passed; the parts
  /// stay drained.
  Status drain(const std::vector<std::string> &names, int64_t wait_ns = -1);
  Status undrain(const std::vector<std::string> &names);

  /// Writes the events so far as JSON that Perfetto opens (docs/tracing.md);
  /// runs may be in flight. Errors: InvalidArgument without
  /// RunOptions::trace_events; Refused if memory is short; Unwritable if the
  /// stream failed.
  Status writeTrace(std::ostream &out);

  /// Writes the measured costs of the parts of the plan's program in the runs
  /// so far (docs/profiles.md), for CompileOptions::profile. Errors: as for
  /// writeTrace; InvalidArgument also in a simulation, if the plan has no
  /// fingerprint, and before any part of it has run.
  Status writeProfile(const Plan &plan, std::ostream &out);

  struct State;
  explicit Session(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

} // namespace pathways

#endif // PATHWAYS_EXECUTE_H
