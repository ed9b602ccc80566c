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
// Session, Executable, Run
//===----------------------------------------------------------------------===//

// Each level keeps the one above alive: a run its executable, an executable its
// session. Destroying the last handle releases what it stands for.
struct Session::State {
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<Client> client; // goes first
};

struct Executable::State {
  State(std::shared_ptr<Session::State> session, Plan plan,
        ProgramHandle program)
      : session(std::move(session)), plan(std::move(plan)), program(program) {}
  State(const State &) = delete;

  std::shared_ptr<Session::State> session;
  Plan plan;
  ProgramHandle program;

  ~State() {
    // All runs have ended: each held a reference to this, and waited.
    (void)session->client->Unload(program);
  }
};

struct Run::State {
  State(std::shared_ptr<Executable::State> executable, RunHandle run)
      : executable(std::move(executable)), run(run) {}
  State(const State &) = delete;

  std::shared_ptr<Executable::State> executable;
  RunHandle run;

  Client &client() { return *executable->session->client; }

  ~State() {
    (void)client().Await(run);
    (void)client().ReleaseRun(run);
  }
};

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
  auto client = (*created)->Connect("session");
  if (!client.ok())
    return makeError(client.status());
  auto state = std::make_shared<State>();
  state->cluster = *std::move(created);
  state->client = *std::move(client);
  return Session(std::move(state));
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

Result<Run>
Executable::launch(const std::map<std::string, HostArray> &arguments,
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
    values.emplace_back(it->second);
    ++used;
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
  if (!run.ok())
    return makeError(run.status());
  return Run(std::make_shared<Run::State>(state, *run));
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
