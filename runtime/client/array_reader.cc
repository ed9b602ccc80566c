//===- array_reader.cc - Reading of arrays --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_reader.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/client/block_map.h"
#include "runtime/client/combine.h"
#include "runtime/layout/contributions.h"
#include "runtime/protocol/block_pull.h"

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

absl::Status NoView(const std::string& what, absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, " cannot be read without a copy: ", why));
}

absl::Status NoValues(const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(
      what, " has no values, since the simulation only computes costs"));
}

uint64_t BytesOf(const ArrayType& type) {
  uint64_t bytes = static_cast<uint64_t>(elementBytes(type.element));
  for (int64_t size : type.shape) {
    bytes = AddBytes(0, bytes, static_cast<uint64_t>(size));
  }
  return bytes;
}

// Returns true if what the host holds of an array is all of it, in order.
bool IsDense(const ArrayPlacement& placement, const Parts& parts,
             uint64_t steps, uint64_t bytes) {
  const BlockMap map(placement, parts, steps);
  uint64_t end = 0;
  for (const Part& part : parts.parts) {
    const uint64_t begin = part.offset * steps;
    if (begin != end || map.Contiguous(begin, part.bytes * steps) != begin) {
      return false;
    }
    end += part.bytes * steps;
  }
  return end == bytes;
}

}  // namespace

absl::StatusOr<HostArray> ArrayReader::Get(const ArrayLocation& array,
                                           const std::string& what) {
  if (array.dense != nullptr) return CombinedCopy(*array.dense, what);
  if (array.placed.object == 0) {  // no bytes
    return HostArray{array.type->element, array.type->shape, {}};
  }
  return Join(array.placed.object, *array.placed.placement, /*window=*/nullptr,
              *array.type, what, FetchAssembly::Partial::kCombine);
}

absl::StatusOr<SharedValue> ArrayReader::GetValue(const ArrayLocation& array,
                                                  const std::string& what) {
  if (array.dense != nullptr) return array.dense;
  if (array.placed.object == 0) {  // no bytes
    return std::make_shared<const ArrayValue>(
        HostArray{array.type->element, array.type->shape, {}});
  }
  const ArrayPlacement& placement = *array.placed.placement;
  absl::StatusOr<HostArray> values =
      Join(array.placed.object, placement, /*window=*/nullptr, *array.type,
           what, FetchAssembly::Partial::kKeep);
  if (!values.ok()) return values.status();
  return std::make_shared<const ArrayValue>(
      *std::move(values),
      layout::ContributionsOf(placement.layout, placement.mesh));
}

absl::StatusOr<HostArray> ArrayReader::GetShard(const ArrayLocation& array,
                                                int64_t shard,
                                                const std::string& what) {
  const PlacedObject& placed = array.placed;
  const int64_t shards =
      placed.object == 0 ? 0 : layout::NumShards(placed.placement->mesh);
  if (shard < 0 || shard >= shards) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", shards, " shards, not shard ", shard));
  }
  const layout::Box box =
      layout::ShardBox(placed.placement->layout, placed.placement->mesh, shard);
  ArrayType type{array.type->element, box.extent};
  if (placed.placement->stepped) {
    type.shape.insert(type.shape.begin(), array.type->shape.front());
  }
  if (box.empty()) return HostArray{type.element, type.shape, {}};
  return Join(placed.object, PlacementOfShard(*placed.placement, shard), &box,
              type, what, FetchAssembly::Partial::kCombine);
}

absl::StatusOr<HostArray> ArrayReader::GetBlock(uint64_t object,
                                                const ArrayPlacement& placement,
                                                const layout::Box& window,
                                                const ArrayType& type,
                                                const std::string& what) {
  return Join(object, placement, &window, type, what,
              FetchAssembly::Partial::kCombine);
}

absl::Status ArrayReader::GetInto(const ArrayLocation& array, char* into,
                                  uint64_t bytes, const std::string& what) {
  const uint64_t needed = BytesOf(*array.type);
  if (bytes != needed) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " of ", shapeString(array.type->element, array.type->shape),
        " has ", needed, " bytes, the memory for it ", bytes));
  }
  if (bytes == 0) return absl::OkStatus();
  if (!runtime_.backends->has_values()) return NoValues(what);
  if (array.dense == nullptr) {
    // The pieces of a fetch are copied by a worker, which has other work.
    if (bytes > kPieceBytes && !runtime_.world->simulated()) {
      const absl::StatusOr<ValueView> view =
          ViewPlaced(array.placed, *array.type, what);
      if (view.ok()) std::memcpy(into, view->data, bytes);
      if (!absl::IsFailedPrecondition(view.status())) return view.status();
    }
    return Join(array.placed.object, *array.placed.placement,
                /*window=*/nullptr, *array.type, what,
                FetchAssembly::Partial::kCombine, into)
        .status();
  }
  const ArrayValue& value = *array.dense;
  if (value.contributions().count() > 1) {
    const absl::StatusOr<HostArray> combined = CombinedCopy(value, what);
    if (!combined.ok()) return combined.status();
    std::memcpy(into, combined->data.data(), bytes);
    return absl::OkStatus();
  }
  if (value.saved() != nullptr) {
    const SavedArray::Range all{0, bytes, into};
    return value.saved()->Read(absl::MakeConstSpan(&all, 1));
  }
  std::memcpy(into, value.data().data(), bytes);
  return absl::OkStatus();
}

absl::StatusOr<ValueView> ArrayReader::View(ArrayLocation array,
                                            const std::string& what) {
  if (BytesOf(*array.type) == 0) return ValueView();
  if (!runtime_.backends->has_values()) return NoValues(what);
  if (array.dense == nullptr) {
    return ViewPlaced(array.placed, *array.type, what);
  }
  if (array.dense->saved() != nullptr) {
    return NoView(what, absl::StrCat("its values are in the files of '",
                                     array.dense->saved()->folder(), "'"));
  }
  if (array.dense->contributions().count() > 1) {
    return NoView(what, "it is the combination of several contributions");
  }
  const absl::string_view data = array.dense->data();
  return ValueView{data.data(), data.size(), std::move(array.dense)};
}

absl::StatusOr<ValueView> ArrayReader::ViewPlaced(const PlacedObject& placed,
                                                  const ArrayType& type,
                                                  const std::string& what) {
  // Faults of a simulation take hosts and their memory away.
  if (runtime_.world->simulated()) {
    return NoView(what, "it is on hosts of a simulation");
  }
  const ArrayPlacement& placement = *placed.placement;
  if (layout::ContributionsOf(placement.layout, placement.mesh).count() > 1) {
    return NoView(what, "it is the combination of several contributions");
  }
  const uint64_t steps =
      placement.stepped ? static_cast<uint64_t>(type.shape.front()) : 1;
  const uint64_t bytes = BytesOf(type);
  std::optional<int32_t> host;
  bool is_here = false;
  for (const ArrayPlacement::Host& one : placement.hosts) {
    if (!runtime_.IsHere(one.host)) continue;
    is_here = true;
    if (IsDense(placement, one.parts, steps, bytes)) host = one.host;
  }
  if (!host.has_value()) {
    return NoView(
        what, is_here ? absl::StrCat("its blocks on ",
                                     placement.hosts.size() == 1
                                         ? std::string("one host")
                                         : absl::StrCat(placement.hosts.size(),
                                                        " hosts"),
                                     " are not dense in one piece of memory")
                      : std::string("its hosts are in other processes"));
  }
  auto fetch = std::make_shared<ArrayFetch>();
  const absl::StatusOr<uint64_t> number =
      RunFetch(placed.object, {{*host, 0}}, fetch, /*views=*/true, what);
  if (!number.ok()) return number.status();
  const char* data = runtime_.lent.Find(actor_.index(), *number);
  if (data == nullptr) {
    EndFetch(*number, /*keeps=*/false);
    return NoView(what, "its host holds no values");
  }
  // The address stands for the object; the deleter gives it back.
  std::shared_ptr<const void> owner(data, [this, id = *number](const void*) {
    EndFetch(id, /*keeps=*/false);
  });
  return ValueView{data, bytes, std::move(owner)};
}

absl::StatusOr<HostArray> ArrayReader::Join(
    uint64_t object, const ArrayPlacement& placement, const layout::Box* window,
    const ArrayType& type, const std::string& what,
    FetchAssembly::Partial partial, char* into) {
  WorldCall call(runtime_.world);
  std::shared_ptr<ArrayFetch> fetch;
  if (!HasMemoryFor([&] {
        fetch = std::make_shared<ArrayFetch>(FetchAssembly(
            placement, type.element, type.shape,
            runtime_.backends->has_values(), window, partial, into));
      })) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": ", NoMemoryText(type.element, type.shape)));
  }
  const absl::StatusOr<uint64_t> done = RunFetch(
      object, fetch->assembly->sources(), fetch, /*views=*/false, what);
  // A piece may be on its way to memory of the caller.
  fetch->Close();
  if (!done.ok()) return done.status();
  return fetch->assembly->Take();
}

absl::StatusOr<uint64_t> ArrayReader::RunFetch(
    uint64_t object, const std::vector<FetchAssembly::Source>& sources,
    std::shared_ptr<ArrayFetch> fetch, bool views, const std::string& what) {
  WorldCall call(runtime_.world);
  auto request = std::make_shared<Request>();
  fetch->on_end = [request,
                   world = runtime_.world](const absl::Status& status) {
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

void ArrayReader::EndFetch(uint64_t number, bool keeps) {
  MutexLock lock(&channel_.mutex());
  channel_.Forget(number);
  if (channel_.stopping()) return;
  ControlRef control = channel_.NewControl();
  control->mutable_fetch_end()->set_request(number);
  control->mutable_fetch_end()->set_keeps(keeps);
  channel_.Post(std::move(control));
}

}  // namespace pathways
