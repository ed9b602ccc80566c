//===- session.h - One run of pw-run ----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_SESSION_H_
#define TOOLS_PW_RUN_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/client/program_constants.h"
#include "runtime/cluster/cluster.h"
#include "runtime/topology/topology.h"
#include "tools/pw-run/load_program.h"
#include "tools/pw-run/options.h"
#include "tools/pw-run/progress.h"
#include "tools/pw-run/run_files.h"
#include "tools/pw-run/signature.h"
#include "tools/pw-run/stats.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {

void Print(const std::string& text);        // to standard output
void PrintFailure(const Failure& failure);  // to standard error

// One run of the tool. It opens the files to write; then the cluster; then it
// loads the program, its interface and its inputs; then it runs and reports
// results: in this order, so that nothing is computed that cannot be used. The
// steps return false after setting failure_.
class Session {
 public:
  explicit Session(Options options);
  // Stops the progress line, whose thread reads statistics.
  ~Session() { progress_.Clear(); }

  // Runs all steps and returns the exit code. Prints a failure to standard
  // error.
  int Run();

 private:
  // session.cc
  bool Fail(ExitCode code, absl::string_view message);
  // Fails with kUsageError, since the input is at fault, unless there was no
  // memory for it.
  bool FailInput(const absl::Status& status);
  bool Check(ExitCode code, const absl::Status& status);
  // Writes to the file that was opened for `path`, or prints.
  bool Emit(const std::string& path, OutputFile* file, absl::string_view text);
  bool OpenFiles();
  std::function<void(const LongWork&)> Warn();
  // Connects to a running cluster, whose topology is the one to compile for.
  bool Connect();
  bool Load();
  // Moves the plan to other devices if some are to be avoided.
  bool Avoid();
  // Prints everything that depends on the plan alone.
  bool Describe();

  // session_run.cc
  // Prepares inputs, expected values, and the memory for results.
  bool Prepare();
  // Adds the values of archives for results that have no other expected value.
  bool ReadExpectedArchives();
  // Opens a cluster of this process's own.
  bool OpenCluster();
  bool Execute();
  // Connects a client whose name is unique on the cluster.
  bool OpenClient();
  std::optional<ProgramHandle> LoadOnCluster();
  // Puts the constants of the plan.
  bool PutConstants();
  bool PutArguments(LaunchArguments* arguments);
  // Launches the program and waits for the end.
  bool Launch(ProgramHandle program, LaunchArguments arguments);
  bool FetchResults();
  // Runs with recovery, in intervals, each from where the previous one ended.
  bool RunToEnd(ProgramHandle program, LaunchArguments arguments);
  // Returns true if a whole result is needed in memory.
  bool IsWanted(size_t port) const;
  // Writes the folder of one result without moving it to its place.
  bool Save(size_t save);

  // session_report.cc
  // Called after a run, successful or not. Returns true if the run and the
  // trace succeeded.
  bool WriteTrace(bool has_run);
  bool WriteProfile();
  // Stores, prints and compares results.
  bool Finish();
  // Writes all results that are not parts of checks.
  absl::Status WriteArchive();
  // Compares the results that have expectations, and prints what fails.
  void CompareChecks();
  void PrintResult(size_t port, int64_t max_elements);
  RunFacts Facts() const;
  // Returns the counts of the cluster, with the times that devices had for this
  // run.
  absl::StatusOr<ClusterStats> Stats();
  bool PrintCosts();
  bool WriteStats();

  const proto::Plan& plan() const { return loaded_.run_plan(); }

  Options options_;
  Failure failure_;
  ExitCode exit_code_ = kSuccess;
  RunFiles files_;
  std::vector<size_t> output_ports_;  // order of options_.outputs
  // Order of options_.saves.
  std::vector<std::unique_ptr<SaveFolder>> save_folders_;
  std::vector<size_t> save_ports_;  // order of options_.saves
  std::optional<Topology> topology_;
  Loaded loaded_;
  Signature signature_;
  std::vector<Input> inputs_;
  ProgramConstants constants_;
  TimeNs launch_ns_ = 0;  // see RunFacts
  ClusterStats before_;   // counts before the launch, on a cluster of others
  // Has the results; nullopt: arrays_ are the results.
  std::optional<RunHandle> run_;
  std::vector<ArrayHandle> arrays_;  // index: result
  std::vector<HostArray> results_;   // wanted ones only
  std::vector<bool> of_checks_;      // index: result; see ResultsOfChecks
  // Result, expected value.
  std::vector<std::pair<size_t, HostArray>> expected_;
  // Declared before cluster_, which may print notes until it is destroyed. Its
  // thread reads cluster_, and has ended by then.
  Progress progress_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_SESSION_H_
