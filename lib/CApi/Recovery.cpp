//===- Recovery.cpp - Recovered runs of the C API -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <map>
#include <memory>

using namespace pathways;
using namespace pathways::capi;

static pw_error *readRecovery(const pw_recovery_options *given,
                              RecoveryOptions &options) {
  pw_recovery_options o{};
  if (pw_error *error = readOptions(given, o, "pw_recovery_options"))
    return error;
  switch (o.mode) {
  case PW_FAIL:
    options.mode = RecoveryOptions::kFail;
    break;
  case PW_RETRY:
    options.mode = RecoveryOptions::kRetry;
    break;
  case PW_REBIND:
    options.mode = RecoveryOptions::kRebind;
    break;
  default:
    return makeError(PW_INVALID_ARGUMENT,
                     "pw_recovery_options: there is no mode " +
                         std::to_string(o.mode));
  }
  options.checkpoint_every = o.checkpoint_every;
  options.checkpoint_dir = toString(o.checkpoint_dir);
  options.checkpoints_on_hosts = o.checkpoints_on_hosts != 0;
  options.resume = o.resume != 0;
  if (o.max_losses != 0)
    options.max_losses = o.max_losses;
  options.oversubscribe = o.oversubscribe != 0;
  options.load.wait_ns = toWaitNs(o.wait_ns);
  return nullptr;
}

/// Names the arguments by those of the program.
static pw_error *readArguments(const Executable &executable,
                               const pw_array *const *arguments, size_t count,
                               std::map<std::string, Argument> &named) {
  Result<std::vector<PortInfo>> ports = executable.arguments();
  if (!ports)
    return makeError(ports.error());
  if (count != ports->size())
    return makeError(PW_INVALID_ARGUMENT,
                     "program '" + executable.name() + "' takes " +
                         std::to_string(ports->size()) + " arguments, got " +
                         std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    if (!arguments || !arguments[i])
      return makeError(PW_INVALID_ARGUMENT,
                       "argument " + std::to_string(i) + " is null");
    named.emplace((*ports)[i].name, arguments[i]->array);
  }
  return nullptr;
}

static pw_recovery_report makeReport(const RecoveryReport &report) {
  return {sizeof(pw_recovery_report),
          report.resumed_at,
          report.losses,
          report.moves,
          report.repeated_steps,
          report.checkpoints,
          report.checkpoint_bytes,
          report.checkpoint_ns,
          report.run_ns};
}

pw_error *pw_run_to_end(pw_executable *executable,
                        const pw_array *const *arguments, size_t count,
                        int64_t steps, const pw_recovery_options *recovery,
                        const pw_launch_options *given, pw_array **results,
                        size_t room, pw_recovery_report *report) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"executable", executable}, {"results", results}}))
      return error;
    RecoveryOptions options;
    if (pw_error *error = readRecovery(recovery, options))
      return error;
    LaunchOptions launch;
    if (pw_error *error = readLaunchOptions(given, launch))
      return error;
    if (report)
      if (pw_error *error = checkOutput(report, "pw_recovery_report"))
        return error;
    Executable &program = executable->executable;
    std::map<std::string, Argument> named;
    if (pw_error *error = readArguments(program, arguments, count, named))
      return error;
    Result<std::vector<PortInfo>> ports = program.results();
    if (!ports)
      return makeError(ports.error());
    if (room < ports->size())
      return makeError(PW_INVALID_ARGUMENT,
                       "there is room for " + std::to_string(room) +
                           " results, and the program has " +
                           std::to_string(ports->size()));
    Result<FinishedRun> finished =
        program.runToEnd(named, steps, options, launch);
    if (!finished)
      return makeError(finished.error());
    std::vector<std::unique_ptr<pw_array>> made;
    for (const PortInfo &port : *ports)
      made.push_back(
          std::make_unique<pw_array>(pw_array{finished->results[port.name]}));
    if (report)
      if (pw_error *error = writeOutput(report, makeReport(finished->report),
                                        "pw_recovery_report"))
        return error;
    for (size_t i = 0; i < made.size(); ++i)
      results[i] = made[i].release();
    return nullptr;
  });
}
