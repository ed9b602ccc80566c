//===- Executable.h - Loaded programs and their runs ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_EXECUTABLE_H
#define PATHWAYS_EXECUTABLE_H

#include "pathways/Array.h"
#include "pathways/EventQueue.h"
#include "pathways/HostArray.h"
#include "pathways/Options.h"
#include "pathways/PortInfo.h"
#include "pathways/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pathways {

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
  /// Waits for at most `limitNs` nanoseconds if that is not negative. Returns
  /// false if the run has not ended by then. A simulation makes progress only
  /// in calls that wait, and takes no account of the limit. Errors: as for
  /// await.
  Result<bool> awaitFor(int64_t limitNs);
  /// Cancels the run: firings already granted to devices finish within
  /// milliseconds, and the rest never starts. The run ends with RunFailed
  /// unless it was almost finished, and so does every run that reads its
  /// results. Never waits. Errors: InvalidArgument.
  Status cancel();
  /// Returns true if await would return at once. Never waits.
  bool isReady() const;
  /// Adds one event with this tag to the queue when the run ends, or at once if
  /// it has ended. The event comes even if the run is destroyed before that, if
  /// the cluster ends, and if the session is closed. Never waits. Errors:
  /// InvalidArgument.
  Status notify(const EventQueue &queue, uint64_t tag);
  /// Waits, then returns a copy of the whole result, dense. Errors: as for
  /// await; InvalidArgument for a name that is no result; Refused, naming type
  /// and bytes, if this process lacks memory for the copy. The result remains.
  Result<HostArray> fetch(const std::string &result);
  /// Fetches a result by its position in Executable::results.
  Result<HostArray> fetch(int64_t result);
  /// Returns a result as an array, which stays on the devices. Does not wait: a
  /// failure of the run is reported to the reader of the array. (Exception: a
  /// result without elements is on no device, so take() waits for the run.)
  /// Errors: InvalidArgument for a name that is no result; RunFailed if the run
  /// has already failed.
  Result<Array> take(const std::string &result);
  /// Takes a result by its position in Executable::results.
  Result<Array> take(int64_t result);

  struct State;
  explicit Run(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

/// Memory that a loaded program reserves on one device.
struct DeviceMemory {
  std::string device;
  uint64_t bytes = 0;
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

  /// Launches as `launch` does, with the arguments in the order of
  /// `arguments()`, so that no name is looked up.
  Result<Run> launchPositional(std::vector<Argument> arguments,
                               int64_t steps = 1,
                               const LaunchOptions &options = {});

  /// Name of the program. Empty for an empty executable.
  const std::string &name() const;
  /// Arguments and results, in the order of the program, on the devices where
  /// the program is now, which rebind changes. They never wait. Errors:
  /// InvalidArgument.
  Result<std::vector<PortInfo>> arguments() const;
  Result<std::vector<PortInfo>> results() const;
  /// Memory that the program reserves on each of its devices, each named once,
  /// in the order of the cluster. Never waits. Errors: InvalidArgument.
  Result<std::vector<DeviceMemory>> memory() const;

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

} // namespace pathways

#endif // PATHWAYS_EXECUTABLE_H
