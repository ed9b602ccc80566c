//===- value_views.h - Parts of values in memory ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_VALUE_VIEWS_H_
#define RUNTIME_CLIENT_VALUE_VIEWS_H_

#include <cstdint>
#include <vector>

#include "runtime/client/array_value.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// Returns `bytes` of a value in memory, from `offset` on, as an array of these
// contributions. The bytes are not copied.
SharedValue Borrow(const SharedValue& value, std::vector<int64_t> shape,
                   uint64_t offset, uint64_t bytes,
                   layout::Contributions contributions = {});

// Returns the value for a put that is not charged to the client's memory; it
// can be put any number of times.
SharedValue Whole(const SharedValue& value);

// Returns the bytes of one step of each contribution to a stepped array.
uint64_t BytesOfStep(const ArrayValue& stepped);

// Returns the shape of a stepped array with another number of steps.
std::vector<int64_t> WithSteps(std::vector<int64_t> shape, int64_t steps);

// Returns a copy of the last step of a stepped array in memory, with its
// contributions. There must be a step.
SharedValue LastStepOf(const ArrayValue& rows);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_VALUE_VIEWS_H_
