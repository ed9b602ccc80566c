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
  references = filling = 0;
  failure = absl::OkStatus();
  missing = false;
}

void ObjectTable::Add(uint64_t id, absl::Span<const uint32_t> hosts,
                      uint64_t references, uint64_t filling) {
  Object& object = objects_.Insert(id);
  object.hosts.assign(hosts.begin(), hosts.end());
  object.references = references;
  object.filling = filling;
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
    for (int32_t host : object->hosts) drops->push_back({host, launch, id});
    objects_.Erase(id);
  }
}

}  // namespace pathways
