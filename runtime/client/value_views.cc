//===- value_views.cc - Parts of values in memory -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/value_views.h"

#include <cstring>
#include <memory>
#include <utility>

#include "pathways/HostArray.h"

namespace pathways {

SharedValue Borrow(const SharedValue& value, std::vector<int64_t> shape,
                   uint64_t offset, uint64_t bytes,
                   layout::Contributions contributions) {
  BorrowedArray array;
  array.element = value->type().element;
  array.shape = std::move(shape);
  array.data = value->data().data() + offset;
  array.bytes = bytes;
  array.done = [value] {};
  return std::make_shared<const ArrayValue>(std::move(array),
                                            std::move(contributions));
}

SharedValue Whole(const SharedValue& value) {
  if (value->saved() != nullptr) return value;
  return Borrow(value, value->type().shape, 0, value->data().size(),
                value->contributions());
}

uint64_t BytesOfStep(const ArrayValue& stepped) {
  const int64_t steps = stepped.type().shape[0];
  return steps == 0 ? 0 : stepped.bytes() / static_cast<uint64_t>(steps);
}

std::vector<int64_t> WithSteps(std::vector<int64_t> shape, int64_t steps) {
  shape[0] = steps;
  return shape;
}

SharedValue LastStepOf(const ArrayValue& rows) {
  HostArray last{rows.type().element, rows.type().shape, {}};
  last.shape.erase(last.shape.begin());
  const uint64_t of_step = BytesOfStep(rows);
  const auto ranks = static_cast<uint64_t>(rows.contributions().count());
  last.data.resize(ranks * of_step);
  for (uint64_t rank = 0; rank < ranks && of_step > 0; ++rank) {
    std::memcpy(last.data.data() + rank * of_step,
                rows.data().data() + (rank + 1) * rows.bytes() - of_step,
                of_step);
  }
  return std::make_shared<const ArrayValue>(std::move(last),
                                            rows.contributions());
}

}  // namespace pathways
