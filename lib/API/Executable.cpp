//===- Executable.cpp - Loaded programs and their runs --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Executable.h"

#include "EventQueueState.h"
#include "Handles.h"
#include "PlanState.h"
#include "Shardings.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/resources/admission.h"

using namespace pathways;

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
    if (argument.has_constant())
      continue;
    auto it = arguments.find(argument.name());
    if (it == arguments.end())
      return Error{ErrorCode::kInvalidArgument,
                   "argument '" + argument.name() + "' is missing" +
                       Tag(ErrorId::kInputMissing)};
    ++used;
    if (const auto *value = std::get_if<HostArray>(&it->second)) {
      if (!HasMemoryFor([&] { values.emplace_back(*value); }))
        return Error{ErrorCode::kRefused,
                     "argument '" + argument.name() +
                         "': " + NoMemoryText(value->element, value->shape)};
      continue;
    }
    const Array::State *array = std::get<Array>(it->second).getState();
    if (!array)
      return Error{ErrorCode::kInvalidArgument,
                   "the array of argument '" + argument.name() + "' is empty"};
    values.emplace_back(array->array);
  }
  if (used != arguments.size()) {
    for (const auto &[name, value] : arguments) {
      bool known = false;
      for (const proto::Argument &argument : interface.arguments())
        known |= argument.name() == name && !argument.has_constant();
      if (!known)
        return Error{ErrorCode::kInvalidArgument,
                     "the program has no argument '" + name + "'"};
    }
  }
  return values;
}

/// Launches with the values in the order of the program's arguments.
static Result<Run> makeRun(Executable::State &state, LaunchArguments values,
                           int64_t steps, const LaunchOptions &options) {
  if (values.size() != state.constants.num_arguments())
    return Error{
        ErrorCode::kInvalidArgument,
        "program '" + state.plan.getState()->data.tables.header().program() +
            "' takes " + std::to_string(state.constants.num_arguments()) +
            " arguments, got " + std::to_string(values.size())};
  absl::StatusOr<RunHandle> run = state.session->client->Launch(
      state.program, state.constants.Complete(std::move(values)), steps,
      options);
  if (absl::IsNotFound(run.status())) // the array was released
    return makeError(ErrorCode::kInvalidArgument, run.status());
  if (!run.ok())
    return makeError(run.status());
  return Run(std::make_shared<Run::State>(state.session, *run));
}

Result<Run> Executable::launch(const std::map<std::string, Argument> &arguments,
                               int64_t steps, const LaunchOptions &options) {
  if (!state)
    return makeEmptyError("executable");
  Result<LaunchArguments> values = makeArguments(state->plan, arguments);
  if (!values)
    return values.error();
  return makeRun(*state, *std::move(values), steps, options);
}

Result<Run> Executable::launchPositional(std::vector<Argument> arguments,
                                         int64_t steps,
                                         const LaunchOptions &options) {
  if (!state)
    return makeEmptyError("executable");
  LaunchArguments values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (auto *value = std::get_if<HostArray>(&arguments[i])) {
      values.emplace_back(std::move(*value));
      continue;
    }
    const Array::State *array = std::get<Array>(arguments[i]).getState();
    if (!array)
      return Error{ErrorCode::kInvalidArgument,
                   "the array of argument " + std::to_string(i) + " is empty"};
    values.emplace_back(array->array);
  }
  return makeRun(*state, std::move(values), steps, options);
}

/// Makes errors of runToEnd: those of launches, devices and folders.
static Error makeRunError(const absl::Status &status) {
  if (IsOfSteps(status))
    return makeError(ErrorCode::kRunFailed, status);
  switch (status.code()) {
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kDeadlineExceeded:
  case absl::StatusCode::kCancelled:
  case absl::StatusCode::kFailedPrecondition:
    return makeError(ErrorCode::kRunFailed, status);
  case absl::StatusCode::kPermissionDenied:
    return makeError(ErrorCode::kUnwritable, status);
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
      state->program, state->constants.Complete(*std::move(values)), steps,
      recovery, options);
  if (!results.ok())
    return makeRunError(results.status());
  FinishedRun finished;
  finished.report = results->report;
  const proto::Interface &interface =
      state->plan.getState()->data.tables.interface();
  for (size_t i = 0; i < results->arrays.size(); ++i) {
    Result<Array> array =
        makeArray(state->session, results->arrays[i], ErrorCode::kRunFailed);
    if (!array)
      return array.error();
    finished.results[interface.results(static_cast<int>(i)).name()] = *array;
  }
  return finished;
}

//===----------------------------------------------------------------------===//
// Facts of an executable
//===----------------------------------------------------------------------===//

const std::string &Executable::name() const {
  static const std::string *const none = new std::string;
  return state ? state->plan.getState()->data.tables.header().program() : *none;
}

/// Returns what `describe` makes of the plan, bound to the devices that the
/// program is on now.
template <typename Facts, typename Describe>
static Result<Facts> describePlan(Executable::State *state, Describe describe) {
  if (!state)
    return makeEmptyError("executable");
  auto plan = state->session->client->PlanOf(state->program);
  if (!plan.ok())
    return makeError(ErrorCode::kInvalidArgument, plan.status());
  return describe(**plan, state->session->cluster->topology());
}

/// Describes an argument or a result that is placed so.
static PortInfo makePort(const std::string &name, bool stepped,
                         const ArrayPlacement &placement,
                         const Topology &topology) {
  return {.name = name,
          .element = static_cast<ElementType>(placement.element),
          .shape = placement.layout.shape,
          .stepped = stepped,
          .carried_from = {},
          .sharding = toSharding(placement, topology)};
}

Result<std::vector<PortInfo>> Executable::arguments() const {
  return describePlan<std::vector<PortInfo>>(
      state.get(), [this](const PreparedPlan &plan, const Topology &topology) {
        // Only the plan of the caller says which arguments are constants.
        const proto::Interface &interface =
            state->plan.getState()->data.tables.interface();
        std::vector<PortInfo> ports;
        for (int i = 0; i < interface.arguments_size(); ++i) {
          const proto::Argument &argument = interface.arguments(i);
          if (argument.has_constant())
            continue;
          ports.push_back(makePort(argument.name(), argument.stepped(),
                                   *plan.argument_placement(i), topology));
          if (argument.carried())
            ports.back().carried_from =
                interface.results(static_cast<int>(argument.from())).name();
        }
        return ports;
      });
}

Result<std::vector<PortInfo>> Executable::results() const {
  return describePlan<std::vector<PortInfo>>(
      state.get(), [](const PreparedPlan &plan, const Topology &topology) {
        const proto::Interface &interface = plan.plan().interface();
        std::vector<PortInfo> ports;
        for (int i = 0; i < interface.results_size(); ++i)
          ports.push_back(makePort(interface.results(i).name(),
                                   interface.results(i).stepped(),
                                   *plan.result_placement(i), topology));
        return ports;
      });
}

Result<std::vector<DeviceMemory>> Executable::memory() const {
  return describePlan<std::vector<DeviceMemory>>(
      state.get(), [](const PreparedPlan &plan, const Topology &topology) {
        std::vector<DeviceMemory> memory;
        for (const auto &[device, bytes] : Admission::NeedOf(plan))
          memory.push_back({topology.GlobalDeviceName(device), bytes});
        return memory;
      });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status Run::await() {
  if (!state)
    return makeEmptyError("run");
  absl::Status status = state->client().Await(state->run);
  if (!status.ok())
    return makeError(ErrorCode::kRunFailed, status);
  return {};
}

Result<bool> Run::awaitFor(int64_t limitNs) {
  if (!state)
    return makeEmptyError("run");
  absl::StatusOr<bool> ended = state->client().AwaitFor(state->run, limitNs);
  if (!ended.ok())
    return makeError(ErrorCode::kRunFailed, ended.status());
  return *ended;
}

Status Run::cancel() {
  if (!state)
    return makeEmptyError("run");
  absl::Status status = state->client().Cancel(state->run);
  if (!status.ok())
    return makeError(ErrorCode::kInvalidArgument, status);
  return {};
}

/// Fetches a result by name or by index. `what` names it in messages.
template <typename Name>
static Result<HostArray> fetchResult(Run::State *state, const Name &result,
                                     const std::string &what) {
  if (!state)
    return makeEmptyError("run");
  Client &client = state->client();
  absl::StatusOr<HostArray> array = client.Fetch(state->run, result);
  if (array.ok())
    return *std::move(array);
  if (lacksMemory(client.Await(state->run), array.status()))
    return Error{ErrorCode::kRefused,
                 what + " of " + toString(array.status().message())};
  return makeError(absl::IsInvalidArgument(array.status())
                       ? ErrorCode::kInvalidArgument
                       : ErrorCode::kRunFailed,
                   array.status());
}

Result<HostArray> Run::fetch(const std::string &result) {
  return fetchResult(state.get(), result, "result '" + result + "'");
}

Result<HostArray> Run::fetch(int64_t result) {
  return fetchResult(state.get(), result, "result " + std::to_string(result));
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
                   ErrorCode::kRunFailed);
}

Result<Array> Run::take(int64_t result) {
  if (!state)
    return makeEmptyError("run");
  return makeArray(state->session, state->client().Keep(state->run, result),
                   ErrorCode::kRunFailed);
}

Status Run::notify(const EventQueue &queue, uint64_t tag) {
  if (!state)
    return makeEmptyError("run");
  if (!queue.getState())
    return makeEmptyError("event queue");
  std::shared_ptr<EventQueue::State> events = queue.getState();
  const uint64_t number = events->expect(state->session);
  absl::Status status = state->client().NotifyEnd(
      state->run, [events, number, tag](const absl::Status &end) {
        events->add(
            number,
            {tag, end.ok() ? Status() : makeError(ErrorCode::kRunFailed, end)});
      });
  if (status.ok())
    return {};
  events->forget(number);
  return makeError(ErrorCode::kInvalidArgument, status);
}
