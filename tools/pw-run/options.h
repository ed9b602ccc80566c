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
#include "pathways/Options.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/node/remote_cluster.h"
#include "tools/pw-run/compare.h"
#include "tools/pw-run/input_spec.h"

namespace pathways::pw_run {

// Exit codes of the process; part of the tool's interface, see --help.
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
  std::string carry, stepped, elided;               // of StableHLO; "": none
  std::vector<std::string> assign, slices;          // of StableHLO
  std::string profile;                              // path; empty: none
  std::string kernel_cache;                         // folder; empty: none
  uint64_t kernel_cache_bytes = uint64_t{1} << 30;  // 0: no bound
  bool strict_rounding = false;                     // at most one of the two
  bool excess_precision = false;

  std::vector<NamedSpec> inputs;
  std::vector<NamedSpec> outputs;  // "-" or "@PATH"
  std::vector<NamedSpec> saves;    // folders
  std::vector<NamedSpec> expected;
  // Paths of .npz files, of any number of arguments or results each.
  std::vector<std::string> input_archives, expected_archives;
  std::string output_archive;  // empty: none
  Tolerance tolerance;

  int64_t steps = 1;
  // Options of the run. Nothing is traced unless an option requires it.
  ClusterOptions run;
  // A running cluster; without an address the tool makes its own.
  ConnectOptions connect;
  std::string client;  // name; empty: derived from the process
  ClientOptions share;
  bool anywhere = false;
  LoadOptions load;
  LaunchOptions launch;
  std::optional<RecoveryOptions> recovery;  // nullopt: no checkpoints

  bool costs_only = false;  // only costs, no values
  bool dry_run = false;
  bool compile_only = false;
  bool explain_placement = false;
  bool explain_shardings = false;
  bool explain_credits = false;
  bool explain_import = false;
  bool explain_kernels = false;
  bool explain_reshard = false;
  bool explain_schedules = false;
  std::string dump_graph;      // path; "-": standard output; empty: none
  std::string emit_plan;       // path
  std::string emit_plan_text;  // path or "-"
  std::string schedule;        // name, or "@" and a path; empty: of the text
  std::string emit_order;      // path; empty: none
  std::vector<std::string> label_costs;  // PATTERN=TIME
  std::string trace;        // path; "-": standard output; empty: none
  std::string profile_out;  // path; "-": standard output; empty: none
  std::string stats;        // "", "table", "json" or "@PATH" (as JSON)
};

struct ParsedOptions {
  Options options;
  // Text to print instead of running, for --help, --version and --explain;
  // empty otherwise.
  std::string print;
};

// Returns InvalidArgument, with a message for the user, if the command line is
// wrong.
absl::StatusOr<ParsedOptions> ParseOptions(int argc, const char* const* argv);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_OPTIONS_H_
