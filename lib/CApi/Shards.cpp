//===- Shards.cpp - Divided arrays of the C API ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Json.h"
#include "Tensors.h"

#include <algorithm>

using namespace pathways;
using namespace pathways::capi;

pw_error *pw_put_sharded(pw_session *session, const pw_tensor *values,
                         const char *sharding, pw_array **array) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session},
                                      {"values", values},
                                      {"sharding", sharding},
                                      {"array", array}}))
      return error;
    pw_tensor tensor{};
    if (pw_error *error = readTensor(values, tensor))
      return error;
    Sharding divided;
    if (pw_error *error = readSharding(sharding, divided))
      return error;
    return makeHandle(session->session.put(copyTensor(tensor), divided), array);
  });
}

pw_error *pw_put_shards(pw_session *session, int32_t rank, const int64_t *shape,
                        const pw_tensor *shards, size_t count,
                        const char *sharding, pw_array **array) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session},
                                      {"shards", shards},
                                      {"sharding", sharding},
                                      {"array", array}}))
      return error;
    if (rank < 0 || (rank > 0 && !shape))
      return makeError(PW_INVALID_ARGUMENT, "the shape of " +
                                                std::to_string(rank) +
                                                " dimensions is missing");
    Sharding divided;
    if (pw_error *error = readSharding(sharding, divided))
      return error;
    // It also bounds what is read.
    if (count != divided.devices.size())
      return makeError(PW_INVALID_ARGUMENT,
                       "there are " + std::to_string(count) +
                           " shards, expected " +
                           std::to_string(divided.devices.size()) +
                           ", one for each device of the sharding");
    std::vector<HostArray> copies;
    const auto *next = reinterpret_cast<const char *>(shards);
    for (size_t i = 0; i < count; ++i) {
      pw_tensor tensor{};
      const auto *given = reinterpret_cast<const pw_tensor *>(next);
      if (pw_error *error = readTensor(given, tensor))
        return error;
      copies.push_back(copyTensor(tensor));
      // The caller's structures may be larger than those known here.
      next += tensor.struct_size;
    }
    return makeHandle(
        session->session.putShards({shape, shape + rank}, copies, divided),
        array);
  });
}

pw_error *pw_array_placement(const pw_array *array, pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"json", json}}))
      return error;
    Result<std::optional<Sharding>> sharding = array->array.sharding();
    if (!sharding)
      return makeError(sharding.error());
    Result<std::vector<Shard>> shards = array->array.shards();
    if (!shards)
      return makeError(shards.error());
    Json list = Json::array();
    for (const Shard &shard : *shards)
      list.push_back({{"device", shard.device},
                      {"offset", shard.offset},
                      {"shape", shard.shape}});
    return makeText(
        print({{"sharding", *sharding ? toJson(**sharding) : Json()},
               {"shards", std::move(list)}}),
        json);
  });
}

pw_error *pw_array_get_shard(const pw_array *array, size_t shard,
                             const pw_tensor *into) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"into", into}}))
      return error;
    pw_tensor tensor{};
    if (pw_error *error = readTensor(into, tensor))
      return error;
    Result<HostArray> values =
        array->array.fetchShard(static_cast<int64_t>(shard));
    if (!values)
      return makeError(values.error());
    if (pw_error *error =
            checkFit(tensor, values->element, values->shape, "shard"))
      return error;
    if (values->data.size() != tensor.bytes)
      return makeError(PW_INVALID_ARGUMENT,
                       "the shard has no values, since the session only costs");
    std::copy(values->data.begin(), values->data.end(),
              static_cast<char *>(tensor.data));
    return nullptr;
  });
}
