//===- Session.cpp - A client of a cluster --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "PlanState.h"
#include "Shardings.h"
#include "runtime/base/memory.h"
#include "runtime/node/local_workers.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/topology.h"

#include "absl/container/flat_hash_map.h"

using namespace pathways;

/// Makes a session with a client of that name.
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
  clusterOptions.on_long_work = toListener(options.on_warning);
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
  connect.links.trust_loopback = options.trust_loopback;
  connect.links.chaos = options.chaos;
  connect.on_long_work = toListener(options.on_warning);
  auto cluster = ConnectCluster(connect);
  if (absl::IsPermissionDenied(cluster.status()))
    return makeError(ErrorCode::kInvalidArgument, cluster.status());
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

/// Returns the counts of all processes. Errors: RunFailed.
static Result<ClusterStats> readStats(Client &client) {
  absl::StatusOr<ClusterStats> stats = client.Stats();
  if (!stats.ok())
    return makeError(ErrorCode::kRunFailed, stats.status());
  return *std::move(stats);
}

Result<std::vector<DeviceInfo>> Session::devices() {
  if (!state)
    return makeEmptyError("session");
  const absl::StatusOr<std::vector<bool>> away = state->client->AwayDevices();
  if (!away.ok())
    return makeError(ErrorCode::kRunFailed, away.status());
  const Result<ClusterStats> stats = readStats(*state->client);
  if (!stats)
    return stats.error();
  absl::flat_hash_map<std::string, const ClusterStats::Device *> counts;
  for (const ClusterStats::Device &device : stats->devices)
    counts[device.name] = &device;
  const Topology &topology = state->cluster->topology();
  std::vector<DeviceInfo> devices;
  for (int64_t global = 0; global < topology.num_devices(); ++global) {
    const proto::Device &device = topology.global_device(global);
    const Topology::Place place = topology.LocateGlobal(global);
    DeviceInfo info;
    info.name = topology.GlobalDeviceName(global);
    info.kind = DeviceKind(device);
    info.cpu = device.target().cpu();
    info.island = topology.island_of_host(place.host);
    info.host = place.host;
    info.index = place.device;
    info.memory_bytes = DeviceMemoryBytes(device);
    // A host that is gone has no counts.
    if (const auto found = counts.find(info.name); found != counts.end()) {
      info.used_bytes = found->second->used_bytes;
      info.peak_bytes = found->second->peak_bytes;
    }
    info.is_available = !(*away)[global];
    devices.push_back(std::move(info));
  }
  return devices;
}

Result<std::vector<HostInfo>> Session::hosts() {
  if (!state)
    return makeEmptyError("session");
  const Result<ClusterStats> stats = readStats(*state->client);
  if (!stats)
    return stats.error();
  absl::flat_hash_map<std::string, const ClusterStats::Host *> counts;
  for (const ClusterStats::Host &host : stats->hosts)
    counts[host.name] = &host;
  const Topology &topology = state->cluster->topology();
  std::vector<HostInfo> hosts;
  for (int host = 0; host < topology.num_hosts(); ++host) {
    HostInfo info;
    info.name = topology.HostName(host);
    info.memory_bytes = HostMemoryBytes(topology.host(host));
    if (const auto found = counts.find(info.name); found != counts.end()) {
      info.used_bytes = found->second->memory_used_bytes;
      info.array_bytes = found->second->object_bytes;
    }
    hosts.push_back(std::move(info));
  }
  return hosts;
}

Result<Array> Session::put(HostArray array) {
  if (!state)
    return makeEmptyError("session");
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::kRefused);
}

Result<Array> Session::put(BorrowedArray array) {
  if (!state) {
    if (array.done)
      array.done();
    return makeEmptyError("session");
  }
  return makeArray(state, state->client->Put(std::move(array)),
                   ErrorCode::kRefused);
}

/// Returns the result of the program that puts an array in a sharding, which
/// `launch` launches.
template <typename Launch>
static Result<Array> placeArray(std::shared_ptr<Session::State> state,
                                PlanData plan, Launch launch) {
  Client &client = *state->client;
  const absl::StatusOr<ProgramHandle> program = client.Load(std::move(plan));
  if (!program.ok())
    return makeError(program.status());
  const absl::StatusOr<RunHandle> run = launch(client, *program);
  (void)client.Discard(*program);
  if (!run.ok())
    return makeError(run.status());
  const absl::StatusOr<ArrayHandle> array = client.Keep(*run, 0);
  (void)client.ReleaseRun(*run);
  return makeArray(std::move(state), array, ErrorCode::kRefused);
}

Result<Array> Session::put(HostArray array, const Sharding &sharding) {
  if (!state)
    return makeEmptyError("session");
  absl::StatusOr<PlanData> plan = makePlacePlan(
      array.element, array.shape, sharding, state->cluster->topology());
  if (!plan.ok())
    return makeError(plan.status());
  return placeArray(state, *std::move(plan),
                    [&](Client &client, ProgramHandle program) {
                      LaunchArguments arguments;
                      arguments.emplace_back(std::move(array));
                      return client.Launch(program, std::move(arguments));
                    });
}

Result<Array> Session::putShards(const std::vector<int64_t> &shape,
                                 const std::vector<HostArray> &shards,
                                 const Sharding &sharding) {
  if (!state)
    return makeEmptyError("session");
  if (shards.empty())
    return Error{ErrorCode::kInvalidArgument,
                 "there are 0 shards, expected one for each device"};
  absl::StatusOr<PlanData> plan = makePlacePlan(
      shards.front().element, shape, sharding, state->cluster->topology());
  if (!plan.ok())
    return makeError(plan.status());
  absl::StatusOr<HostArray> whole = joinShards(shape, shards, sharding);
  if (!whole.ok())
    return makeError(whole.status());
  auto launch = [&](Client &client,
                    ProgramHandle program) -> absl::StatusOr<RunHandle> {
    const absl::StatusOr<ArrayHandle> values = client.Put(
        *std::move(whole),
        layout::ContributionsOf(toLayout(shape, sharding), toMesh(sharding)));
    if (!values.ok())
      return values.status();
    LaunchArguments arguments;
    arguments.emplace_back(*values);
    absl::StatusOr<RunHandle> run =
        client.Launch(program, std::move(arguments));
    (void)client.Release(*values);
    return run;
  };
  return placeArray(state, *std::move(plan), launch);
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
  return makeArray(state, array, ErrorCode::kRefused);
}

Result<std::vector<std::string>>
Session::savedNames(const std::string &folder) {
  auto names = Client::SavedNames(folder);
  if (!names.ok())
    return makeLoadError(names.status());
  return *std::move(names);
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
    Result<Array> array = makeArray(state, handle, ErrorCode::kRefused);
    if (!array)
      return array.error();
    arrays[name] = *array;
  }
  return arrays;
}

/// Makes the executable of a loaded program, and puts the constants of its
/// plan.
static Result<Executable>
makeExecutable(const std::shared_ptr<Session::State> &session, const Plan &plan,
               ProgramHandle program) {
  auto state = std::make_shared<Executable::State>(session, plan, program);
  absl::StatusOr<ProgramConstants> constants =
      ProgramConstants::Put(session->client.get(), plan.getState()->data);
  if (!constants.ok())
    return makeError(constants.status());
  state->constants = *std::move(constants);
  return Executable(std::move(state));
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
  return makeExecutable(state, plan, *program);
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
    return makeError(ErrorCode::kInvalidArgument, status);
  if (!status.ok())
    return makeError(status);
  return {};
}

Status Session::drain(const std::vector<std::string> &names, int64_t waitNs) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status = state->client->Drain(names, waitNs);
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
  for (size_t i = 0; i != plans.size(); ++i) {
    Result<Executable> made = makeExecutable(state, plans[i], (*programs)[i]);
    if (!made)
      return made.error();
    executables.push_back(*made);
  }
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
  return makeExecutable(state, plan, *program);
}

Status Session::writeTrace(std::ostream &out) {
  if (!state)
    return makeEmptyError("session");
  absl::Status status;
  if (!HasMemoryFor([&] { status = state->client->WriteTrace(&out); }))
    return makeMemoryError("the trace", "its events");
  if (!status.ok())
    return makeError(ErrorCode::kInvalidArgument, status);
  if (!out.flush())
    return Error{ErrorCode::kUnwritable, "cannot write the trace"};
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
    return makeError(ErrorCode::kInvalidArgument, profile.status());
  if (!(out << PrintProfile(*profile)).flush())
    return Error{ErrorCode::kUnwritable, "cannot write the profile"};
  return {};
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
