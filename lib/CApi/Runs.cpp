//===- Runs.cpp - Runs of the C API ---------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "runtime/base/wait_interrupt.h"

using namespace pathways;
using namespace pathways::capi;

pw_error *capi::readLaunchOptions(const pw_launch_options *given,
                                  LaunchOptions &options) {
  pw_launch_options o{};
  if (pw_error *error = readOptions(given, o, "pw_launch_options"))
    return error;
  options.deadline_ns = o.deadline_ns;
  options.first_step = o.first_step;
  if (o.has_priority)
    options.priority = o.priority;
  return nullptr;
}

pw_error *pw_launch(pw_executable *executable, const pw_array *const *arguments,
                    size_t count, int64_t steps, const pw_launch_options *given,
                    pw_run **run) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"executable", executable}, {"run", run}}))
      return error;
    LaunchOptions options;
    if (pw_error *error = readLaunchOptions(given, options))
      return error;
    std::vector<Argument> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (!arguments || !arguments[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "argument " + std::to_string(i) + " is null");
      values.emplace_back(arguments[i]->array);
    }
    auto launch = [&] {
      return executable->executable.launchPositional(std::move(values), steps,
                                                     options);
    };
    pw_launch_options o{};
    if (pw_error *error = readOptions(given, o, "pw_launch_options"))
      return error;
    if (!o.is_interrupted)
      return makeHandle(launch(), run);
    bool isInterrupted = false;
    auto ask = [&] { return isInterrupted = o.is_interrupted(o.context) != 0; };
    WaitInterrupt interrupt(ask);
    pw_error *error = makeHandle(launch(), run);
    if (!error || !isInterrupted)
      return error;
    pw_error_free(error);
    return makeError(PW_TIMED_OUT, "the launch was interrupted");
  });
}

pw_error *pw_run_wait(pw_run *run, int64_t limit_ns) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"run", run}}))
      return error;
    return toError(run->run.awaitFor(limit_ns), "the run", limit_ns);
  });
}

int pw_run_is_ready(const pw_run *run) {
  return !run || isForkedChild() || run->run.isReady();
}

pw_error *pw_run_cancel(pw_run *run) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"run", run}}))
      return error;
    return toError(run->run.cancel());
  });
}

pw_error *pw_run_take(pw_run *run, size_t result, pw_array **array) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"run", run}, {"array", array}}))
      return error;
    return makeHandle(run->run.take(static_cast<int64_t>(result)), array);
  });
}

pw_error *pw_run_notify(pw_run *run, pw_events *events, uint64_t tag) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"run", run}, {"events", events}}))
      return error;
    return toError(run->run.notify(events->queue, tag));
  });
}

void pw_run_free(pw_run *run) { freeHandle(run); }
