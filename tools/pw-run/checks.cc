//===- checks.cc - Comparison of results with expected results ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/checks.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {
namespace {

constexpr uint64_t kFar = UINT64_MAX;

// Returns a float's bits as a number that counts floats from zero.
int64_t PlaceOf(ElementType element, const char* data) {
  const int64_t bytes = elementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(bytes));  // little endian
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

bool Equals(ElementType element, const char* got, const char* want) {
  if (!IsFloat(element)) {
    return std::memcmp(got, want, static_cast<size_t>(elementBytes(element))) ==
           0;
  }
  const double g = LoadFloat(element, got), w = LoadFloat(element, want);
  return g == w || (std::isnan(g) && std::isnan(w));
}

bool Passes(ElementType element, const char* got, const char* want,
            const proto::Expectation& expect) {
  switch (expect.kind()) {
    case proto::Expectation::CLOSE: {
      const uint64_t distance = UlpDistance(element, got, want);
      return distance >= expect.min_ulp() && distance <= expect.max_ulp();
    }
    case proto::Expectation::ALMOST_EQ:
      return Equals(element, got, want) ||
             std::fabs(LoadFloat(element, got) - LoadFloat(element, want)) <=
                 expect.tolerance();
    default:
      return Equals(element, got, want);
  }
}

// Returns how far apart two elements are, and how far they may be.
std::string DistanceText(ElementType element, const char* got, const char* want,
                         const proto::Expectation& expect) {
  if (expect.kind() == proto::Expectation::CLOSE) {
    const uint64_t distance = UlpDistance(element, got, want);
    return absl::StrCat(
        ", ", distance == kFar ? "infinitely many" : absl::StrCat(distance),
        " units in the last place apart, expected ",
        expect.min_ulp() > 0 ? absl::StrCat(expect.min_ulp(), " to ")
                             : "at most ",
        expect.max_ulp());
  }
  if (!IsFloat(element)) return "";
  const double distance =
      std::fabs(LoadFloat(element, got) - LoadFloat(element, want));
  return absl::StrCat(
      ", ", NumberText(distance), " apart",
      expect.kind() == proto::Expectation::ALMOST_EQ
          ? absl::StrCat(", expected at most ", NumberText(expect.tolerance()))
          : "");
}

}  // namespace

int64_t NumChecks(const proto::Interface& interface) {
  int64_t checks = 0;
  for (const proto::Result& result : interface.results()) {
    checks += result.has_expect() ? 1 : 0;
  }
  return checks;
}

std::vector<bool> ResultsOfChecks(const proto::Interface& interface) {
  std::vector<bool> of_checks(interface.results_size());
  for (int i = 0; i < interface.results_size(); ++i) {
    if (!interface.results(i).has_expect()) continue;
    of_checks[i] = true;
    of_checks[interface.results(i).expect().result()] = true;
  }
  return of_checks;
}

uint64_t UlpDistance(ElementType element, const char* a, const char* b) {
  const double x = LoadFloat(element, a), y = LoadFloat(element, b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (x == y) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return kFar;
  const int64_t p = PlaceOf(element, a), q = PlaceOf(element, b);
  return p > q ? static_cast<uint64_t>(p) - static_cast<uint64_t>(q)
               : static_cast<uint64_t>(q) - static_cast<uint64_t>(p);
}

std::string WhyCheckFails(const std::string& name, const HostArray& got,
                          const HostArray& want,
                          const proto::Expectation& expect) {
  const int64_t bytes = elementBytes(got.element), count = got.numElements();
  int64_t failures = 0, first = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (Passes(got.element, got.data.data() + i * bytes,
               want.data.data() + i * bytes, expect)) {
      continue;
    }
    if (failures++ == 0) first = i;
  }
  if (failures == 0) return "";
  const char* g = got.data.data() + first * bytes;
  const char* w = want.data.data() + first * bytes;
  return absl::StrCat(
      name, IndexText(got.shape, first), ": got ", ElementText(got.element, g),
      ", expected ", ElementText(got.element, w),
      DistanceText(got.element, g, w, expect), "; ", failures, " of ", count,
      count == 1 ? " element differs" : " elements differ");
}

}  // namespace pathways::pw_run
