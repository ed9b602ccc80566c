//===- Array.cpp - Arrays on devices --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Array.h"

#include "Handles.h"
#include "PlanState.h"
#include "Shardings.h"

using namespace pathways;

ElementType Array::element() const {
  return state ? state->type.element : ElementType::kInvalid;
}

const std::vector<int64_t> &Array::shape() const {
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

Result<bool> Array::awaitFor(int64_t limitNs) const {
  if (!state)
    return makeEmptyError("array");
  absl::StatusOr<bool> ended =
      state->client().AwaitArrayFor(state->array, limitNs);
  if (!ended.ok())
    return makeArrayError(ended.status());
  return *ended;
}

Result<std::optional<Sharding>> Array::sharding() const {
  if (!state)
    return makeEmptyError("array");
  auto placement = state->client().PlacementOf(state->array);
  if (!placement.ok())
    return makeArrayError(placement.status());
  if (!*placement)
    return std::optional<Sharding>();
  Sharding sharding =
      toSharding(**placement, state->session->cluster->topology());
  if ((*placement)->stepped)
    sharding.dims.emplace(sharding.dims.begin());
  return std::optional<Sharding>(std::move(sharding));
}

Result<std::vector<Shard>> Array::shards() const {
  Result<std::optional<Sharding>> sharding = this->sharding();
  if (!sharding)
    return sharding.error();
  std::vector<Shard> shards;
  if (!*sharding)
    return shards;
  const layout::Layout layout = toLayout(shape(), **sharding);
  const layout::Mesh mesh = toMesh(**sharding);
  for (size_t s = 0; s < (*sharding)->devices.size(); ++s) {
    layout::Box box = layout::ShardBox(layout, mesh, static_cast<int64_t>(s));
    shards.push_back(
        {(*sharding)->devices[s], std::move(box.begin), std::move(box.extent)});
  }
  return shards;
}

/// Makes the error of copying values of an array to this process.
static Error makeCopyError(Array::State &state, const absl::Status &status) {
  if (lacksMemory(state.client().AwaitArray(state.array), status))
    return makeError(ErrorCode::kRefused, status);
  return makeArrayError(status);
}

static Result<HostArray> makeCopy(Array::State &state,
                                  absl::StatusOr<HostArray> copy) {
  if (copy.ok())
    return *std::move(copy);
  return makeCopyError(state, copy.status());
}

Result<HostArray> Array::fetch() const {
  if (!state)
    return makeEmptyError("array");
  return makeCopy(*state, state->client().Get(state->array));
}

Status Array::fetchInto(std::span<char> into) const {
  if (!state)
    return makeEmptyError("array");
  Client &client = state->client();
  const absl::Status status =
      client.GetInto(state->array, into.data(), into.size());
  if (status.ok())
    return {};
  if (absl::IsFailedPrecondition(status) &&
      client.AwaitArray(state->array).ok())
    return makeError(ErrorCode::kInvalidArgument, status);
  return makeCopyError(*state, status);
}

/// Keeps the session of a view, which is needed to give the values back.
struct ViewOwner {
  std::shared_ptr<Session::State> session;
  std::shared_ptr<const void> values; // destroyed first
};

Result<ArrayView> Array::view() const {
  if (!state)
    return makeEmptyError("array");
  absl::StatusOr<Client::ArrayView> view = state->client().View(state->array);
  if (absl::IsFailedPrecondition(view.status()) &&
      state->client().AwaitArray(state->array).ok())
    return makeError(ErrorCode::kRefused, view.status());
  if (!view.ok())
    return makeArrayError(view.status());
  return ArrayView{
      state->type.element,
      state->type.shape,
      {view->data, view->bytes},
      std::make_shared<ViewOwner>(state->session, std::move(view->owner))};
}

Result<HostArray> Array::fetchShard(int64_t index) const {
  if (!state)
    return makeEmptyError("array");
  return makeCopy(*state, state->client().GetShard(state->array, index));
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
