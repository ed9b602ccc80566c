//===- random_kernel.cc - Random functions and their results --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "random_kernel.h"
#include "kernel_generator.h"

#include <cstring>
#include <sstream>

using namespace kernel_test;

RandomKernel kernel_test::makeRandomKernel(const std::string &name,
                                           uint64_t seed, View view, Mix mix,
                                           Accuracy accuracy) {
  setView(view);
  setAccuracy(accuracy);
  RandomKernel kernel = KernelGenerator(name, seed, view, mix).run();
  setView(View::Local);
  setAccuracy(Accuracy::EachOp);
  return kernel;
}

std::vector<uint8_t> Tensor::bytes() const {
  std::vector<uint8_t> bytes;
  auto append = [&](auto value) {
    const auto *begin = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  for (const Cell &cell : cells)
    switch (element) {
    case Element::I1:
    case Element::I8:
      append(int8_t(cell.integer));
      break;
    case Element::I16:
      append(int16_t(cell.integer));
      break;
    case Element::I32:
      append(int32_t(cell.integer));
      break;
    case Element::I64:
      append(cell.integer);
      break;
    case Element::F16:
    case Element::BF16:
      append(narrowBits(element, cell.real));
      break;
    case Element::F32:
      append(float(cell.real));
      break;
    case Element::F64:
      append(double(cell.real));
      break;
    }
  return bytes;
}

/// Returns the number in memory at `at`.
static long double valueOf(Element e, const uint8_t *at) {
  if (isNarrow(e)) {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return narrowValue(e, bits);
  }
  if (e == Element::F32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  double value;
  std::memcpy(&value, at, 8);
  return value;
}

/// Returns true if the stored number `got` can be the result of rounding
/// `real`, or a number within `error` of it.
static bool isWithin(Element e, long double real, long double error,
                     long double got) {
  if (std::isnan(real))
    return std::isnan(got);
  // narrow numbers are rounded once more when they are stored
  if (isNarrow(e)) {
    const long double low = narrowed(e, real - error),
                      high = narrowed(e, real + error);
    if (error != 0)
      return got >= low && got <= high;
    real = low;
  }
  if (error != 0)
    return std::fabs(got - real) <= error || got == real;
  return got == real && std::signbit(got) == std::signbit(real);
}

std::string kernel_test::difference(const Tensor &expected,
                                    const std::vector<uint8_t> &bytes) {
  Element e = expected.element;
  size_t size = std::max(widthOf(e) / 8, 1);
  for (size_t i = 0; i < expected.cells.size(); ++i) {
    const Cell &cell = expected.cells[i];
    std::ostringstream text;
    text << "element " << i << " of " << typeText(e, expected.shape) << ": ";
    const uint8_t *at = bytes.data() + i * size;
    if (!isFloat(e)) {
      uint64_t bits = 0;
      std::memcpy(&bits, at, size);
      int64_t got = e == Element::I1 ? int64_t(bits) : wrapped(e, bits);
      if (got == cell.integer)
        continue;
      text << "expected " << cell.integer << ", got " << got;
      return text.str();
    }
    const long double got = valueOf(e, at), error = 1.01L * cell.error;
    if (isWithin(e, cell.real, error, got))
      continue;
    text.precision(12);
    text << "expected " << cell.real << " within " << error << ", got " << got;
    return text.str();
  }
  return "";
}
