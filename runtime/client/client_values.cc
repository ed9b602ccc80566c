//===- client_values.cc - Arrays and results of a client ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <utility>

#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/client/client.h"
#include "runtime/client/combine.h"
#include "runtime/client/traced_call.h"

namespace pathways {
namespace {

// Returns the placement of what one shard holds, as an array that is not
// partial, on the first host that holds the same.
ArrayPlacement PlacementOfShard(const ArrayPlacement& all, int64_t shard) {
  const layout::Box box = layout::ShardBox(all.layout, all.mesh, shard);
  const int64_t contribution =
      layout::ContributionOf(all.layout, all.mesh, shard);
  ArrayPlacement one = all;
  one.layout.partial.clear();
  one.layout.reduction = layout::Reduction::kNone;
  one.hosts.clear();
  for (const ArrayPlacement::Host& host : all.hosts) {
    for (const Part& part : host.parts.parts) {
      if (part.contribution != contribution ||
          layout::ShardBox(all.layout, all.mesh, part.shard) != box) {
        continue;
      }
      one.hosts.push_back({host.host, {{part}, {}, host.parts.step_bytes}});
      one.hosts.back().parts.parts.front().contribution = 0;
      return one;
    }
  }
  return one;
}

absl::Status NoMemoryFor(const std::string& what, const ArrayType& type) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, ": ", NoMemoryText(type.element, type.shape)));
}

}  // namespace

absl::StatusOr<std::shared_ptr<RunState>> Client::FindRun(RunHandle run) {
  absl::Status owned = owner_.Check(run, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  return runs_.Find(run.id);
}

absl::StatusOr<std::shared_ptr<RunState>> Client::AwaitResult(RunHandle handle,
                                                              int64_t result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run;
  absl::Status good = WaitForRun(**run);
  if (good.ok() && !(*run)->completed) good = (*run)->status;
  if (good.ok()) good = (*run)->CheckIndex(result);
  if (good.ok()) good = (*run)->CheckResult(result);
  if (!good.ok()) return good;
  return run;
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle, int64_t index) {
  TracedCall traced(context_, actor_, TraceCall::kFetch, handle.id);
  absl::StatusOr<std::shared_ptr<RunState>> run = AwaitResult(handle, index);
  if (!run.ok()) return run.status();
  const RunState::Result& result = (*run)->results[index];
  return GatherCombined(result.placed, *result.type,
                        absl::StrCat("run ", handle.id));
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle,
                                        const std::string& result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  absl::StatusOr<int64_t> index = (*run)->IndexOf(result);
  if (!index.ok()) return index.status();
  return Fetch(handle, *index);
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle handle, int64_t index) {
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  {
    MutexLock lock(&channel_.mutex());
    absl::StatusOr<std::shared_ptr<RunState>> run = runs_.Find(handle.id);
    if (!run.ok()) return run.status();
    absl::Status good = (*run)->CheckIndex(index);
    if (!good.ok()) return good;
    if ((*run)->results[index].placed.object != 0) {
      const uint64_t kept = arrays_.Keep(*run, index);
      // The run still holds the object, if it did not fail.
      holds_.Hold((*arrays_.Find(kept))->placed.object);
      return owner_.Make<ArrayHandle>(kept);
    }
  }
  absl::StatusOr<HostArray> array = Fetch(handle, index);  // no bytes
  if (!array.ok()) return array.status();
  return Put(*std::move(array));
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle handle,
                                         const std::string& result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  absl::StatusOr<int64_t> index = (*run)->IndexOf(result);
  if (!index.ok()) return index.status();
  return Keep(handle, *index);
}

absl::Status Client::ReleaseRun(RunHandle handle) {
  WorldCall call(context_.runtime->world);
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status released = runs_.Release(handle.id, &objects);
  Unhold(objects);
  return released;
}

absl::StatusOr<ArrayHandle> Client::PutValue(SharedValue value) {
  const ArrayType& type = value->type();
  const absl::StatusOr<uint64_t> bytes = BytesOfArray(type.element, type.shape);
  if (!bytes.ok()) return bytes.status();
  if (*bytes != value->bytes() &&
      (context_.runtime->backends->has_values() || value->bytes() != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of ", shapeString(type.element, type.shape),
                     " has ", value->bytes(), " bytes, expected ", *bytes));
  }
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<uint64_t> id = arrays_.Put(std::move(value));
  if (!id.ok()) return id.status();
  return owner_.Make<ArrayHandle>(*id);
}

absl::StatusOr<ArrayHandle> Client::Put(HostArray array) {
  return PutValue(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayHandle> Client::Put(HostArray array,
                                        layout::Contributions contributions) {
  return PutValue(std::make_shared<const ArrayValue>(std::move(array),
                                                     std::move(contributions)));
}

absl::StatusOr<ArrayHandle> Client::Put(BorrowedArray array) {
  return PutValue(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayHandle> Client::Put(
    std::shared_ptr<const SavedArray> array) {
  return PutValue(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayType> Client::TypeOf(ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return *(*array)->type;
}

absl::StatusOr<bool> Client::IsReady(ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return (*array)->producer == nullptr || (*array)->producer->done.load();
}

absl::StatusOr<bool> Client::IsReady(RunHandle handle) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  return (*run)->done.load();
}

absl::Status Client::AwaitArray(ArrayHandle handle) {
  return AwaitArrayFor(handle, /*limit_ns=*/-1).status();
}

absl::StatusOr<bool> Client::AwaitArrayFor(ArrayHandle handle,
                                           int64_t limit_ns) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  return AwaitArrayFor(handle.id, limit_ns);
}

absl::StatusOr<bool> Client::AwaitArrayFor(uint64_t id, int64_t limit_ns) {
  std::shared_ptr<RunState> producer;
  int64_t result;
  {
    MutexLock lock(&channel_.mutex());
    absl::StatusOr<ArrayState*> array = arrays_.Find(id);
    if (!array.ok()) return array.status();
    producer = (*array)->producer;
    result = (*array)->result;
  }
  if (producer == nullptr) return true;
  absl::StatusOr<bool> ended = WaitForRun(*producer, limit_ns);
  if (!ended.ok() || !*ended) return ended;
  absl::Status good = producer->CheckResult(result);
  if (!good.ok()) return good;
  return true;
}

absl::StatusOr<Client::ArrayLocation> Client::Locate(ArrayHandle handle) {
  absl::Status good = owner_.Check(handle, "array");
  if (good.ok()) good = AwaitArray(handle.id);
  if (!good.ok()) return good;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return ArrayLocation{(*array)->type, (*array)->dense, (*array)->placed};
}

absl::StatusOr<HostArray> Client::Get(ArrayHandle handle) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  const std::string what = absl::StrCat("array ", handle.id);
  if (array->dense != nullptr) return Combined(*array->dense, what);
  return GatherCombined(array->placed, *array->type, what);
}

absl::StatusOr<std::shared_ptr<const ArrayPlacement>> Client::PlacementOf(
    ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  if ((*array)->placed.object == 0) return nullptr;
  return (*array)->placed.placement;
}

absl::StatusOr<HostArray> Client::GetShard(ArrayHandle handle, int64_t shard) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  const PlacedObject& placed = array->placed;
  const int64_t shards =
      placed.object == 0 ? 0 : layout::NumShards(placed.placement->mesh);
  if (shard < 0 || shard >= shards) {
    return absl::InvalidArgumentError(absl::StrCat(
        "array ", handle.id, " has ", shards, " shards, not shard ", shard));
  }
  const layout::Box box =
      layout::ShardBox(placed.placement->layout, placed.placement->mesh, shard);
  ArrayType type{array->type->element, box.extent};
  if (placed.placement->stepped) {
    type.shape.insert(type.shape.begin(), array->type->shape.front());
  }
  if (box.empty()) return HostArray{type.element, type.shape, {}};
  return Join(placed.object, PlacementOfShard(*placed.placement, shard), &box,
              type, absl::StrCat("array ", handle.id),
              FetchAssembly::Partial::kCombine);
}

absl::StatusOr<SharedValue> Client::GetValue(ArrayHandle handle) {
  absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  if (array->dense != nullptr) return std::move(array->dense);
  return Gather(array->placed, *array->type, absl::StrCat("array ", handle.id));
}

absl::StatusOr<HostArray> Client::Combined(const ArrayValue& value,
                                           const std::string& what) {
  HostArray all;
  if (value.saved() != nullptr) {
    absl::StatusOr<HostArray> read = value.saved()->ReadAll();
    if (!read.ok()) return read.status();
    all = *std::move(read);
  } else if (!HasMemoryFor([&] { all = value.Copy(); })) {
    return NoMemoryFor(what, value.type());
  }
  return Combine(std::move(all), value.contributions());
}

absl::Status Client::Release(ArrayHandle handle) {
  WorldCall call(context_.runtime->world);
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  SharedValues values;  // destroyed without the lock
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status released = arrays_.Release(handle.id, &objects, &values);
  Unhold(objects);
  return released;
}

absl::StatusOr<HostArray> Client::GatherCombined(const PlacedObject& placed,
                                                 const ArrayType& type,
                                                 const std::string& what) {
  if (placed.object == 0) {  // no bytes
    return HostArray{type.element, type.shape, {}};
  }
  return Join(placed.object, *placed.placement, /*window=*/nullptr, type, what,
              FetchAssembly::Partial::kCombine);
}

absl::StatusOr<SharedValue> Client::Gather(const PlacedObject& placed,
                                           const ArrayType& type,
                                           const std::string& what) {
  if (placed.object == 0) {  // no bytes
    return std::make_shared<const ArrayValue>(
        HostArray{type.element, type.shape, {}});
  }
  const ArrayPlacement& placement = *placed.placement;
  absl::StatusOr<HostArray> array =
      Join(placed.object, placement, /*window=*/nullptr, type, what,
           FetchAssembly::Partial::kKeep);
  if (!array.ok()) return array.status();
  return std::make_shared<const ArrayValue>(
      *std::move(array),
      layout::ContributionsOf(placement.layout, placement.mesh));
}

absl::StatusOr<HostArray> Client::Join(
    uint64_t object, const ArrayPlacement& placement, const layout::Box* window,
    const ArrayType& type, const std::string& what,
    FetchAssembly::Partial partial, char* into) {
  WorldCall call(context_.runtime->world);
  std::shared_ptr<ArrayFetch> fetch;
  if (!HasMemoryFor([&] {
        fetch = std::make_shared<ArrayFetch>(FetchAssembly(
            placement, type.element, type.shape,
            context_.runtime->backends->has_values(), window, partial, into));
      })) {
    return NoMemoryFor(what, type);
  }
  const absl::StatusOr<uint64_t> done = RunFetch(
      object, fetch->assembly->sources(), fetch, /*views=*/false, what);
  // A piece may be on its way to memory of the caller.
  fetch->Close();
  if (!done.ok()) return done.status();
  return fetch->assembly->Take();
}

absl::StatusOr<uint64_t> Client::RunFetch(
    uint64_t object, const std::vector<FetchAssembly::Source>& sources,
    std::shared_ptr<ArrayFetch> fetch, bool views, const std::string& what) {
  WorldCall call(context_.runtime->world);
  auto request = std::make_shared<Request>();
  fetch->on_end =
      [request, world = context_.runtime->world](const absl::Status& status) {
        if (request->done.load()) return;  // has an answer already
        request->status = status;
        if (request->done.Set()) world->Notify();
      };
  uint64_t number = 0;
  channel_.Ask(
      [&](uint64_t id, proto::Control* control) {
        number = id;
        actor_.transfers().AddFetch(id, fetch);
        proto::FetchRequest* ask = control->mutable_fetch_request();
        ask->set_request(id);
        ask->set_object(object);
        ask->set_views(views);
        for (const FetchAssembly::Source& source : sources) {
          proto::FetchSource* out = ask->add_sources();
          out->set_host(static_cast<uint32_t>(source.host));
          out->set_first_piece(source.first);
        }
      },
      request);
  absl::Status waited = channel_.WaitFor(
      request->done, [&] { return absl::StrCat("the fetch of ", what); });
  actor_.transfers().EndFetch(number);
  const bool keeps = views && waited.ok() && request->status.ok();
  EndFetch(number, keeps);
  if (!waited.ok()) return waited;
  if (absl::IsNotFound(request->status)) {
    return absl::NotFoundError(absl::StrCat(
        what, " does not exist or was released", Tag(ErrorId::kReleased)));
  }
  if (!request->status.ok()) return request->TakeStatus();
  return number;
}

void Client::EndFetch(uint64_t number, bool keeps) {
  MutexLock lock(&channel_.mutex());
  channel_.Forget(number);
  if (channel_.stopping()) return;
  ControlRef control = channel_.NewControl();
  control->mutable_fetch_end()->set_request(number);
  control->mutable_fetch_end()->set_keeps(keeps);
  channel_.Post(std::move(control));
}

void Client::Unhold(const ObjectList& objects, ActorId from) {
  const ObjectList gone = holds_.Unhold(objects);
  if (gone.empty()) return;
  ControlRef control = channel_.NewControl(proto::Control::kReleaseRequest);
  for (uint64_t object : gone) {
    control->mutable_release_request()->add_objects(object);
  }
  channel_.Post(std::move(control), from);
}

absl::Status Client::AwaitReleases() {
  std::vector<std::shared_ptr<Request>> unloads;
  {
    MutexLock lock(&channel_.mutex());
    unloads.swap(unloads_);
  }
  for (const std::shared_ptr<Request>& unload : unloads) {
    absl::Status waited = channel_.WaitFor(
        unload->done, [] { return "the unload of a program"; });
    if (!waited.ok()) return waited;
  }
  std::shared_ptr<Request> request =
      channel_.Ask([](uint64_t id, proto::Control* control) {
        control->mutable_settle_request()->set_request(id);
      });
  return channel_.WaitFor(request->done,
                          [] { return "the release of an array or a run"; });
}

}  // namespace pathways
