//===- narrow_float.h - f16 and bf16 as bits --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between f32 and the 16 bits of f16 and bf16. Widening is exact.
// Narrowing rounds to nearest even; values that are too large become infinite,
// and a NaN stays a NaN. The functions have no branches, so that loops over
// them are vectorized.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_NARROW_FLOAT_H_
#define RUNTIME_BASE_NARROW_FLOAT_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace pathways {

inline float FromBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

inline uint16_t ToBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<uint16_t>((is_nan ? bits | 0x400000 : rounded) >> 16);
}

inline float FromF16(uint16_t half) {
  const uint32_t sign = uint32_t{half} << 16 & 0x80000000;
  const uint32_t size = uint32_t{half} << 13 & 0x0fffe000;
  // The exponent is 112 too small, in normal and subnormal numbers alike.
  const float scaled = std::bit_cast<float>(size) * 0x1p112f;
  const bool is_finite = size < 0x0f800000;
  return std::bit_cast<float>(
      sign | (is_finite ? std::bit_cast<uint32_t>(scaled) : size | 0x7f800000));
}

inline uint16_t ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t size = bits & 0x7fffffff;
  // Adding 0.5 rounds correctly: its last place is that of the smallest halves.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
  const uint32_t normal =
      (size + 0xfff + ((size >> 13) & 1) - 0x38000000) >> 13;
  const uint32_t large = size > 0x7f800000 ? 0x7e00 : 0x7c00;
  const uint32_t half = size < 0x38800000    ? subnormal  // below 2^-14
                        : size >= 0x477ff000 ? large      // from 65520 on
                                             : normal;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | half);
}

// Returns `value` as an f32 that narrows further to the same result as `value`
// itself: an inexact result gets an odd last place, which is never halfway
// between two narrower values.
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::isnan(value) || nearest == value || (bits & 1) != 0) return nearest;
  return std::bit_cast<float>(std::fabs(nearest) < std::fabs(value) ? bits + 1
                                                                    : bits - 1);
}

}  // namespace pathways

#endif  // RUNTIME_BASE_NARROW_FLOAT_H_
