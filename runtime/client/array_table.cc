//===- array_table.cc - Arrays that a client holds ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/host_array.h"

namespace pathways {
namespace {

absl::Status NoArray(uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("no array ", id, ", or it was released"));
}

}  // namespace

ArrayTable::ArrayTable(const std::string& client, uint64_t bytes)
    : client_(client),
      memory_(absl::StrCat("the memory of client '", client, "'"), bytes,
              /*backed=*/false) {}

absl::StatusOr<uint64_t> ArrayTable::Put(SharedValue value) {
  ArrayState array;
  if (!value->borrowed()) {
    absl::StatusOr<Arena::Segment> charge = memory_.Charge(
        value->data().size(),
        absl::StrCat("array ",
                     ShapeString(value->type().element, value->type().shape)));
    if (!charge.ok()) return charge.status();
    array.charge = *std::move(charge);
  }
  array.id = ++last_;
  array.type = std::make_shared<const ArrayType>(value->type());
  array.bytes = value->data().size();
  array.dense = std::move(value);
  arrays_[last_] = std::move(array);
  return last_;
}

uint64_t ArrayTable::Keep(const std::shared_ptr<RunState>& run, int64_t result,
                          bool ended) {
  const RunState::Result& from = run->results[result];
  ArrayState& array = arrays_[++last_];
  array.id = last_;
  array.type = from.type;
  array.bytes = from.bytes;
  array.placed = from.placed;
  if (!ended) {
    array.producer = run;
    array.result = result;
  }
  return last_;
}

absl::StatusOr<ArrayState*> ArrayTable::Find(uint64_t id) {
  auto found = arrays_.find(id);
  if (found == arrays_.end()) return NoArray(id);
  return &found->second;
}

void ArrayTable::Place(ArrayState* array, const PlacedObject& placed,
                       RunState* run) {
  array->placed = placed;
  array->placing = run->id;
  run->placing.push_back(array->id);
}

void ArrayTable::Settle(const RunState& run, std::vector<uint64_t>* objects,
                        std::vector<SharedValue>* values) {
  for (uint64_t id : run.placing) {
    auto found = arrays_.find(id);
    if (found == arrays_.end() || found->second.placing != run.id) continue;
    ArrayState& array = found->second;
    array.placing = 0;
    if (run.completed) {
      values->push_back(std::move(array.dense));
      array.charge = Arena::Segment();
    } else {
      objects->push_back(array.placed.object);
      array.placed = PlacedObject();
    }
  }
}

absl::Status ArrayTable::Release(uint64_t id, std::vector<uint64_t>* objects,
                                 std::vector<SharedValue>* values) {
  auto found = arrays_.find(id);
  if (found == arrays_.end()) return NoArray(id);
  objects->push_back(found->second.placed.object);
  values->push_back(std::move(found->second.dense));
  arrays_.erase(found);
  return absl::OkStatus();
}

}  // namespace pathways
