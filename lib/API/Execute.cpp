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

#include "PlanState.h"
#include "runtime/client/cluster.h"
#include "runtime/topology/topology.h"

using namespace pathways;

static Error makeError(ErrorCode code, const absl::Status &status) {
  return Error{code, toString(status.message())};
}

/// The errors of loading and launching.
static Error makeError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
    return makeError(ErrorCode::InvalidArgument, status);
  case absl::StatusCode::kNotFound:
    return makeError(ErrorCode::NotFound, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::AlreadyExists, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::Internal, status);
  default:
    return makeError(ErrorCode::Refused, status);
  }
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

Result<Plan> Plan::read(const std::string &path) {
  absl::StatusOr<PlanData> data = ReadPlanFile(path);
  if (!data.ok())
    return makeError(data.status());
  return makePlan(*std::move(data));
}

Result<Plan> Plan::parse(std::string_view bytes) {
  absl::StatusOr<PlanData> data =
      ParsePlan(absl::string_view(bytes.data(), bytes.size()));
  if (!data.ok())
    return makeError(data.status());
  return makePlan(*std::move(data));
}

const std::string &Plan::bytes() const { return state->bytes; }

Status Plan::write(const std::string &path) const {
  absl::Status status =
      WritePlanFile(path, state->data.tables, state->data.blobs);
  if (!status.ok())
    return makeError(ErrorCode::Unwritable, status);
  return {};
}

//===----------------------------------------------------------------------===//
// What handles stand for
//===----------------------------------------------------------------------===//

// Runs, executables and arrays keep their session alive, and nothing else of
// each other. To destroy the last handle releases by a message what it stands
// for, and waits for nothing.
struct Session::State {
  std::shared_ptr<Cluster> cluster;
  std::unique_ptr<Client> client; // goes first
};

struct Executable::State {
  State(std::shared_ptr<Session::State> session, Plan plan,
        ProgramHandle program)
      : session(std::move(session)), plan(std::move(plan)), program(program) {}
  State(const State &) = delete;
  ~State() { (void)session->client->Discard(program); }

  std::shared_ptr<Session::State> session;
  Plan plan;
  ProgramHandle program;
};

struct Run::State {
  State(std::shared_ptr<Session::State> session, RunHandle run)
      : session(std::move(session)), run(run) {}
  State(const State &) = delete;
  ~State() { (void)client().ReleaseRun(run); }

  std::shared_ptr<Session::State> session;
  RunHandle run;

  Client &client() { return *session->client; }
};

struct Array::State {
  State(std::shared_ptr<Session::State> session, ArrayHandle array,
        ArrayType type)
      : session(std::move(session)), array(array), type(std::move(type)) {}
  State(const State &) = delete;
  ~State() { (void)client().Release(array); }

  std::shared_ptr<Session::State> session;
  ArrayHandle array;
  ArrayType type;

  Client &client() { return *session->client; }
};

static Result<Array> makeArray(std::shared_ptr<Session::State> session,
                               const absl::StatusOr<ArrayHandle> &array,
                               ErrorCode otherwise) {
  absl::StatusOr<ArrayType> type = ArrayType();
  if (array.ok())
    type = session->client->TypeOf(*array);
  const absl::Status status = array.ok() ? type.status() : array.status();
  if (status.ok())
    return Array(std::make_shared<Array::State>(std::move(session), *array,
                                                *std::move(type)));
  return makeError(absl::IsInvalidArgument(status) ? ErrorCode::InvalidArgument
                                                   : otherwise,
                   status);
}

/// The errors of a use of an array. NotFound: it was released.
static Error makeArrayError(const absl::Status &status) {
  const bool isMisused =
      absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return makeError(
      isMisused ? ErrorCode::InvalidArgument : ErrorCode::RunFailed, status);
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

static Error makeEmptyError(const char *what) {
  return Error{ErrorCode::InvalidArgument,
               std::string("the ") + what + " is empty"};
}

ElementType Array::getElement() const {
  return state ? state->type.element : ElementType::kInvalid;
}

const std::vector<int64_t> &Array::getShape() const {
  static const std::vector<int64_t> *const none = new std::vector<int64_t>;
  return state ? state->type.shape : *none;
}

bool Array::isReady() const {
  if (!state)
    return true;
  absl::StatusOr<bool> ready = state->client().IsReady(state->array);
  return !ready.ok() || *ready;
}

Status Array::await() const {
  if (!state)
    return makeEmptyError("array");
  absl::Status status = state->client().AwaitArray(state->array);
  if (!status.ok())
    return makeArrayError(status);
  return {};
}

Result<HostArray> Array::get() const {
  if (!state)
    return makeEmptyError("array");
  absl::StatusOr<HostArray> array = state->client().Get(state->array);
  if (!array.ok())
    return makeArrayError(array.status());
  return *std::move(array);
}

void Array::release() {
  if (state)
    (void)state->client().Release(state->array);
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

/// A client of that name.
static Result<Session> makeSession(std::shared_ptr<Cluster> cluster,
                                   const std::string &name) {
  auto client = cluster->Connect(name);
  if (!client.ok())
    return makeError(client.status());
  auto state = std::make_shared<Session::State>();
  state->cluster = std::move(cluster);
  state->client = *std::move(client);
  return Session(std::move(state));
}

Result<Session> Session::open(const SessionOptions &options) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(options.topology);
  if (!cluster.ok())
    return makeError(cluster.status());
  ClusterOptions clusterOptions;
  clusterOptions.world =
      options.simulate ? ClusterOptions::kSim : ClusterOptions::kThreads;
  clusterOptions.seed = options.seed;
  clusterOptions.workers = options.workers;
  clusterOptions.bind_workers = options.bindWorkers;
  clusterOptions.stall_timeout_ns = options.stallTimeoutNs;
  clusterOptions.kernel_timeout_ns = options.kernelTimeoutNs;
  clusterOptions.link_costs = options.linkCosts;
  if (options.onWarning)
    clusterOptions.on_long_work =
        [warn = options.onWarning](const LongWork &work) { warn(work.Text()); };
  clusterOptions.dispatch = options.sequentialDispatch
                                ? ClusterOptions::kSequential
                                : ClusterOptions::kParallel;
  clusterOptions.host_work_ns = options.hostWorkNs;
  clusterOptions.trace_events = options.traceEvents;
  auto created = Cluster::Create(*cluster, clusterOptions);
  if (!created.ok())
    return makeError(created.status());
  return makeSession(*std::move(created), options.name);
}

Result<Session> Session::connect(const std::string &name) {
  return makeSession(state->cluster, name);
}

Result<Array> Session::put(HostArray array) {
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::Refused);
}

Result<Array> Session::put(BorrowedArray array) {
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::Refused);
}

Result<Executable> Session::load(const Plan &plan) {
  absl::StatusOr<ProgramHandle> program =
      state->client->Load(plan.getState().data);
  if (!program.ok())
    return makeError(program.status());
  return Executable(std::make_shared<Executable::State>(state, plan, *program));
}

Status Session::writeTrace(std::ostream &out) {
  absl::Status status = state->client->WriteTrace(&out);
  if (!status.ok())
    return makeError(ErrorCode::InvalidArgument, status);
  if (!out.flush())
    return Error{ErrorCode::Unwritable, "cannot write the trace"};
  return {};
}

//===----------------------------------------------------------------------===//
// Executable, Run
//===----------------------------------------------------------------------===//

Result<Run> Executable::launch(const std::map<std::string, Argument> &arguments,
                               int64_t steps) {
  const proto::Interface &interface =
      state->plan.getState().data.tables.interface();
  std::vector<LaunchArgument> values;
  size_t used = 0;
  for (const proto::Argument &argument : interface.arguments()) {
    auto it = arguments.find(argument.name());
    if (it == arguments.end())
      return Error{ErrorCode::InvalidArgument,
                   "argument '" + argument.name() + "' is missing"};
    ++used;
    if (const auto *value = std::get_if<HostArray>(&it->second)) {
      values.emplace_back(*value);
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
  absl::StatusOr<RunHandle> run =
      state->session->client->Launch(state->program, std::move(values), steps);
  if (absl::IsNotFound(run.status())) // an array that was released
    return makeError(ErrorCode::InvalidArgument, run.status());
  if (!run.ok())
    return makeError(run.status());
  return Run(std::make_shared<Run::State>(state->session, *run));
}

Status Run::await() {
  absl::Status status = state->client().Await(state->run);
  if (!status.ok())
    return makeError(ErrorCode::RunFailed, status);
  return {};
}

Result<HostArray> Run::fetch(const std::string &result) {
  absl::StatusOr<HostArray> array = state->client().Fetch(state->run, result);
  if (!array.ok())
    return makeError(absl::IsInvalidArgument(array.status())
                         ? ErrorCode::InvalidArgument
                         : ErrorCode::RunFailed,
                     array.status());
  return *std::move(array);
}

bool Run::isReady() const {
  absl::StatusOr<bool> ready = state->client().IsReady(state->run);
  return !ready.ok() || *ready;
}

Result<Array> Run::take(const std::string &result) {
  return makeArray(state->session, state->client().Keep(state->run, result),
                   ErrorCode::RunFailed);
}
