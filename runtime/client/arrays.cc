//===- arrays.cc - Arrays between a client and the hosts ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/runtime_impl.h"

namespace pathways {
namespace {

absl::Status NoArray(uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("no array ", id, ", or it was released"));
}

}  // namespace

void Runtime::Impl::CutParts(
    uint64_t launch, const std::string& what, const Placed& placed,
    const HostArray& array, uint64_t steps,
    absl::FunctionRef<void(proto::StorePart)> pass_on) {
  const ArrayPlacement& placement = *placed.placement;
  const layout::Layout& layout = placement.layout;
  const std::vector<int64_t> zeros(layout.shape.size(), 0);
  const uint64_t step_bytes = array.data.size() / steps;
  for (const ArrayPlacement::Host& host : placement.hosts) {
    std::string bytes(host.parts.step_bytes * steps, '\0');
    for (const Part& part : host.parts.parts) {
      const layout::Box box =
          layout::ShardBox(layout, placement.mesh, part.shard);
      char* to = bytes.data() + part.offset * steps;
      for (uint64_t step = 0; step < steps; ++step) {
        layout::CopyBox(array.data.data() + step * step_bytes, layout.shape,
                        box.begin, to + step * part.bytes, box.extent, zeros,
                        box.extent, placement.element_bytes);
      }
    }
    for (uint64_t at = 0; at < bytes.size(); at += kMaxPieceBytes) {
      proto::StorePart part;
      part.set_launch(launch);
      part.set_host(static_cast<uint32_t>(host.host));
      part.set_object(placed.object);
      part.set_bytes(bytes.size());
      part.set_offset(at);
      part.set_what(what);
      part.set_data(bytes.data() + at,
                    std::min<uint64_t>(kMaxPieceBytes, bytes.size() - at));
      pass_on(std::move(part));
    }
  }
}

absl::StatusOr<HostArray> Runtime::Impl::Gather(
    const Placed& placed, ElementType element,
    const std::vector<int64_t>& shape, const std::string& what) {
  HostArray array;
  array.element = element;
  array.shape = shape;
  if (placed.object == 0) return array;  // no bytes
  const ArrayPlacement& placement = *placed.placement;
  const layout::Layout& layout = placement.layout;
  const uint64_t steps = placement.stepped ? shape.front() : 1;
  // Each block once, from the first host that has it; neighbours together.
  struct Piece {
    const Part* part;
    size_t range;
    uint64_t offset;  // in the range
  };
  std::vector<Piece> pieces;
  auto request = std::make_shared<Request>();
  std::set<std::vector<int64_t>> covered;  // where blocks begin
  for (const ArrayPlacement::Host& host : placement.hosts) {
    uint64_t end = UINT64_MAX;  // of the last range of this host
    for (const Part& part : host.parts.parts) {
      const layout::Box box =
          layout::ShardBox(layout, placement.mesh, part.shard);
      if (!covered.insert(box.begin).second) continue;
      if (part.offset * steps != end) {
        request->ranges.push_back({host.host, part.offset * steps, {}});
      }
      Request::Range& range = request->ranges.back();
      pieces.push_back({&part, request->ranges.size() - 1, range.data.size()});
      range.data.resize(range.data.size() + part.bytes * steps);
      request->remaining += part.bytes * steps;
      end = (part.offset + part.bytes) * steps;
    }
  }
  Ask(
      [&](uint64_t id, proto::Control* control) {
        proto::FetchRequest* fetch = control->mutable_fetch_request();
        fetch->set_request(id);
        fetch->set_object(placed.object);
        for (const Request::Range& range : request->ranges) {
          proto::PartRange* out = fetch->add_ranges();
          out->set_host(static_cast<uint32_t>(range.host));
          out->set_offset(range.offset);
          out->set_bytes(range.data.size());
        }
      },
      request);
  absl::Status waited =
      WaitFor(request->done, absl::StrCat("the fetch of ", what));
  if (!waited.ok()) return waited;
  if (absl::IsNotFound(request->status)) {
    return absl::NotFoundError(
        absl::StrCat("no ", what, ", or it was released"));
  }
  if (!request->status.ok()) return request->status;
  const uint64_t bytes = array.num_elements() * placement.element_bytes;
  const std::vector<int64_t> zeros(layout.shape.size(), 0);
  array.data.resize(bytes);
  for (const Piece& piece : pieces) {
    const layout::Box box =
        layout::ShardBox(layout, placement.mesh, piece.part->shard);
    const char* from = request->ranges[piece.range].data.data() + piece.offset;
    for (uint64_t step = 0; step < steps; ++step) {
      layout::CopyBox(from + step * piece.part->bytes, box.extent, zeros,
                      array.data.data() + step * (bytes / steps), layout.shape,
                      box.begin, box.extent, placement.element_bytes);
    }
  }
  return array;
}

void Runtime::Impl::Deliver(const proto::PartData& part) {
  const uint64_t id = part.request(), offset = part.offset();
  const int32_t host = static_cast<int32_t>(part.host());
  const std::string& data = part.data();
  std::shared_ptr<Request> request;
  {
    MutexLock lock(&mutex_);
    auto found = requests_.find(id);
    if (found == requests_.end()) return;
    request = found->second;
  }
  if (!request->seen.insert({host, offset}).second) return;  // a second copy
  auto range = std::upper_bound(
      request->ranges.begin(), request->ranges.end(),
      std::make_pair(host, offset),
      [](const std::pair<int32_t, uint64_t>& a, const Request::Range& b) {
        return a < std::make_pair(b.host, b.offset);
      });
  if (range == request->ranges.begin()) return;
  --range;
  if (range->host != host || offset - range->offset > range->data.size() ||
      data.size() > range->data.size() - (offset - range->offset)) {
    return;  // nobody asked for it
  }
  std::memcpy(range->data.data() + (offset - range->offset), data.data(),
              data.size());
  request->remaining -= data.size();
  if (request->remaining == 0) Answer(id, absl::OkStatus(), 0);
}

absl::StatusOr<std::vector<std::shared_ptr<const HostArray>>>
Runtime::Impl::BringHome(const Program& program,
                         const std::vector<LaunchArgument>& arguments) {
  std::vector<std::shared_ptr<const HostArray>> values(arguments.size());
  if (!options_.run_kernels) return values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto* handle = std::get_if<ArrayHandle>(&arguments[i]);
    if (handle == nullptr) continue;
    Placed placed;
    ElementType element;
    std::vector<int64_t> shape;
    auto home = [&] {
      MutexLock lock(&mutex_);
      auto found = arrays_.find(handle->id);
      if (found == arrays_.end()) return true;  // the launch says so
      const Array& array = found->second;
      values[i] = array.dense;
      if (array.dense != nullptr || array.placed.object == 0 ||
          array.placed.placement->Fits(*program.arguments[i])) {
        return true;
      }
      placed = array.placed;
      element = array.element;
      shape = array.shape;
      return false;
    };
    if (home()) continue;
    absl::Status good = AwaitArray(handle->id);
    if (!good.ok()) return good;
    absl::StatusOr<HostArray> value =
        Gather(placed, element, shape, absl::StrCat("array ", handle->id));
    if (!value.ok()) return value.status();
    values[i] = std::make_shared<const HostArray>(*std::move(value));
  }
  return values;
}

absl::StatusOr<ArrayHandle> Runtime::Impl::Put(HostArray value,
                                               const std::string& client) {
  MutexLock lock(&mutex_);
  Array array;
  absl::StatusOr<Arena::Segment> charge = client_memory_.Charge(
      value.data.size(),
      absl::StrCat("array ", ShapeString(value.element, value.shape),
                   " of client '", client, "'"));
  if (!charge.ok()) return charge.status();
  array.charge = *std::move(charge);
  array.client = client;
  array.element = value.element;
  array.shape = value.shape;
  array.bytes = value.data.size();
  array.dense = std::make_shared<const HostArray>(std::move(value));
  const uint64_t id = ++next_array_;
  arrays_[id] = std::move(array);
  return ArrayHandle{id};
}

absl::Status Runtime::Impl::AwaitArray(uint64_t id) {
  std::shared_ptr<Run> producer;
  int64_t result;
  {
    MutexLock lock(&mutex_);
    auto found = arrays_.find(id);
    if (found == arrays_.end()) return NoArray(id);
    producer = found->second.producer;
    result = found->second.result;
  }
  if (producer == nullptr) return absl::OkStatus();
  absl::Status waited =
      WaitFor(producer->done,
              absl::StrCat("a run of program '", producer->plan->name(), "'"));
  return waited.ok() ? CheckResult(*producer, result) : waited;
}

absl::StatusOr<HostArray> Runtime::Impl::Get(uint64_t id) {
  Call call(this);
  absl::Status good = AwaitArray(id);
  if (!good.ok()) return good;
  Placed placed;
  ElementType element;
  std::vector<int64_t> shape;
  std::shared_ptr<const HostArray> dense;
  {
    MutexLock lock(&mutex_);
    auto found = arrays_.find(id);
    if (found == arrays_.end()) return NoArray(id);
    dense = found->second.dense;
    placed = found->second.placed;
    element = found->second.element;
    shape = found->second.shape;
  }
  if (dense != nullptr) return *dense;
  return Gather(placed, element, shape, absl::StrCat("array ", id));
}

absl::Status Runtime::Impl::Release(uint64_t id) {
  Call call(this);
  MutexLock lock(&mutex_);
  auto found = arrays_.find(id);
  if (found == arrays_.end()) return NoArray(id);
  Unhold({found->second.placed.object});
  arrays_.erase(found);
  return absl::OkStatus();
}

void Runtime::Impl::Unhold(const std::vector<uint64_t>& objects, ActorId from) {
  proto::Control control;
  proto::ReleaseRequest& release = *control.mutable_release_request();
  for (uint64_t object : objects) {
    auto found = holds_.find(object);
    if (found == holds_.end() || --found->second > 0) continue;
    holds_.erase(found);
    release.add_objects(object);
  }
  if (release.objects_size() == 0) return;
  Number(&control);
  last_release_ = control.sequence();
  Send(control, from);
}

absl::Status Runtime::Impl::AwaitReleases() {
  uint64_t release;
  {
    MutexLock lock(&mutex_);
    release = last_release_;
    if (release <= settled_) return absl::OkStatus();
  }
  std::shared_ptr<Request> request =
      Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_settle_request()->set_request(id);
      });
  absl::Status waited =
      WaitFor(request->done, "the release of an array or a run");
  if (!waited.ok()) return waited;
  MutexLock lock(&mutex_);
  settled_ = std::max(settled_, release);
  return absl::OkStatus();
}

}  // namespace pathways
