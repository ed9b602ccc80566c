//===- Session.cpp - A client of a cluster --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/memory.h"
#include "runtime/node/local_workers.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/topology.h"

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
