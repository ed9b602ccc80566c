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
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/client/cluster.h"
#include "runtime/node/local_workers.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/topology.h"

using namespace pathways;

std::string Error::getId() const {
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const absl::string_view tag = TagOf({line.data(), line.size()});
    // " [PW3101]" without what is around it.
    if (!tag.empty())
      return std::string(tag.substr(2, tag.size() - 3));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return "";
}

static Error makeError(ErrorCode code, const absl::Status &status) {
  return Error{code, toString(status.message())};
}

/// `what` needs memory of this process for `part`, and there is none.
static Error makeMemoryError(const std::string &what, const std::string &part) {
  return Error{ErrorCode::Refused, what + ": there is no memory for " + part +
                                       Tag(ErrorId::kNoProcessMemory)};
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

/// The plan that `read` gives; its bytes are in memory then.
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

struct Slice::State {
  State(std::shared_ptr<Session::State> session, SliceHandle slice,
        std::vector<std::string> devices)
      : session(std::move(session)), slice(slice), devices(std::move(devices)) {
  }
  State(const State &) = delete;
  ~State() { (void)session->client->ReleaseSlice(slice); }

  std::shared_ptr<Session::State> session;
  SliceHandle slice;
  std::vector<std::string> devices;
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

/// Whether values are good, and this process has no memory for a copy: `cause`
/// is what waiting for them returns, `status` why they were not got. (A host
/// that has no memory is a cause.)
static bool lacksMemory(const absl::Status &cause, const absl::Status &status) {
  return cause.ok() && absl::IsResourceExhausted(status);
}

/// The errors of writing folders.
static Error makeSaveError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kFailedPrecondition:
    return makeError(ErrorCode::InvalidArgument, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::AlreadyExists, status);
  case absl::StatusCode::kCancelled:
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kDeadlineExceeded:
    return makeError(ErrorCode::RunFailed, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::Internal, status);
  default:
    return makeError(ErrorCode::Unwritable, status);
  }
}

/// The errors of reading them.
static Error makeLoadError(const absl::Status &status) {
  if (absl::IsDataLoss(status))
    return makeError(ErrorCode::Damaged, status);
  if (absl::IsPermissionDenied(status))
    return makeError(ErrorCode::InvalidArgument, status);
  return makeError(status);
}

/// The errors of a run to its end: of launches, devices and folders.
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

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

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
  Client &client = state->client();
  absl::StatusOr<HostArray> array = client.Get(state->array);
  if (array.ok())
    return *std::move(array);
  if (lacksMemory(client.AwaitArray(state->array), array.status()))
    return makeError(ErrorCode::Refused, array.status());
  return makeArrayError(array.status());
}

Status Array::save(const std::string &folder) const {
  if (!state)
    return makeEmptyError("array");
  absl::Status status = state->client().AwaitArray(state->array);
  if (!status.ok())
    return makeArrayError(status);
  status = state->client().Save(state->array, folder);
  if (!status.ok())
    return makeSaveError(status);
  return {};
}

void Array::release() {
  if (state)
    (void)state->client().Release(state->array);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

const std::vector<std::string> &Slice::devices() const {
  static const std::vector<std::string> *const none =
      new std::vector<std::string>;
  return state ? state->devices : *none;
}

void Slice::release() {
  if (state)
    (void)state->session->client->ReleaseSlice(state->slice);
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

/// A client of that name.
static Result<Session> makeSession(std::shared_ptr<Cluster> cluster,
                                   const std::string &name,
                                   const ClientOptions &options) {
  auto client = cluster->Connect(name, options);
  if (!client.ok())
    return makeError(client.status());
  auto state = std::make_shared<Session::State>();
  state->cluster = std::move(cluster);
  state->client = *std::move(client);
  return Session(std::move(state));
}

static std::function<void(const LongWork &)>
toListener(const std::function<void(const std::string &)> &warn) {
  if (!warn)
    return {};
  return [warn](const LongWork &work) { warn(work.Text()); };
}

Result<Session> Session::open(const SessionOptions &options) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(options.topology);
  if (!cluster.ok())
    return makeError(cluster.status());
  ClusterOptions clusterOptions;
  static_cast<RunOptions &>(clusterOptions) = options.run;
  clusterOptions.on_long_work = toListener(options.onWarning);
  auto created = OpenCluster(*cluster, clusterOptions);
  if (!created.ok())
    return makeError(created.status());
  return makeSession(*std::move(created), options.name, options.client);
}

Result<Session> Session::connect(const std::string &address,
                                 const RemoteOptions &options) {
  ConnectOptions connect;
  connect.address = address;
  connect.links.key_file = options.key;
  connect.links.trust_loopback = options.trustLoopback;
  connect.links.chaos = options.chaos;
  connect.on_long_work = toListener(options.onWarning);
  auto cluster = ConnectCluster(connect);
  if (absl::IsPermissionDenied(cluster.status()))
    return makeError(ErrorCode::InvalidArgument, cluster.status());
  if (!cluster.ok())
    return makeError(cluster.status());
  std::string name = options.name;
  if (name.empty())
    name = "session of process " + std::to_string((*cluster)->process());
  return makeSession(*std::move(cluster), name, options.client);
}

Result<Session> Session::another(const std::string &name,
                                 const ClientOptions &options) {
  if (!state)
    return makeEmptyError("session");
  return makeSession(state->cluster, name, options);
}

std::string Session::topology() const {
  return state ? TopologySpec(state->cluster->topology().cluster()) : "";
}

Result<Array> Session::put(HostArray array) {
  if (!state)
    return makeEmptyError("session");
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::Refused);
}

Result<Array> Session::put(BorrowedArray array) {
  if (!state) {
    if (array.done)
      array.done();
    return makeEmptyError("session");
  }
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::Refused);
}

Status Session::save(const std::map<std::string, Array> &arrays,
                     const std::string &folder) {
  if (!state)
    return makeEmptyError("session");
  std::map<std::string, ArrayHandle> handles;
  for (const auto &[name, array] : arrays) {
    if (!array.getState())
      return makeEmptyError("array");
    handles[name] = array.getState()->array;
    absl::Status status = state->client->AwaitArray(handles[name]);
    if (!status.ok())
      return makeArrayError(status);
  }
  absl::Status status = state->client->Save(handles, folder);
  if (!status.ok())
    return makeSaveError(status);
  return {};
}

Result<Array> Session::loadArray(const std::string &folder) {
  if (!state)
    return makeEmptyError("session");
  absl::StatusOr<ArrayHandle> array = state->client->LoadArray(folder);
  if (!array.ok())
    return makeLoadError(array.status());
  return makeArray(state, array, ErrorCode::Refused);
}

Result<std::map<std::string, Array>>
Session::loadArrays(const std::string &folder) {
  if (!state)
    return makeEmptyError("session");
  auto handles = state->client->LoadArrays(folder);
  if (!handles.ok())
    return makeLoadError(handles.status());
  std::map<std::string, Array> arrays;
  for (const auto &[name, handle] : *handles) {
    Result<Array> array = makeArray(state, handle, ErrorCode::Refused);
    if (!array)
      return array.error();
    arrays[name] = *array;
  }
  return arrays;
}

Result<Executable> Session::load(const Plan &plan, const LoadOptions &options) {
  if (!state)
    return makeEmptyError("session");
  if (!plan.getState())
    return makeEmptyError("plan");
  const PlanData &data = plan.getState()->data;
  absl::StatusOr<ProgramHandle> program = ProgramHandle();
  if (!HasMemoryFor([&] { program = state->client->Load(data, options); }))
    return makeMemoryError("program '" + data.tables.header().program() + "'",
                           "its tables");
  if (!program.ok())
    return makeError(program.status());
  return Executable(std::make_shared<Executable::State>(state, plan, *program));
}

Status Session::suspend(const std::string &folder) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status = state->client->Suspend(folder);
  if (absl::IsResourceExhausted(status) && folder.empty())
    return makeError(status);
  if (!status.ok())
    return makeSaveError(status);
  return {};
}

Status Session::resume(const RebindOptions &options) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status = state->client->Resume(options);
  if (absl::IsFailedPrecondition(status))
    return makeError(ErrorCode::InvalidArgument, status);
  if (!status.ok())
    return makeError(status);
  return {};
}

Status Session::drain(const std::vector<std::string> &names, int64_t wait_ns) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status = state->client->Drain(names, wait_ns);
  if (!status.ok())
    return makeError(status);
  return {};
}

Status Session::undrain(const std::vector<std::string> &names) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status = state->client->Undrain(names);
  if (!status.ok())
    return makeError(status);
  return {};
}

Result<std::vector<Executable>> Session::load(const std::vector<Plan> &plans,
                                              const LoadOptions &options) {
  if (!state)
    return makeEmptyError("session");
  std::vector<PlanData> data;
  absl::StatusOr<std::vector<ProgramHandle>> programs =
      std::vector<ProgramHandle>();
  for (const Plan &plan : plans)
    if (!plan.getState())
      return makeEmptyError("plan");
  if (!HasMemoryFor([&] {
        for (const Plan &plan : plans)
          data.push_back(plan.getState()->data);
        programs = state->client->Load(std::move(data), options);
      }))
    return makeMemoryError(std::to_string(plans.size()) + " programs",
                           "their tables");
  if (!programs.ok())
    return makeError(programs.status());
  std::vector<Executable> executables;
  for (size_t i = 0; i != plans.size(); ++i)
    executables.emplace_back(
        std::make_shared<Executable::State>(state, plans[i], (*programs)[i]));
  return executables;
}

Result<Slice> Session::reserve(const SliceOptions &options,
                               const std::vector<Slice> &apartFrom) {
  if (!state)
    return makeEmptyError("session");
  std::vector<SliceHandle> others;
  for (const Slice &other : apartFrom) {
    if (!other.getState())
      return makeEmptyError("slice");
    others.push_back(other.getState()->slice);
  }
  absl::StatusOr<SliceHandle> slice =
      state->client->ReserveSlice(options, others);
  if (!slice.ok())
    return makeError(slice.status());
  absl::StatusOr<std::vector<std::string>> devices =
      state->client->DevicesOf(*slice);
  if (!devices.ok())
    return makeError(devices.status());
  return Slice(
      std::make_shared<Slice::State>(state, *slice, *std::move(devices)));
}

Result<Executable> Session::load(const Plan &plan, const Slice &slice,
                                 const LoadOptions &options) {
  if (!state)
    return makeEmptyError("session");
  if (!plan.getState())
    return makeEmptyError("plan");
  if (!slice.getState())
    return makeEmptyError("slice");
  const PlanData &data = plan.getState()->data;
  absl::StatusOr<ProgramHandle> program = ProgramHandle();
  if (!HasMemoryFor([&] {
        program = state->client->Load(data, slice.getState()->slice, options);
      }))
    return makeMemoryError("program '" + data.tables.header().program() + "'",
                           "its tables");
  if (!program.ok())
    return makeError(program.status());
  return Executable(std::make_shared<Executable::State>(state, plan, *program));
}

Status Session::writeTrace(std::ostream &out) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status;
  if (!HasMemoryFor([&] { status = state->client->WriteTrace(&out); }))
    return makeMemoryError("the trace", "its events");
  if (!status.ok())
    return makeError(ErrorCode::InvalidArgument, status);
  if (!out.flush())
    return Error{ErrorCode::Unwritable, "cannot write the trace"};
  return {};
}

Status Session::writeProfile(const Plan &plan, std::ostream &out) {
  if (!state)
    return makeEmptyError("session");
  if (!plan.getState())
    return makeEmptyError("plan");
  const proto::Header &header = plan.getState()->data.tables.header();
  absl::StatusOr<proto::Profile> profile = proto::Profile();
  if (!HasMemoryFor([&] { profile = state->client->Measure(header); }))
    return makeMemoryError("the profile", "the trace's events");
  if (!profile.ok())
    return makeError(ErrorCode::InvalidArgument, profile.status());
  if (!(out << PrintProfile(*profile)).flush())
    return Error{ErrorCode::Unwritable, "cannot write the profile"};
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

/// The values that a launch of `plan` takes, in its order.
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
  if (absl::IsNotFound(run.status())) // an array that was released
    return makeError(ErrorCode::InvalidArgument, run.status());
  if (!run.ok())
    return makeError(run.status());
  return Run(std::make_shared<Run::State>(state->session, *run));
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
