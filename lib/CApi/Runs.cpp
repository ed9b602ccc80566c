//===- Runs.cpp - Loaded programs and runs of the C API -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <optional>

using namespace pathways;
using namespace pathways::capi;

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

pw_error *pw_load(pw_session *session, const pw_plan *plan,
                  const pw_load_options *given, pw_executable **executable) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"session", session}, {"plan", plan}, {"executable", executable}}))
      return error;
    pw_load_options o{};
    if (pw_error *error = readOptions(given, o, "pw_load_options"))
      return error;
    LoadOptions options;
    switch (o.place) {
    case PW_AS_COMPILED:
      options.place = LoadPlace::kAsCompiled;
      break;
    case PW_ANYWHERE:
      options.place = LoadPlace::kAnywhere;
      break;
    case PW_PRESENT:
      options.place = LoadPlace::kPresent;
      break;
    default:
      return makeError(PW_INVALID_ARGUMENT,
                       "pw_load_options: there is no place " +
                           std::to_string(o.place));
    }
    options.wait_ns = o.wait_ns == 0 ? -1 : o.wait_ns < 0 ? 0 : o.wait_ns;
    return makeHandle(session->session.load(plan->plan, options), executable);
  });
}

pw_error *pw_rebind(pw_executable *executable, const char *const *avoid,
                    size_t count) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"executable", executable}}))
      return error;
    RebindOptions options;
    for (size_t i = 0; i < count; ++i) {
      if (!avoid || !avoid[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "name " + std::to_string(i) + " is null");
      options.avoid.emplace_back(avoid[i]);
    }
    return toError(executable->executable.rebind(options));
  });
}

void pw_executable_free(pw_executable *executable) { delete executable; }

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

pw_error *pw_launch(pw_executable *executable, const pw_array *const *arguments,
                    size_t count, int64_t steps, const pw_launch_options *given,
                    pw_run **run) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"executable", executable}, {"run", run}}))
      return error;
    pw_launch_options o{};
    if (pw_error *error = readOptions(given, o, "pw_launch_options"))
      return error;
    std::vector<Argument> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (!arguments || !arguments[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "argument " + std::to_string(i) + " is null");
      values.emplace_back(arguments[i]->array);
    }
    LaunchOptions options;
    options.deadline_ns = o.deadline_ns;
    options.first_step = o.first_step;
    return makeHandle(executable->executable.launchPositional(std::move(values),
                                                              steps, options),
                      run);
  });
}

pw_error *pw_run_wait(pw_run *run, int64_t limit_ns) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"run", run}}))
      return error;
    return toError(run->run.awaitFor(limit_ns), "the run", limit_ns);
  });
}

int pw_run_is_ready(const pw_run *run) { return !run || run->run.isReady(); }

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

void pw_run_free(pw_run *run) { delete run; }

//===----------------------------------------------------------------------===//
// Ends of runs
//===----------------------------------------------------------------------===//

pw_error *pw_events_create(pw_events **events) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"events", events}}))
      return error;
    return makeHandle(EventQueue::create(), events);
  });
}

int pw_events_descriptor(const pw_events *events) {
  return events ? events->queue.descriptor() : -1;
}

pw_error *pw_events_next(pw_events *events, int64_t limit_ns, pw_event *event,
                         int *found) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"events", events}, {"event", event}, {"found", found}}))
      return error;
    Result<std::optional<RunEvent>> next = events->queue.wait(limit_ns);
    if (!next)
      return makeError(next.error());
    *found = next->has_value();
    if (*found)
      *event = {(*next)->tag, toError((*next)->status)};
    return nullptr;
  });
}

void pw_events_free(pw_events *events) { delete events; }
