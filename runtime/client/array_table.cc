//===- array_table.cc - Arrays that a client holds ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pathways/HostArray.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

absl::Status NoArray(uint64_t id) {
  return absl::NotFoundError(absl::StrCat("array ", id,
                                          " does not exist or was released",
                                          Tag(ErrorId::kReleased)));
}

}  // namespace

ArrayTable::ArrayTable(const std::string& client, uint64_t bytes)
    : client_(client),
      memory_(absl::StrCat("the memory of client '", client, "'"), bytes,
              /*backed=*/false) {}

absl::StatusOr<Arena::Segment> ArrayTable::Charge(const ArrayValue& value) {
  if (value.borrowed() || value.saved() != nullptr) return Arena::Segment();
  return memory_.Charge(
      value.data().size(),
      absl::StrCat("array ",
                   shapeString(value.type().element, value.type().shape)));
}

ArrayState* ArrayTable::Lookup(uint64_t id) {
  const auto found = arrays_.find(id);
  return found == arrays_.end() ? nullptr : &found->second;
}

ArrayState& ArrayTable::Add() {
  ArrayState& array =
      arrays_.emplace_hint(arrays_.end(), ++last_, ArrayState())->second;
  array.id = last_;
  return array;
}

absl::StatusOr<uint64_t> ArrayTable::Put(SharedValue value) {
  absl::StatusOr<Arena::Segment> charge = Charge(*value);
  if (!charge.ok()) return charge.status();
  ArrayState& array = Add();
  array.charge = *std::move(charge);
  array.type = std::make_shared<const ArrayType>(value->type());
  array.bytes = value->bytes();
  array.dense = std::move(value);
  return last_;
}

uint64_t ArrayTable::Keep(const std::shared_ptr<RunState>& run,
                          int64_t result) {
  const RunState::Result& from = run->results[result];
  ArrayState& array = Add();
  array.type = from.type;
  array.bytes = from.bytes;
  array.producer = run;
  array.result = result;
  if (array.HasFailed()) return last_;
  array.placed = from.placed;
  if (run->ended) array.producer.reset();
  return last_;
}

absl::StatusOr<ArrayState*> ArrayTable::Find(uint64_t id) {
  ArrayState* const array = Lookup(id);
  if (array == nullptr) return NoArray(id);
  return array;
}

void ArrayTable::Place(ArrayState* array, const PlacedObject& placed,
                       RunState* run) {
  array->placed = placed;
  array->placing = run->id;
  run->placing.push_back(array->id);
}

void ArrayTable::Settle(const RunState& run, ObjectList* objects,
                        SharedValues* values) {
  for (uint64_t id : run.placing) {
    ArrayState* const array = Lookup(id);
    if (array == nullptr || array->placing != run.id) continue;
    array->placing = 0;
    if (run.completed) {
      values->push_back(std::move(array->dense));
      array->charge = Arena::Segment();
    } else {
      objects->push_back(array->placed.object);
      array->placed = PlacedObject();
    }
  }
}

std::vector<uint64_t> ArrayTable::OnHosts(
    const std::vector<bool>& hosts) const {
  std::vector<uint64_t> ids;
  for (const auto& [id, array] : arrays_) {
    if (array.dense != nullptr || array.placed.object == 0) continue;
    const std::vector<ArrayPlacement::Host>& of = array.placed.placement->hosts;
    if (std::any_of(of.begin(), of.end(),
                    [&](const auto& host) { return hosts[host.host]; })) {
      ids.push_back(id);
    }
  }
  return ids;
}

absl::Status ArrayTable::FetchToClient(uint64_t id, SharedValue value,
                                       ObjectList* objects) {
  ArrayState* const array = Lookup(id);
  if (array == nullptr) return NoArray(id);
  absl::StatusOr<Arena::Segment> charge = Charge(*value);
  if (!charge.ok()) return charge.status();
  array->charge = *std::move(charge);
  array->dense = std::move(value);
  array->producer.reset();
  objects->push_back(array->placed.object);
  array->placed = PlacedObject();
  return absl::OkStatus();
}

absl::Status ArrayTable::Release(uint64_t id, ObjectList* objects,
                                 SharedValues* values) {
  ArrayState* const array = Lookup(id);
  if (array == nullptr) return NoArray(id);
  objects->push_back(array->placed.object);
  values->push_back(std::move(array->dense));
  arrays_.erase(id);
  return absl::OkStatus();
}

}  // namespace pathways
