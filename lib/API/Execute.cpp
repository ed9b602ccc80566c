//===- Execute.cpp - Load plans, launch them, fetch results ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's client behind headers that need neither abseil nor protobuf.
//
//===----------------------------------------------------------------------===//

#include "pathways/Execute.h"

#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"

using namespace pathways;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Returns the plan that `read` reads; its bytes are then in memory.
template <typename Read>
static Result<Plan> makePlanOf(const std::string &name, Read read) {
  Result<Plan> plan = Error{};
  const bool hasMemory = HasMemoryFor([&] {
    absl::StatusOr<PlanData> data = read();
    if (data.ok())
      plan = makePlan(*std::move(data));
    else
      plan = makeError(data.status());
  });
  if (!hasMemory)
    return makeMemoryError(name, "its bytes");
  return plan;
}

Result<Plan> Plan::read(const std::string &path) {
  return makePlanOf("plan '" + path + "'", [&] { return ReadPlanFile(path); });
}

Result<Plan> Plan::parse(std::string_view bytes) {
  return makePlanOf(
      "a plan of " + std::to_string(bytes.size()) + " bytes",
      [&] { return ParsePlan(absl::string_view(bytes.data(), bytes.size())); });
}

const std::string &Plan::bytes() const {
  static const std::string *const none = new std::string;
  return state ? state->bytes : *none;
}

Status Plan::write(const std::string &path) const {
  if (!state)
    return makeEmptyError("plan");
  absl::Status status =
      WritePlanFile(path, state->data.tables, state->data.blobs);
  if (!status.ok())
    return makeError(ErrorCode::Unwritable, status);
  return {};
}

//===----------------------------------------------------------------------===//
// Executable, Run
//===----------------------------------------------------------------------===//

Status Executable::rebind(const RebindOptions &options) {
  if (!state)
    return makeEmptyError("executable");
  absl::Status status;
  if (!HasMemoryFor([&] {
        status = state->session->client->Rebind(state->program, options);
      }))
    return makeMemoryError(
        "program '" + state->plan.getState()->data.tables.header().program() +
            "'",
        "its tables");
  if (!status.ok())
    return makeError(status);
  return {};
}

/// Returns the values for a launch of `plan`, in the order of its arguments.
static Result<LaunchArguments>
makeArguments(const Plan &plan,
              const std::map<std::string, Argument> &arguments) {
  const proto::Interface &interface = plan.getState()->data.tables.interface();
  LaunchArguments values;
  size_t used = 0;
  for (const proto::Argument &argument : interface.arguments()) {
    auto it = arguments.find(argument.name());
    if (it == arguments.end())
      return Error{ErrorCode::InvalidArgument, "argument '" + argument.name() +
                                                   "' is missing" +
                                                   Tag(ErrorId::kInputMissing)};
    ++used;
    if (const auto *value = std::get_if<HostArray>(&it->second)) {
      if (!HasMemoryFor([&] { values.emplace_back(*value); }))
        return Error{ErrorCode::Refused,
                     "argument '" + argument.name() +
                         "': " + NoMemoryText(value->element, value->shape)};
      continue;
    }
    const Array::State *array = std::get<Array>(it->second).getState();
    if (!array)
      return Error{ErrorCode::InvalidArgument,
                   "the array of argument '" + argument.name() + "' is empty"};
    values.emplace_back(array->array);
  }
  if (used != arguments.size()) {
    for (const auto &[name, value] : arguments) {
      bool known = false;
      for (const proto::Argument &argument : interface.arguments())
        known |= argument.name() == name;
      if (!known)
        return Error{ErrorCode::InvalidArgument,
                     "the program has no argument '" + name + "'"};
    }
  }
  return values;
}

Result<Run> Executable::launch(const std::map<std::string, Argument> &arguments,
                               int64_t steps, const LaunchOptions &options) {
  if (!state)
    return makeEmptyError("executable");
  Result<LaunchArguments> values = makeArguments(state->plan, arguments);
  if (!values)
    return values.error();
  absl::StatusOr<RunHandle> run = state->session->client->Launch(
      state->program, std::move(*values), steps, options);
  if (absl::IsNotFound(run.status())) // the array was released
    return makeError(ErrorCode::InvalidArgument, run.status());
  if (!run.ok())
    return makeError(run.status());
  return Run(std::make_shared<Run::State>(state->session, *run));
}

/// Makes errors of runToEnd: those of launches, devices and folders.
static Error makeRunError(const absl::Status &status) {
  if (IsOfSteps(status))
    return makeError(ErrorCode::RunFailed, status);
  switch (status.code()) {
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kDeadlineExceeded:
  case absl::StatusCode::kCancelled:
  case absl::StatusCode::kFailedPrecondition:
    return makeError(ErrorCode::RunFailed, status);
  case absl::StatusCode::kPermissionDenied:
    return makeError(ErrorCode::Unwritable, status);
  default:
    return makeLoadError(status);
  }
}

Result<FinishedRun>
Executable::runToEnd(const std::map<std::string, Argument> &arguments,
                     int64_t steps, const RecoveryOptions &recovery,
                     const LaunchOptions &options) {
  if (!state)
    return makeEmptyError("executable");
  Result<LaunchArguments> values = makeArguments(state->plan, arguments);
  if (!values)
    return values.error();
  absl::StatusOr<RecoveredResults> results = state->session->client->RunToEnd(
      state->program, std::move(*values), steps, recovery, options);
  if (!results.ok())
    return makeRunError(results.status());
  FinishedRun finished;
  finished.report = results->report;
  const proto::Interface &interface =
      state->plan.getState()->data.tables.interface();
  for (size_t i = 0; i < results->arrays.size(); ++i) {
    Result<Array> array =
        makeArray(state->session, results->arrays[i], ErrorCode::RunFailed);
    if (!array)
      return array.error();
    finished.results[interface.results(static_cast<int>(i)).name()] = *array;
  }
  return finished;
}

Status Run::await() {
  if (!state)
    return makeEmptyError("run");
  absl::Status status = state->client().Await(state->run);
  if (!status.ok())
    return makeError(ErrorCode::RunFailed, status);
  return {};
}

Status Run::cancel() {
  if (!state)
    return makeEmptyError("run");
  absl::Status status = state->client().Cancel(state->run);
  if (!status.ok())
    return makeError(ErrorCode::InvalidArgument, status);
  return {};
}

Result<HostArray> Run::fetch(const std::string &result) {
  if (!state)
    return makeEmptyError("run");
  Client &client = state->client();
  absl::StatusOr<HostArray> array = client.Fetch(state->run, result);
  if (array.ok())
    return *std::move(array);
  if (lacksMemory(client.Await(state->run), array.status()))
    return Error{ErrorCode::Refused, "result '" + result + "' of " +
                                         toString(array.status().message())};
  return makeError(absl::IsInvalidArgument(array.status())
                       ? ErrorCode::InvalidArgument
                       : ErrorCode::RunFailed,
                   array.status());
}

bool Run::isReady() const {
  if (!state)
    return true;
  absl::StatusOr<bool> ready = state->client().IsReady(state->run);
  return !ready.ok() || *ready;
}

Result<Array> Run::take(const std::string &result) {
  if (!state)
    return makeEmptyError("run");
  return makeArray(state->session, state->client().Keep(state->run, result),
                   ErrorCode::RunFailed);
}
