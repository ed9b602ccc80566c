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
#include "pathways/HostArray.h"
#include "pathways/Options.h"
#include "runtime/client/array_store.h"
#include "runtime/client/array_value.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handles.h"
#include "runtime/client/held_array.h"
#include "runtime/client/host_checkpoints.h"
#include "runtime/client/program_catalog.h"
#include "runtime/client/relocator.h"
#include "runtime/client/run_checkpoints.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/layout/contributions.h"
#include "runtime/world/world.h"

namespace pathways {

class Client;
class LoadedProgram;

// Results of Client::RunToEnd.
struct RecoveredResults {
  // Arrays by result. They are in this process, so that no loss destroys them;
  // without recovery (kFail), those that are not stepped stay where the last
  // step left them. Stepped ones have the steps that this run made. The caller
  // releases the arrays.
  std::vector<ArrayHandle> arrays;
  RecoveryReport report;
};

// Returns true if the error of Client::RunToEnd comes from its steps, not from
// its arguments or a folder.
bool IsOfSteps(const absl::Status& status);

// One Client::RunToEnd. A run is a series of launches, its intervals, of which
// two are open at a time. Where one ends and the next begins, all shards are at
// one step, and the arrays that are carried over are the checkpoint: nothing
// writes to them any more, so steps that run meanwhile cannot tear it.
// Invariants: (1) the checkpoint, and all arguments that are not carried, are
// in this process, in files, or on hosts that the program is not on, so the run
// can begin there on any devices; (2) a checkpoint is complete before the
// previous one is removed; (3) however the run ends, no array and no launch of
// it stays except the results. One thread calls it, once.
class RecoveredRun {
 public:
  // Parts of the client for what its interface does not offer.
  struct Parts {
    const RuntimeContext* runtime;
    ControlChannel* channel;
    ProgramCatalog* catalog;
    ArrayStore* store;
    Relocator* relocator;
  };
  // All arguments outlive it.
  RecoveredRun(Client* client, const Parts& parts, ProgramHandle program,
               const RecoveryOptions& options, const LaunchOptions& launch)
      : client_(*client),
        parts_(parts),
        program_(program),
        options_(options),
        launch_(launch),
        host_checkpoints_(
            client, parts.runtime->topology,
            [this] { return parts_.channel->stopping(); }, program),
        checkpoints_(parts.store, &host_checkpoints_, options,
                     launch.first_step, &report_) {}

  absl::StatusOr<RecoveredResults> Run(LaunchArguments arguments,
                                       int64_t steps);

 private:
  // An open launch. The destructor cancels and releases it.
  struct Interval {
    Interval() = default;
    Interval(Interval&& other) noexcept
        : client(std::exchange(other.client, nullptr)),
          run(other.run),
          first(other.first),
          steps(other.steps),
          carried(std::move(other.carried)) {}
    ~Interval();
    Client* client = nullptr;  // null if nothing was launched
    RunHandle run;
    int64_t first = 0, steps = 0;
    std::vector<HeldArray> carried;  // by argument
  };

  absl::Status CheckOptions() const;
  bool IsStepped(int64_t result) const;
  // Copies arguments to this process that are neither in it nor in files.
  absl::Status KeepArguments(LaunchArguments arguments);
  // `in_files`: files have or will have the values, so those of an array on
  // hosts are not fetched, and `*value` is null.
  absl::Status KeepArgument(LaunchArgument* argument, bool in_files,
                            SharedValue* value);

  // Runs from the checkpoint to the end. Moves the program when it should move
  // and no interval is open.
  absl::Status RunFromCheckpoint();
  // Returns the options of a launch after the first `steps` steps of the run:
  // first_step and deadline_ns count from the beginning of the launch, not of
  // the run.
  LaunchOptions LaunchOptionsAfter(int64_t steps) const;
  absl::StatusOr<Interval> Launch(int64_t first);
  // Puts the rows of a stepped argument that an interval needs.
  absl::StatusOr<HeldArray> PutSteps(int argument, int64_t first,
                                     int64_t steps);
  // Waits for the oldest interval, takes its results and makes the next
  // checkpoint.
  absl::Status FinishInterval();
  absl::Status TakeSteps(Interval* interval);
  // Copies the rows of an interval to a stepped result.
  absl::Status TakeRows(const Interval& interval, int result,
                        const ArrayValue& rows);
  // Returns a result of an interval as it is, with its contributions.
  absl::StatusOr<SharedValue> FetchValue(const Interval& interval, int result);
  absl::Status TakeResults(const Interval& interval);
  // Makes the checkpoint after an interval, and looks whether the program
  // should move.
  absl::Status MakeCheckpoint(const Interval& interval);

  // Recovers from a loss, so that RunFromCheckpoint may be called again.
  // Otherwise returns the error that ends the run.
  absl::Status Recover(const absl::Status& why);
  absl::Status Move();
  // Returns the number of the step after the first `steps` steps of the run.
  int64_t NumberOf(int64_t steps) const { return launch_.first_step + steps; }
  void Notify(const std::string& what) const;

  Client& client_;
  const Parts parts_;
  const ProgramHandle program_;
  const RecoveryOptions& options_;
  const LaunchOptions& launch_;
  std::shared_ptr<const LoadedProgram> plan_;  // as first loaded
  TimeNs begin_ = 0;  // when Run began, in the world's time
  int64_t steps_ = 0, interval_steps_ = 0;  // steps of the run; of an interval
  std::vector<SharedValue> arguments_;      // null for carried ones
  RecoveryReport report_;
  HostCheckpoints host_checkpoints_;
  RunCheckpoints checkpoints_;
  int64_t done_ = 0, launched_ = 0;  // steps ended; steps launched
  int losses_ = 0;                   // since the last checkpoint
  // Devices that are offline, as far as known; nullopt: not asked yet.
  std::optional<std::vector<bool>> away_;
  bool moving_ = false;  // once all open intervals have ended
  std::vector<HeldArray>
      constants_;                   // not carried, not stepped; index: argument
  std::vector<HeldArray> carried_;  // into the oldest open interval
  std::deque<Interval> open_;
  // Rows of all intervals, which are put as one array.
  struct SteppedResult {
    HostArray rows;  // with all contributions
    layout::Contributions contributions;
  };
  // Index: result; null if not stepped.
  std::vector<std::shared_ptr<SteppedResult>> stepped_;
  std::vector<HeldArray> results_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RECOVERED_RUN_H_
