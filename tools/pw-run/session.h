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

void Print(const std::string& text);  // to standard output

// One run of the tool, in this order, so that nothing is computed that cannot
// be used: the files to write; the cluster; the program; its interface and
// inputs; then the run, and what it gave. The steps return false after setting
// failure_.
class Session {
 public:
  explicit Session(Options options);
  // The line's thread reads statistics.
  ~Session() { progress_.Clear(); }

  // Returns the exit code; what failed is on the standard error then.
  int Run();

 private:
  // session.cc
  bool Fail(ExitCode code, absl::string_view message);
  // What was given is at fault, unless there was no memory for it.
  bool FailInput(const absl::Status& status);
  bool Check(ExitCode code, const absl::Status& status);
  // Writes to the file that was opened for `path`, or prints.
  bool Emit(const std::string& path, OutputFile* file, absl::string_view text);
  bool OpenFiles();
  std::function<void(const LongWork&)> Warn();
  // To a cluster that runs, whose topology is the one to compile for.
  bool Connect();
  bool Load();
  // To other devices, where some are not wanted.
  bool Avoid();
  // Everything that comes from the plan alone.
  bool Describe();

  // session_run.cc
  // Inputs, expected values, and the memory for results.
  bool Prepare();
  // A cluster of this process's own.
  bool OpenCluster();
  bool Execute();
  // Whose name on the cluster tells it from others.
  bool OpenClient();
  std::optional<ProgramHandle> LoadOnCluster();
  bool PutArguments(LaunchArguments* arguments);
  // Waits for the end.
  bool Launch(ProgramHandle program, LaunchArguments arguments);
  bool FetchResults();
  // In legs, each from where the one before it ended.
  bool RunToEnd(ProgramHandle program, LaunchArguments arguments);
  // Whether somebody looks at all of a result at a time.
  bool IsWanted(size_t port) const;
  // Writes the folder of one result, which is not in its place then.
  bool Save(size_t save);

  // session_report.cc
  // After a run that ended well, or not. Returns whether all went well.
  bool WriteTrace(bool has_run);
  bool WriteProfile();
  // Stores, prints and compares.
  bool Finish();
  void PrintResult(size_t port, int64_t max_elements);
  RunFacts Facts() const;
  // Of the cluster, with the times that devices had for this run.
  absl::StatusOr<ClusterStats> Stats();
  bool PrintCosts();
  bool WriteStats();

  const proto::Plan& plan() const { return loaded_.plan.tables; }

  Options options_;
  Failure failure_;
  ExitCode exit_code_ = kSuccess;
  RunFiles files_;
  std::vector<size_t> output_ports_;  // as options_.outputs
  std::vector<std::unique_ptr<SaveFolder>> save_folders_;  // as options_.saves
  std::vector<size_t> save_ports_;                         // likewise
  std::optional<Topology> topology_;
  Loaded loaded_;
  Signature signature_;
  std::vector<Input> inputs_;
  TimeNs launch_ns_ = 0;          // as RunFacts
  ClusterStats before_;           // on a cluster of others, before the launch
  std::optional<RunHandle> run_;  // has the results; none: arrays_ are they
  std::vector<ArrayHandle> arrays_;                     // by result
  std::vector<HostArray> results_;                      // those that are wanted
  std::vector<std::pair<size_t, HostArray>> expected_;  // by result
  // Before cluster_, which may have something to note until its end. Its thread
  // reads cluster_, and has ended when that goes.
  Progress progress_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_SESSION_H_
