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

/// Makes the result of copying values of an array to this process.
static Result<HostArray> makeCopy(Array::State &state,
                                  absl::StatusOr<HostArray> copy) {
  if (copy.ok())
    return *std::move(copy);
  if (lacksMemory(state.client().AwaitArray(state.array), copy.status()))
    return makeError(ErrorCode::kRefused, copy.status());
  return makeArrayError(copy.status());
}

Result<HostArray> Array::fetch() const {
  if (!state)
    return makeEmptyError("array");
  return makeCopy(*state, state->client().Get(state->array));
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
