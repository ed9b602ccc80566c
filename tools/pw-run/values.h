//===- values.h - Elements as numbers and as text ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions of single elements to numbers and to text and back, with rounding
// to nearest even.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_VALUES_H_
#define TOOLS_PW_RUN_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"

namespace pathways::pw_run {

bool IsFloat(ElementType element);
bool IsUnsigned(ElementType element);

// Returns the value of a float at `data`.
double LoadFloat(ElementType element, const char* data);
// Returns the value of an integer or boolean at `data`, modulo 2^64 for ui64.
int64_t LoadInteger(ElementType element, const char* data);

// Both store `value`: the first rounded to nearest even, the second modulo the
// type's size.
void StoreFloat(ElementType element, double value, char* data);
void StoreInteger(ElementType element, int64_t value, char* data);

// Stores the value of `text`: a number of the element's range, nan, inf or -inf
// for floats, true or false for i1. Returns InvalidArgument for other texts.
absl::Status StoreText(ElementType element, absl::string_view text, char* data);

// Returns the shortest text that reads back as the same value of the same type.
std::string ElementText(ElementType element, const char* data);
// Returns such a text for a double, e.g. a tolerance: "1e-05" for 1e-05.
std::string NumberText(double value);

// Returns text like "[[1, 2], [3, 4]]", or "0.5" for a scalar. For more than
// `max_elements` elements, only the first and last three along each dimension
// are shown, with "..." between, or "[...]" if even that is too much.
std::string ArrayText(const HostArray& array, int64_t max_elements);

// Removes the first `steps` steps of a stepped array.
void DropSteps(int64_t steps, HostArray* array);

// Returns text like "[1][2]" for the element with the row-major index `index`.
std::string IndexText(const std::vector<int64_t>& shape, int64_t index);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_VALUES_H_
