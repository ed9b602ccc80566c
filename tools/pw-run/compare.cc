//===- compare.cc - Comparison of arrays within tolerances ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/compare.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {
namespace {

bool Matches(ElementType element, const char* got, const char* expected,
             const Tolerance& tolerance) {
  if (!IsFloat(element)) {
    return LoadInteger(element, got) == LoadInteger(element, expected);
  }
  double g = LoadFloat(element, got), e = LoadFloat(element, expected);
  if (std::isnan(g) || std::isnan(e)) return std::isnan(g) && std::isnan(e);
  if (g == e) return true;
  if (std::isinf(g) || std::isinf(e)) return false;
  return std::fabs(g - e) <= tolerance.atol + tolerance.rtol * std::fabs(e);
}

}  // namespace

Comparison Compare(const HostArray& got, const HostArray& expected,
                   const Tolerance& tolerance) {
  Comparison comparison;
  int64_t bytes = elementBytes(got.element), count = got.numElements();
  for (int64_t i = 0; i < count; ++i) {
    if (Matches(got.element, got.data.data() + i * bytes,
                expected.data.data() + i * bytes, tolerance)) {
      continue;
    }
    if (comparison.mismatches++ == 0) comparison.first = i;
  }
  return comparison;
}

std::string MismatchText(const std::string& name, const HostArray& got,
                         const HostArray& expected, const Tolerance& tolerance,
                         const Comparison& comparison) {
  int64_t offset = comparison.first * elementBytes(got.element);
  std::string text = absl::StrCat(
      name, IndexText(got.shape, comparison.first), ": got ",
      ElementText(got.element, got.data.data() + offset), ", expected ",
      ElementText(got.element, expected.data.data() + offset));
  if (IsFloat(got.element)) {
    absl::StrAppend(&text, " (rtol ", NumberText(tolerance.rtol), ", atol ",
                    NumberText(tolerance.atol), ")");
  }
  int64_t count = got.numElements();
  absl::StrAppend(&text, "; ", comparison.mismatches, " of ", count,
                  count == 1 ? " element differs" : " elements differ");
  return text;
}

}  // namespace pathways::pw_run
