//===- Session.h - Clients of a cluster -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SESSION_H
#define PATHWAYS_SESSION_H

#include "pathways/Array.h"
#include "pathways/Executable.h"
#include "pathways/HostArray.h"
#include "pathways/Options.h"
#include "pathways/Plan.h"
#include "pathways/Result.h"
#include "pathways/Statistics.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace pathways {

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

/// A device of a cluster.
struct DeviceInfo {
  /// "island0/host1/device2"
  std::string name;
  /// Kind, such as "cpu".
  std::string kind;
  /// Name of the CPU, such as "znver4"; empty if the cluster's description
  /// names none.
  std::string cpu;
  /// Island, host in the cluster and device on that host, each from 0.
  int64_t island = 0, host = 0, index = 0;
  /// Memory of the device; the part that loaded programs of all sessions hold
  /// now; and the most that they ever held.
  uint64_t memory_bytes = 0, used_bytes = 0, peak_bytes = 0;
  /// False if the device takes no programs now: its host is gone, it has a
  /// kernel that does not return, or it is drained.
  bool is_available = true;
};

/// A host of a cluster. Arrays between launches are in the memory of hosts.
struct HostInfo {
  /// "island0/host1"
  std::string name;
  /// Memory of the host; the part in use now by programs and arrays of all
  /// sessions; and the arrays in it.
  uint64_t memory_bytes = 0, used_bytes = 0, array_bytes = 0;
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
  /// Returns the devices of the cluster, island by island and host by host,
  /// with their memory as it is now. Waits for an answer of every host. Errors:
  /// RunFailed if the cluster ended.
  Result<std::vector<DeviceInfo>> devices();
  /// Returns the hosts of the cluster, in the same order. Otherwise as
  /// `devices`.
  Result<std::vector<HostInfo>> hosts();

  /// Time of the cluster in nanoseconds: virtual in a simulation, otherwise
  /// since it was opened here. 0 for an empty session.
  int64_t now() const;
  /// Returns counts of the cluster, after memory that was released before was
  /// given back. Waits for an answer of every process. Errors: RunFailed if the
  /// cluster ended.
  Result<Statistics> statistics();

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

  /// Makes a new array on devices, divided by `sharding`. A launch that wants
  /// the array there does not move it. Waits for memory on the devices as
  /// `load` does; the values may still be under way when the call returns. In a
  /// partial sharding the first contribution is `array`, and each other one is
  /// the neutral element of the reduction. Errors: as for the first put; also
  /// InvalidArgument, naming what is wrong, if the sharding does not fit the
  /// array or the cluster; Refused if the devices or hosts lack memory.
  Result<Array> put(HostArray array, const Sharding &sharding);
  /// Makes a new array of `shape` on devices from one dense array for each
  /// shard, in the order of Sharding::devices and with the shapes of
  /// Array::shards. Shards that are copies of each other must be equal; the
  /// first one is taken. The shards of a partial sharding are its
  /// contributions. Otherwise as for put with a sharding.
  Result<Array> putShards(const std::vector<int64_t> &shape,
                          const std::vector<HostArray> &shards,
                          const Sharding &sharding);

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
  /// Returns the names of the arrays in a folder that Session::save has
  /// written. Reads no values. Errors: as for loadArray; InvalidArgument also
  /// for the folder of a single array.
  static Result<std::vector<std::string>> savedNames(const std::string &folder);
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
  /// remaining programs, when `waitNs` (if not negative) have passed; the parts
  /// stay drained.
  Status drain(const std::vector<std::string> &names, int64_t waitNs = -1);
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

#endif // PATHWAYS_SESSION_H
