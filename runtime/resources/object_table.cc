//===- object_table.cc - Arrays on hosts, and references ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/object_table.h"

#include <algorithm>

#include "runtime/base/buffer_bytes.h"
#include "runtime/protocol/client_id.h"

namespace pathways {

void ObjectTable::Object::Reset() {
  hosts.clear();
  bytes.clear();
  arriving = false;
  references = filling = 0;
  held = false;
  failure = absl::OkStatus();
  missing = lost = false;
}

void ObjectTable::Add(uint64_t id, absl::Span<const uint32_t> hosts,
                      absl::Span<const uint64_t> bytes, bool held,
                      uint64_t filling, bool arriving) {
  Object& object = objects_.Insert(id);
  object.hosts.assign(hosts.begin(), hosts.end());
  object.bytes.assign(bytes.begin(), bytes.end());
  object.bytes.resize(hosts.size());
  object.references = held ? 1 : 0;
  object.held = held;
  object.filling = filling;
  object.arriving = arriving;
}

void ObjectTable::Arrived(uint64_t id) {
  Object* object = objects_.Find(id);
  if (object != nullptr) object->arriving = false;
}

void ObjectTable::AddMissing(uint64_t id, const absl::Status& failure) {
  Object& object = objects_.Insert(id);
  object.references = 1;
  object.held = true;
  object.failure = failure;
  object.missing = true;
}

void ObjectTable::Settle(uint64_t id, const absl::Status& failure,
                         bool missing) {
  Object* object = objects_.Find(id);
  if (object == nullptr) return;
  object->filling = 0;
  if (!object->lost || !failure.ok()) object->failure = failure;
  object->missing = missing || object->lost;
}

void ObjectTable::HostGone(int32_t host, const absl::Status& failure) {
  objects_.ForEachMade([&](Object& object) {
    const auto at =
        std::lower_bound(object.hosts.begin(), object.hosts.end(), host);
    if (at == object.hosts.end() || *at != host) return;
    object.bytes.erase(object.bytes.begin() + (at - object.hosts.begin()));
    object.hosts.erase(at);
    if (object.failure.ok()) object.failure = failure;
    object.missing = object.lost = true;
  });
}

absl::Status ObjectTable::FirstFailure(absl::Span<const uint64_t> ids,
                                       bool missing_only) const {
  for (uint64_t id : ids) {
    const Object* object = objects_.Find(id);
    if (object != nullptr && !object->failure.ok() &&
        (object->missing || !missing_only)) {
      return object->failure;
    }
  }
  return absl::OkStatus();
}

void ObjectTable::Release(absl::Span<const uint64_t> ids, uint64_t launch,
                          std::vector<Drop>* drops) {
  for (uint64_t id : ids) {
    Object* object = objects_.Find(id);
    if (object == nullptr || --object->references != 0) continue;
    for (size_t h = 0; h < object->hosts.size(); ++h) {
      drops->push_back({object->hosts[h], launch, id, object->bytes[h]});
    }
    objects_.Erase(id);
  }
}

void ObjectTable::ReleaseHeld(absl::Span<const uint64_t> ids,
                              std::vector<Drop>* drops) {
  for (uint64_t id : ids) {
    Object* object = objects_.Find(id);
    if (object == nullptr || !object->held) continue;
    object->held = false;
    Release({id}, /*launch=*/0, drops);
  }
}

std::vector<uint64_t> ObjectTable::HeldBy(uint32_t client) const {
  std::vector<uint64_t> held = objects_.Ids();
  std::erase_if(held, [&](uint64_t id) {
    return ClientOf(id) != client || !objects_.Find(id)->held;
  });
  return held;
}

std::set<uint32_t> ObjectTable::ClientsOn(
    const std::vector<bool>& hosts) const {
  std::set<uint32_t> clients;
  for (uint64_t id : objects_.Ids()) {
    for (int32_t host : objects_.Find(id)->hosts) {
      if (hosts[host]) clients.insert(ClientOf(id));
    }
  }
  return clients;
}

uint64_t ObjectTable::BytesOf(uint32_t client) const {
  uint64_t bytes = 0;
  for (uint64_t id : objects_.Ids()) {
    if (ClientOf(id) != client) continue;
    for (uint64_t part : objects_.Find(id)->bytes)
      bytes = AddBytes(bytes, part);
  }
  return bytes;
}

std::map<uint32_t, std::map<int32_t, uint64_t>> ObjectTable::BytesByClient()
    const {
  std::map<uint32_t, std::map<int32_t, uint64_t>> all;
  for (uint64_t id : objects_.Ids()) {
    const Object& object = *objects_.Find(id);
    for (size_t h = 0; h < object.hosts.size(); ++h) {
      uint64_t& sum = all[ClientOf(id)][object.hosts[h]];
      sum = AddBytes(sum, object.bytes[h]);
    }
  }
  return all;
}

}  // namespace pathways
