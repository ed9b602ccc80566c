//===- recovered_run.h - A run that outlives lost hosts ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RECOVERED_RUN_H_
#define RUNTIME_CLIENT_RECOVERED_RUN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/host_array.h"
#include "runtime/base/recovery_options.h"
#include "runtime/client/array_value.h"
#include "runtime/client/handles.h"
#include "runtime/client/host_checkpoints.h"
#include "runtime/client/input_digests.h"
#include "runtime/layout/contributions.h"
#include "runtime/world/world.h"

namespace pathways {

class Client;
class LoadedProgram;

// What Client::RunToEnd returns.
struct RecoveredResults {
  // By result, in this process, so that no loss takes them; those that are not
  // stepped, of a run that recovers from none, are where the last step left
  // them. Stepped ones have the steps that this run made. The caller releases
  // them.
  std::vector<ArrayHandle> arrays;
  RecoveryReport report;
};

// Whether the error of Client::RunToEnd is that of its steps, not of what it
// was given or of a folder.
bool IsOfSteps(const absl::Status& status);

// One Client::RunToEnd. A run is a row of launches, its intervals, of which two
// are open at a time; where one ends and the next begins all shards are at one
// step, and the arrays that are carried over are what a checkpoint is made of:
// nobody writes to them any more, so steps that run meanwhile cannot tear it.
// Invariants: (1) the checkpoint, and all arguments that are not carried, are
// in this process, in files, or on hosts that the program is not on, so the run
// can begin there on any devices; (2) a checkpoint is whole before the one
// before it goes; (3) whatever comes of it, no array and no launch of it stays
// but the results. One thread calls it, once.
class RecoveredRun {
 public:
  // All outlive it.
  RecoveredRun(Client* client, ProgramHandle program,
               const RecoveryOptions& options, const LaunchOptions& launch)
      : client_(*client),
        program_(program),
        options_(options),
        launch_(launch),
        host_checkpoints_(client, program) {}

  absl::StatusOr<RecoveredResults> Run(LaunchArguments arguments,
                                       int64_t steps);

 private:
  // Given up at its end.
  class Held {
   public:
    Held() = default;
    Held(Client* client, ArrayHandle handle)
        : client_(client), handle_(handle) {}
    Held(Held&& other) noexcept { *this = std::move(other); }
    Held& operator=(Held&& other) noexcept {
      std::swap(client_, other.client_);
      std::swap(handle_, other.handle_);
      return *this;
    }
    ~Held();
    ArrayHandle handle() const { return handle_; }
    // The caller has it then.
    ArrayHandle Take() {
      client_ = nullptr;
      return handle_;
    }

   private:
    Client* client_ = nullptr;
    ArrayHandle handle_;
  };
  // An open launch. At its end nobody wants it any more.
  struct Interval {
    Interval() = default;
    Interval(Interval&& other) noexcept
        : client(std::exchange(other.client, nullptr)),
          run(other.run),
          first(other.first),
          steps(other.steps),
          carried(std::move(other.carried)) {}
    ~Interval();
    Client* client = nullptr;  // of one that was launched
    RunHandle run;
    int64_t first = 0, steps = 0;
    std::vector<Held> carried;  // by argument
  };
  // What a run begins with, after so many steps.
  struct Checkpoint {
    int64_t steps = 0;
    std::vector<SharedValue> values;  // by argument that is carried
    std::string folder;               // has them instead; empty: it does not
    std::vector<Held> arrays;         // so do these; empty: they do not
  };

  absl::Status CheckOptions() const;
  bool IsStepped(int64_t result) const;
  // Copies to this process what is not in it, or in files.
  absl::Status KeepArguments(LaunchArguments arguments);
  // `in_files`: one that is on hosts, so null, will be.
  absl::Status KeepArgument(LaunchArgument* argument, bool in_files,
                            SharedValue* value);
  // Of a run with a folder: that it has this input, which the one to be resumed
  // has as well. Null: it is not in this process.
  absl::Status NoteInput(int argument, const SharedValue& value);
  // Makes the beginning a checkpoint like others.
  absl::Status SaveBeginning(const LaunchArguments& arguments);
  // Looks for a checkpoint to begin with.
  absl::Status OpenFolder();

  // From the checkpoint to the end, or until it is to move.
  absl::Status RunFromCheckpoint();
  // The run's options for a launch that begins after so many of its steps: what
  // is said from the run's beginning on, said from the launch's on.
  LaunchOptions LaunchOptionsAfter(int64_t steps) const;
  absl::StatusOr<Interval> Launch(int64_t first);
  // A stepped argument's part for an interval.
  absl::StatusOr<Held> PutSteps(int argument, int64_t first, int64_t steps);
  // Waits for the oldest interval, takes its results and makes the next
  // checkpoint.
  absl::Status FinishInterval();
  absl::Status TakeSteps(Interval* interval);
  // A stepped result's rows of an interval.
  absl::Status TakeRows(const Interval& interval, int result,
                        const ArrayValue& rows);
  // Returns a result of an interval as it is, with its contributions.
  absl::StatusOr<SharedValue> FetchValue(const Interval& interval, int result);
  absl::Status TakeResults(const Interval& interval);
  absl::Status MakeCheckpoint(const Interval& interval);
  // Of arrays by argument, those that are carried.
  absl::Status CopyCheckpoint(const std::vector<ArrayHandle>& handles,
                              Checkpoint* checkpoint);
  absl::Status SaveCheckpoint(const std::vector<ArrayHandle>& handles,
                              Checkpoint* checkpoint);
  absl::Status KeepCheckpointOnHosts(const std::vector<ArrayHandle>& handles,
                                     Checkpoint* checkpoint);
  uint64_t BytesOf(int argument, ArrayHandle array) const;
  // Returns the contributions that the program has of an argument.
  layout::Contributions ContributionsOf(int argument) const;
  // A checkpoint that is on hosts comes to this process; one that is lost with
  // them is the beginning.
  void FetchCheckpoint();

  // After a loss, so that RunFromCheckpoint may be called again; or the error
  // that ends the run.
  absl::Status Recover(const absl::Status& why);
  absl::Status Move();
  // The number of the step behind so many steps of the run.
  int64_t NumberOf(int64_t steps) const { return launch_.first_step + steps; }
  void Notify(const std::string& what) const;

  Client& client_;
  const ProgramHandle program_;
  const RecoveryOptions& options_;
  const LaunchOptions& launch_;
  std::shared_ptr<const LoadedProgram> plan_;  // as it was first
  TimeNs begin_ = 0;                           // of Run, in the world's time
  int64_t steps_ = 0, interval_steps_ = 0;     // of all; of an interval
  std::vector<SharedValue> arguments_;  // those that are not carried; or null
  Checkpoint checkpoint_;
  std::vector<SharedValue>
      beginning_;  // its values, of a run with checkpoints on hosts
  std::optional<CheckpointFacts>
      resumed_;  // of the checkpoint that it begins with
  InputDigests inputs_;
  HostCheckpoints host_checkpoints_;
  int64_t done_ = 0, launched_ = 0;  // steps
  int losses_ = 0;                   // since the checkpoint
  // That it knows of; nullopt: it has not asked.
  std::optional<std::vector<bool>> away_;
  bool moving_ = false;          // when all intervals have ended
  std::vector<Held> constants_;  // by argument that is neither
  std::vector<Held> carried_;    // into the first interval
  std::deque<Interval> open_;
  // The rows of all intervals, which are put as one array.
  struct SteppedResult {
    HostArray rows;  // with all contributions
    layout::Contributions contributions;
  };
  std::vector<std::shared_ptr<SteppedResult>> stepped_;  // by result; or null
  std::vector<Held> results_;
  RecoveryReport report_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RECOVERED_RUN_H_
