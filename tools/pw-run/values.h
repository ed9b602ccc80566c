//===- values.h - Elements as numbers and as text ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tool needs to know about single elements: their value as a number,
// their text, and the reverse, with rounding to nearest even.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_VALUES_H_
#define TOOLS_PW_RUN_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/host_array.h"

namespace pathways::pw_run {

bool IsFloat(ElementType element);

// The value of a float at `data`.
double LoadFloat(ElementType element, const char* data);
// The value of an integer or boolean at `data`.
int64_t LoadInteger(ElementType element, const char* data);

// Store `value`, rounded to nearest even, or modulo the type's size.
void StoreFloat(ElementType element, double value, char* data);
void StoreInteger(ElementType element, int64_t value, char* data);

// Stores what `text` says: a number of the element's range, nan, inf or -inf
// for floats, true or false for i1. InvalidArgument otherwise.
absl::Status StoreText(ElementType element, absl::string_view text, char* data);

// The shortest text that reads back as the same value of the same type.
std::string ElementText(ElementType element, const char* data);
// The same for a double, e.g. a tolerance: "1e-05" is "1e-05".
std::string NumberText(double value);

// "[[1, 2], [3, 4]]"; "0.5" for a scalar. Of an array of more than
// `max_elements` only the first and last three along each dimension are shown,
// with "..." between, or "[...]" when even that is too much.
std::string ArrayText(const HostArray& array, int64_t max_elements);

// Takes away the first steps of a stepped array.
void DropSteps(int64_t steps, HostArray* array);

// "[1][2]", the place of the element with the row-major index `index`.
std::string IndexText(const std::vector<int64_t>& shape, int64_t index);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_VALUES_H_
