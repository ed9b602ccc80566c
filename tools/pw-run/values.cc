//===- values.cc - Elements as numbers and as text ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/narrow_float.h"

namespace pathways::pw_run {
namespace {

// Elements printed of an array that is not printed whole.
constexpr int64_t kMaxShown = 10000;

template <typename T>
T Load(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <typename T>
void Store(T value, char* data) {
  std::memcpy(data, &value, sizeof value);
}

double Widen(ElementType element, uint16_t bits) {
  return element == ElementType::kF16 ? FromF16(bits) : FromBF16(bits);
}

// Calls function(T()) with the type T whose values are the integers or booleans
// of `element`.
template <typename Function>
auto WithInteger(ElementType element, const Function& function) {
  switch (element) {
    case ElementType::kI16:
      return function(int16_t{});
    case ElementType::kI32:
      return function(int32_t{});
    case ElementType::kI64:
      return function(int64_t{});
    case ElementType::kUI8:
      return function(uint8_t{});
    case ElementType::kUI16:
      return function(uint16_t{});
    case ElementType::kUI32:
      return function(uint32_t{});
    case ElementType::kUI64:
      return function(uint64_t{});
    default:  // i8 and i1
      return function(int8_t{});
  }
}

uint16_t Narrow(ElementType element, double value) {
  const float once = RoundToOdd(value);
  return element == ElementType::kF16 ? ToF16(once) : ToBF16(once);
}

// Writes "1e+20" and "nan" like to_chars, but without the sign of a NaN, which
// has no meaning here.
template <typename T>
std::string FloatText(T value) {
  if (std::isnan(value)) return "nan";
  char text[64];
  std::to_chars_result result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

// Returns text like "1.5e+01" for 15.2 with 2 digits.
std::string Scientific(double value, int digits) {
  char text[64];
  std::to_chars_result result =
      std::to_chars(text, text + sizeof text, value,
                    std::chars_format::scientific, digits - 1);
  return std::string(text, result.ptr);
}

int ExponentOf(const std::string& scientific) {
  const char* digits = scientific.c_str() + scientific.find('e') + 1;
  return static_cast<int>(std::strtol(digits, nullptr, 10));
}

double Number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Returns the fewest digits that round to the same 16 bits. The nearest digits
// may not: above a power of two the neighbours are farther than below.
std::string ShortestScientific(ElementType element, uint16_t bits) {
  const double value = Widen(element, bits);
  for (int digits = 1;; ++digits) {
    std::string nearest = Scientific(value, digits);
    const double back = Number(nearest);
    if (Narrow(element, back) == bits) return nearest;
    const double unit = std::pow(10, ExponentOf(nearest) - (digits - 1));
    std::string other =
        Scientific(back < value ? back + unit : back - unit, digits);
    if (Narrow(element, Number(other)) == bits) return other;
  }
}

// Returns what to_chars would, if it supported 16-bit types: the shorter of two
// texts, one of them without an exponent, which is exact for whole numbers.
std::string Text16(ElementType element, uint16_t bits) {
  const double value = Widen(element, bits);
  if (!std::isfinite(value)) return FloatText(value);
  const std::string scientific = ShortestScientific(element, bits);
  double shown = value;
  int decimals = 0;
  if (value != std::trunc(value)) {
    shown = Number(scientific);
    // One decimal for each digit after the point, shifted by the exponent.
    const size_t end = scientific.find('e'), point = scientific.find('.');
    const int behind = point < end ? static_cast<int>(end - point) - 1 : 0;
    decimals = std::max(0, behind - ExponentOf(scientific));
  }
  char text[128];
  std::to_chars_result result = std::to_chars(
      text, text + sizeof text, shown, std::chars_format::fixed, decimals);
  const std::string fixed(text, result.ptr);
  return fixed.size() <= scientific.size() ? fixed : scientific;
}

absl::Status DoesNotFit(ElementType element, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' does not fit ", elementName(element)));
}

template <typename T>
absl::Status Parse(ElementType element, absl::string_view text, T* value) {
  absl::string_view digits = text;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  std::from_chars_result result = std::from_chars(digits.data(), end, *value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not a number of type ", elementName(element)));
  }
  if (result.ec != std::errc()) return DoesNotFit(element, text);
  return absl::OkStatus();
}

void AppendElements(const HostArray& array, bool all, size_t dim,
                    int64_t* element, int64_t step, std::string* text) {
  int64_t bytes = elementBytes(array.element);
  if (dim == array.shape.size()) {
    *text += ElementText(array.element, array.data.data() + *element * bytes);
    *element += 1;
    return;
  }
  int64_t extent = array.shape[dim];
  int64_t inner = extent == 0 ? 0 : step / extent;
  *text += "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (i > 0) *text += ", ";
    if (!all && extent > 6 && i == 3) {
      *text += "..., ";
      i = extent - 3;
      *element += inner * (extent - 6);
    }
    AppendElements(array, all, dim + 1, element, inner, text);
  }
  *text += "]";
}

}  // namespace

bool IsFloat(ElementType element) {
  return element == ElementType::kF16 || element == ElementType::kBF16 ||
         element == ElementType::kF32 || element == ElementType::kF64;
}

bool IsUnsigned(ElementType element) {
  return element >= ElementType::kUI8 && element <= ElementType::kUI64;
}

double LoadFloat(ElementType element, const char* data) {
  if (element == ElementType::kF32) return Load<float>(data);
  if (element == ElementType::kF64) return Load<double>(data);
  return Widen(element, Load<uint16_t>(data));
}

int64_t LoadInteger(ElementType element, const char* data) {
  return WithInteger(element, [&](auto type) {
    return static_cast<int64_t>(Load<decltype(type)>(data));
  });
}

void StoreFloat(ElementType element, double value, char* data) {
  if (element == ElementType::kF32) {
    Store(static_cast<float>(value), data);
  } else if (element == ElementType::kF64) {
    Store(value, data);
  } else {
    Store(Narrow(element, value), data);
  }
}

void StoreInteger(ElementType element, int64_t value, char* data) {
  if (element == ElementType::kI1) value &= 1;
  WithInteger(element, [&](auto type) {
    Store(static_cast<decltype(type)>(value), data);
  });
}

absl::Status StoreText(ElementType element, absl::string_view text,
                       char* data) {
  if (element == ElementType::kF32) {
    // Parsed as float, since a double would round twice.
    float value = 0;
    if (absl::Status s = Parse(element, text, &value); !s.ok()) return s;
    Store(value, data);
    return absl::OkStatus();
  }
  if (IsFloat(element)) {
    double value = 0;
    if (absl::Status s = Parse(element, text, &value); !s.ok()) return s;
    StoreFloat(element, value, data);
    if (std::isfinite(value) && !std::isfinite(LoadFloat(element, data))) {
      return DoesNotFit(element, text);
    }
    return absl::OkStatus();
  }
  if (element == ElementType::kI1 && (text == "true" || text == "false")) {
    StoreInteger(element, text == "true", data);
    return absl::OkStatus();
  }
  if (element == ElementType::kUI64 && !absl::StartsWith(text, "-")) {
    uint64_t value = 0;
    if (absl::Status s = Parse(element, text, &value); !s.ok()) return s;
    Store(value, data);
    return absl::OkStatus();
  }
  int64_t value = 0;
  if (absl::Status s = Parse(element, text, &value); !s.ok()) return s;
  StoreInteger(element, value, data);
  if (LoadInteger(element, data) != value ||
      (value < 0 && IsUnsigned(element))) {
    return DoesNotFit(element, text);
  }
  return absl::OkStatus();
}

std::string ElementText(ElementType element, const char* data) {
  if (element == ElementType::kF32) return FloatText(Load<float>(data));
  if (element == ElementType::kF64) return FloatText(Load<double>(data));
  if (IsFloat(element)) {
    return Text16(element, Load<uint16_t>(data));
  }
  if (element == ElementType::kI1) {
    return LoadInteger(element, data) != 0 ? "true" : "false";
  }
  return WithInteger(element, [&](auto type) {
    return std::to_string(Load<decltype(type)>(data));
  });
}

std::string NumberText(double value) { return FloatText(value); }

std::string ArrayText(const HostArray& array, int64_t max_elements) {
  // Counts the elements to print for any mix of extents: small dimensions are
  // never cut, and empty arrays may have huge ones.
  int64_t count = array.numElements();
  bool all = count > 0 ? count <= max_elements : true;
  int64_t shown = 1;
  for (int64_t extent : array.shape) {
    shown *=
        all ? std::max<int64_t>(extent, 1) : std::clamp<int64_t>(extent, 1, 6);
    if (shown > (count > 0 && all ? count : kMaxShown)) return "[...]";
  }
  std::string text;
  int64_t element = 0;
  AppendElements(array, all, 0, &element, count, &text);
  return text;
}

void DropSteps(int64_t steps, HostArray* array) {
  const size_t of_step =
      array->data.size() / static_cast<size_t>(array->shape[0]);
  array->shape[0] -= steps;
  array->data.erase(
      array->data.begin(),
      array->data.begin() + static_cast<ptrdiff_t>(of_step) * steps);
}

std::string IndexText(const std::vector<int64_t>& shape, int64_t index) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = absl::StrCat("[", index % shape[d], "]", text);
    index /= shape[d];
  }
  return text;
}

}  // namespace pathways::pw_run
