//===- slice_reservations.cc - Slices that a client holds -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/slice_reservations.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"

namespace pathways {

absl::StatusOr<SliceReservations::GrantedSlices> SliceReservations::Ask(
    absl::FunctionRef<void(proto::SlicesRequest*)> fill, int64_t wait_ns,
    const std::function<void(const std::string&)>& on_waiting) {
  absl::Status released = catalog_.AwaitReleases();
  if (!released.ok()) return released;
  auto request = std::make_shared<Request>();
  request->on_waiting = on_waiting;
  uint64_t number = 0;
  int wanted = 0;
  channel_.Ask(
      [&](uint64_t id, proto::Control* control) {
        number = id;
        proto::SlicesRequest* slices = control->mutable_slices_request();
        slices->set_request(id);
        if (wait_ns >= 0) slices->set_wait_ns(static_cast<uint64_t>(wait_ns));
        fill(slices);
        wanted = slices->slices_size();
      },
      request);
  absl::Status status = channel_.AwaitOrCancel(
      *request, number, [&] { return "a request for devices"; });
  if (!status.ok()) return status;
  if (static_cast<int>(request->slices.size()) != wanted) {
    return absl::InternalError(absl::StrCat("the controller reserved ",
                                            request->slices.size(),
                                            " slices, expected ", wanted));
  }
  return std::move(request->slices);
}

void SliceReservations::ReleaseGranted(uint64_t slice) {
  if (slice == 0) return;
  ControlRef control = channel_.NewControl();
  control->mutable_slice_release()->set_slice(slice);
  MutexLock lock(&channel_.mutex());
  channel_.Post(std::move(control));
}

absl::StatusOr<SliceHandle> SliceReservations::Reserve(
    const SliceOptions& options, const std::vector<SliceHandle>& apart_from) {
  int64_t devices = 1;
  for (int64_t size : options.shape) {
    devices = size < 1 || size > kMaxDevices / devices ? 0 : devices * size;
    if (devices == 0) break;
  }
  const bool is_cut =
      devices > 0 && options.islands > 0 && devices % options.islands == 0 &&
      (!options.contiguous || options.islands == 1 ||
       (!options.shape.empty() && options.shape[0] % options.islands == 0));
  if (!is_cut) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", options.name, "' of ", absl::StrJoin(options.shape, "x"),
        " devices cannot be divided evenly over ", options.islands,
        " islands"));
  }
  for (SliceHandle other : apart_from) {
    absl::Status owned = owner_.Check(other, "slice");
    if (!owned.ok()) return owned;
  }
  const int64_t run = devices / options.islands;
  auto slices = Ask(
      [&](proto::SlicesRequest* request) {
        proto::SliceNeed* need = request->add_slices();
        need->set_name(options.name);
        need->set_kind(options.kind.empty() ? "cpu" : options.kind);
        for (SliceHandle other : apart_from) need->add_apart_from(other.id);
        for (int64_t island = 0; island < options.islands; ++island) {
          proto::IslandNeed* on_island = need->add_islands();
          proto::DevicesNeed* one = on_island->add_devices();
          one->set_count(static_cast<uint32_t>(run));
          one->set_bytes(options.device_bytes);
          for (size_t i = 0; options.contiguous && i < options.shape.size();
               ++i) {
            on_island->add_mesh(static_cast<uint32_t>(
                options.shape[i] / (i == 0 ? options.islands : 1)));
          }
        }
      },
      options.wait_ns, options.on_waiting);
  if (!slices.ok()) return slices.status();
  auto& [id, its] = slices->front();
  MutexLock lock(&channel_.mutex());
  slices_[id] = {options.name, static_cast<size_t>(run), std::move(its)};
  return owner_.Make<SliceHandle>(id);
}

absl::StatusOr<SliceReservations::HeldSlice> SliceReservations::Find(
    SliceHandle slice) {
  absl::Status owned = owner_.Check(slice, "slice");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  const auto found = slices_.find(slice.id);
  if (found != slices_.end()) return found->second;
  return absl::FailedPreconditionError(absl::StrCat(
      "slice ", slice.id, " was released", Tag(ErrorId::kSliceNotHeld)));
}

absl::StatusOr<std::vector<std::string>> SliceReservations::DevicesOf(
    SliceHandle slice) {
  absl::StatusOr<HeldSlice> held = Find(slice);
  if (!held.ok()) return held.status();
  std::vector<std::string> names;
  for (int64_t device : held->devices) {
    names.push_back(topology_.GlobalDeviceName(device));
  }
  return names;
}

absl::Status SliceReservations::Release(SliceHandle slice) {
  absl::StatusOr<HeldSlice> held = Find(slice);
  if (!held.ok()) return held.status();
  {
    MutexLock lock(&channel_.mutex());
    if (slices_.erase(slice.id) == 0) return absl::OkStatus();
  }
  ReleaseGranted(slice.id);
  return absl::OkStatus();
}

}  // namespace pathways
