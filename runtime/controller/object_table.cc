//===- object_table.cc - Who holds arrays, and for whom -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/object_table.h"

namespace pathways {

void ObjectTable::Object::Reset() {
  hosts.clear();
  bytes.clear();
  arriving = false;
  references = filling = 0;
  failure = absl::OkStatus();
  missing = false;
}

void ObjectTable::Add(uint64_t id, absl::Span<const uint32_t> hosts,
                      absl::Span<const uint64_t> bytes, uint64_t references,
                      uint64_t filling, bool arriving) {
  Object& object = objects_.Insert(id);
  object.hosts.assign(hosts.begin(), hosts.end());
  object.bytes.assign(bytes.begin(), bytes.end());
  object.bytes.resize(hosts.size());
  object.references = references;
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
  object.failure = failure;
  object.missing = true;
}

void ObjectTable::Settle(uint64_t id, const absl::Status& failure,
                         bool missing) {
  Object* object = objects_.Find(id);
  if (object == nullptr) return;
  object->filling = 0;
  object->failure = failure;
  object->missing = missing;
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

}  // namespace pathways
