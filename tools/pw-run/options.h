//===- options.h - The command line of pw-run -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_OPTIONS_H_
#define TOOLS_PW_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/recovery_options.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/node/remote_cluster.h"
#include "tools/pw-run/compare.h"
#include "tools/pw-run/input_spec.h"

namespace pathways::pw_run {

// What the process returns; part of the tool's interface, see --help.
enum ExitCode {
  kSuccess = 0,
  kComparisonFailed = 1,
  kUsageError = 2,
  kCompileError = 3,
  kPlanRefused = 4,
  kRunError = 5,
};

struct Options {
  std::string file;  // "-": standard input
  std::string program;
  std::string topology;
  bool oversubscribe = false;
  std::vector<std::string> avoid;  // islands, hosts, devices
  std::vector<std::string> mesh;   // SLICE:AXIS=N,...
  int steps_in_flight = 2;
  std::string profile;                              // path; empty: none
  std::string kernel_cache;                         // folder; empty: none
  uint64_t kernel_cache_bytes = uint64_t{1} << 30;  // 0: no bound

  std::vector<NamedSpec> inputs;
  std::vector<NamedSpec> outputs;  // "-" or "@PATH"
  std::vector<NamedSpec> saves;    // folders
  std::vector<NamedSpec> expected;
  Tolerance tolerance;

  int64_t steps = 1;
  // How it runs. Nothing is traced when nobody asks for it.
  ClusterOptions run;
  // A cluster that runs already; no address: one of our own.
  ConnectOptions connect;
  std::string client;  // name; empty: one that says which process this is
  ClientOptions share;
  bool anywhere = false;
  LoadOptions load;
  LaunchOptions launch;
  std::optional<RecoveryOptions> recovery;  // none: nothing is put by

  bool costs_only = false;  // no values
  bool dry_run = false;
  bool compile_only = false;
  bool explain_placement = false;
  bool explain_shardings = false;
  bool explain_kernels = false;
  bool explain_reshard = false;
  std::string dump_graph;      // path; "-": standard output; empty: none
  std::string emit_plan;       // path
  std::string emit_plan_text;  // path or "-"
  std::string trace;           // path; "-": standard output; empty: none
  std::string profile_out;     // likewise
  std::string stats;           // "", "table", "json" or "@PATH" (as JSON)
};

struct ParsedOptions {
  Options options;
  // Set when there is nothing to do but print this, for --help, --version and
  // --explain.
  std::string print;
};

// InvalidArgument: the command line is wrong; the message is for the user.
absl::StatusOr<ParsedOptions> ParseOptions(int argc, const char* const* argv);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_OPTIONS_H_
