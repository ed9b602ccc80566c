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
#include "runtime/client/host_cuts.h"
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

// One Client::RunToEnd. A run is a row of launches, its legs, of which two
// are open at a time; where one ends and the next begins all shards are at one
// step, and the arrays that are carried over are what a cut is made of: nobody
// writes to them any more, so steps that run meanwhile cannot tear it.
// Invariants: (1) the cut, and all arguments that are not carried, are in this
// process, in files, or on hosts that the program is not on, so the run can
// begin there on any devices; (2) a cut is
// whole before the one before it goes; (3) whatever comes of it, no array and
// no launch of it stays but the results. One thread calls it, once.
class RecoveredRun {
 public:
  // All outlive it.
  RecoveredRun(Client* client, ProgramHandle program,
               const RecoveryOptions& options, const LaunchOptions& launch)
      : client_(*client),
        program_(program),
        options_(options),
        launch_(launch),
        host_cuts_(client, program) {}

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
  struct Leg {
    Leg() = default;
    Leg(Leg&& other) noexcept
        : client(std::exchange(other.client, nullptr)),
          run(other.run),
          first(other.first),
          steps(other.steps),
          carried(std::move(other.carried)) {}
    ~Leg();
    Client* client = nullptr;  // of one that was launched
    RunHandle run;
    int64_t first = 0, steps = 0;
    std::vector<Held> carried;  // by argument
  };
  // What a run begins with, after so many steps.
  struct Cut {
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
  // Makes the beginning a cut like others.
  absl::Status SaveBeginning(const LaunchArguments& arguments);
  // Looks for a cut to begin with.
  absl::Status OpenFolder();

  // From the cut to the end, or until it is to move.
  absl::Status RunFromCut();
  // The run's options for a launch that begins after so many of its steps: what
  // is said from the run's beginning on, said from the launch's on.
  LaunchOptions LaunchOptionsAfter(int64_t steps) const;
  absl::StatusOr<Leg> Launch(int64_t first);
  // A stepped argument's part for a leg.
  absl::StatusOr<Held> PutSteps(int argument, int64_t first, int64_t steps);
  // Waits for the oldest leg, takes its results and makes the next cut.
  absl::Status FinishLeg();
  absl::Status TakeSteps(Leg* leg);
  // A stepped result's rows of a leg.
  absl::Status TakeRows(const Leg& leg, int result, const ArrayValue& rows);
  // Returns a result of a leg as it is, with its contributions.
  absl::StatusOr<SharedValue> FetchValue(const Leg& leg, int result);
  absl::Status TakeResults(const Leg& leg);
  absl::Status MakeCut(const Leg& leg);
  // Of arrays by argument, those that are carried.
  absl::Status CopyCut(const std::vector<ArrayHandle>& handles, Cut* cut);
  absl::Status SaveCut(const std::vector<ArrayHandle>& handles, Cut* cut);
  absl::Status KeepCutOnHosts(const std::vector<ArrayHandle>& handles,
                              Cut* cut);
  uint64_t BytesOf(int argument, ArrayHandle array) const;
  // Returns the contributions that the program has of an argument.
  layout::Contributions ContributionsOf(int argument) const;
  // A cut that is on hosts comes to this process; one that is lost with them is
  // the beginning.
  void BringCutHome();

  // After a loss, so that RunFromCut may be called again; or the error that
  // ends the run.
  absl::Status Recover(const absl::Status& why);
  absl::Status Move();
  // The number of the step behind so many steps of the run.
  int64_t NumberOf(int64_t steps) const { return launch_.first_step + steps; }
  void Tell(const std::string& what) const;

  Client& client_;
  const ProgramHandle program_;
  const RecoveryOptions& options_;
  const LaunchOptions& launch_;
  std::shared_ptr<const LoadedProgram> plan_;  // as it was first
  TimeNs begin_ = 0;                           // of Run, in the world's time
  int64_t steps_ = 0, leg_steps_ = 0;          // of all; of a leg
  std::vector<SharedValue> arguments_;  // those that are not carried; or null
  Cut cut_;
  std::vector<SharedValue>
      beginning_;                    // its values, of a run with cuts on hosts
  std::optional<CutFacts> resumed_;  // of the cut that it begins with
  InputDigests inputs_;
  HostCuts host_cuts_;
  int64_t done_ = 0, launched_ = 0;  // steps
  int losses_ = 0;                   // since the cut
  // That it knows of; nullopt: it has not asked.
  std::optional<std::vector<bool>> away_;
  bool moving_ = false;          // when all legs have ended
  std::vector<Held> constants_;  // by argument that is neither
  std::vector<Held> carried_;    // into the first leg
  std::deque<Leg> open_;
  // The rows of all legs, which are put as one array.
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
