//===- main.cc - Run programs and plans from the command line -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line; session.h has the rest, and --help lists the options.
//
//===----------------------------------------------------------------------===//

#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/temporary_file.h"
#include "tools/pw-run/explain_schedules.h"
#include "tools/pw-run/load_program.h"
#include "tools/pw-run/options.h"
#include "tools/pw-run/session.h"

namespace pathways::pw_run {
namespace {

// Prints the costs of all schedules, and returns the exit code.
int PrintSchedules(const Options& options) {
  std::vector<ScheduleCosts> schedules;
  Failure failure;
  if (ExplainSchedules(options, &schedules, &failure)) {
    Print(SchedulesText(schedules));
    return kSuccess;
  }
  PrintFailure(failure);
  return failure.code;
}

int Main(int argc, char** argv) {
  absl::StatusOr<ParsedOptions> parsed = ParseOptions(argc, argv);
  if (!parsed.ok()) {
    std::fprintf(stderr, "pw-run: error: %s\npw-run --help says more\n",
                 std::string(parsed.status().message()).c_str());
    return kUsageError;
  }
  if (!parsed->print.empty()) {
    Print(parsed->print);
    return kSuccess;
  }
  try {
    if (parsed->options.explain_schedules) {
      return PrintSchedules(parsed->options);
    }
    return Session(std::move(parsed->options)).Run();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pw-run: error: out of memory\n");
    return kRunError;
  }
}

}  // namespace
}  // namespace pathways::pw_run

int main(int argc, char** argv) {
  // A file that may not grow causes an error with its name, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  pathways::RemoveTemporaryFilesOnSignals();
  int code = pathways::pw_run::Main(argc, argv);
  // If standard output goes to a full disk, the run must not look successful.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "pw-run: error: cannot write standard output\n");
    if (code == 0) code = pathways::pw_run::kUsageError;
  }
  return code;
}
