//===- client_views.cc - Values of arrays without needless copies ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/buffer_bytes.h"
#include "runtime/client/client.h"
#include "runtime/client/combine.h"
#include "runtime/protocol/block_pull.h"

namespace pathways {
namespace {

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

absl::Status Client::GetInto(ArrayHandle handle, char* into, uint64_t bytes) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  const std::string what = absl::StrCat("array ", handle.id);
  const uint64_t needed = BytesOf(*array->type);
  if (bytes != needed) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " of ", shapeString(array->type->element, array->type->shape),
        " has ", needed, " bytes, the memory for it ", bytes));
  }
  if (bytes == 0) return absl::OkStatus();
  if (!context_.runtime->backends->has_values()) return NoValues(what);
  if (array->dense == nullptr) {
    // The pieces of a fetch are copied by a worker, which has other work.
    if (bytes > kPieceBytes && !context_.runtime->world->simulated()) {
      const absl::StatusOr<ArrayView> view =
          ViewPlaced(array->placed, *array->type, what);
      if (view.ok()) std::memcpy(into, view->data, bytes);
      if (!absl::IsFailedPrecondition(view.status())) return view.status();
    }
    return Join(array->placed.object, *array->placed.placement,
                /*window=*/nullptr, *array->type, what,
                FetchAssembly::Partial::kCombine, into)
        .status();
  }
  const ArrayValue& value = *array->dense;
  if (value.contributions().count() > 1) {
    const absl::StatusOr<HostArray> combined = Combined(value, what);
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

absl::StatusOr<Client::ArrayView> Client::View(ArrayHandle handle) {
  absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  const std::string what = absl::StrCat("array ", handle.id);
  if (BytesOf(*array->type) == 0) return ArrayView();
  if (!context_.runtime->backends->has_values()) return NoValues(what);
  if (array->dense == nullptr) {
    return ViewPlaced(array->placed, *array->type, what);
  }
  if (array->dense->saved() != nullptr) {
    return NoView(what, absl::StrCat("its values are in the files of '",
                                     array->dense->saved()->folder(), "'"));
  }
  if (array->dense->contributions().count() > 1) {
    return NoView(what, "it is the combination of several contributions");
  }
  const absl::string_view data = array->dense->data();
  return ArrayView{data.data(), data.size(), std::move(array->dense)};
}

absl::StatusOr<Client::ArrayView> Client::ViewPlaced(const PlacedObject& placed,
                                                     const ArrayType& type,
                                                     const std::string& what) {
  RuntimeContext& runtime = *context_.runtime;
  // Faults of a simulation take hosts and their memory away.
  if (runtime.world->simulated()) {
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
    if (!runtime.IsHere(one.host)) continue;
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
  const char* data = runtime.lent.Find(actor_.index(), *number);
  if (data == nullptr) {
    EndFetch(*number, /*keeps=*/false);
    return NoView(what, "its host holds no values");
  }
  // The address stands for the object; the deleter gives it back.
  std::shared_ptr<const void> owner(data, [this, id = *number](const void*) {
    EndFetch(id, /*keeps=*/false);
  });
  return ArrayView{data, bytes, std::move(owner)};
}

}  // namespace pathways
