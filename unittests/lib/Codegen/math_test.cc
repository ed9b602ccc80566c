//===- math_test.cc - Errors of functions of f32 --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the errors of functions in kernels in units in the last place, on a
// sample that is new each time, or, with PATHWAYS_TEST_ALL_FLOATS=1, on all
// f32. PATHWAYS_TEST_SEED repeats a sample.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>
#include <thread>

using namespace kernel_test;

namespace {

constexpr uint32_t kBatch = 1 << 16;
constexpr uint64_t kFloats = uint64_t{1} << 32;
constexpr uint64_t kSample = uint64_t{1} << 21;

/// A function with the bound that docs/kernels.md states.
struct Function {
  const char *name;
  const char *body; ///< body that computes %r from %x
  double (*truth)(double);
  double bound; ///< units in the last place
  /// Operands below this are skipped: the bound is not stated for them.
  double least = -INFINITY;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

#define UNARY(name) "%r = math." name " %x : T\n"
const Function kFunctions[] = {
    {"exp", UNARY("exp"), std::exp, 1.03},
    {"log", UNARY("log"), std::log, 0.501},
    {"sin", UNARY("sin"), std::sin, 0.501},
    {"cos", UNARY("cos"), std::cos, 0.501},
    {"tanh", UNARY("tanh"), std::tanh, 5},
    {"erf", UNARY("erf"), std::erf, 4},
    {"sqrt", UNARY("sqrt"), std::sqrt, 0.5},
    {"rsqrt", UNARY("rsqrt"), rsqrt, 1.5},
    {"sigmoid",
     "%one = arith.constant dense<1.0> : T\n"
     "%n = arith.negf %x : T\n"
     "%e = math.exp %n : T\n"
     "%s = arith.addf %one, %e : T\n"
     "%r = arith.divf %one, %s : T\n",
     sigmoid, 2.5, -88},
};

uint64_t chooseSeed() {
  const char *text = std::getenv("PATHWAYS_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : std::random_device()();
}

float ofBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Returns a function on tensors of kBatch elements of `element`.
std::string textOf(const Function &function, const std::string &element) {
  std::string type = "tensor<" + std::to_string(kBatch) + "x" + element + ">";
  std::string text = std::string("func.func @") + function.name +
                     "(%x: " + type + ") -> " + type + " {\n";
  for (const char *at = function.body; *at; ++at)
    text += *at == 'T' ? type : std::string(1, *at);
  return text + "return %r : " + type + "\n}\n";
}

/// Returns the unit in the last place of a number that has `digits` bits and
/// the least exponent `least`.
double unitOf(double value, int digits, int least) {
  int exponent = value == 0 ? least : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, least) - digits + 1);
}

/// Returns the distance of `got` from `truth`. It is infinite if only one is
/// NaN, or if an exact result is required and `got` differs.
double errorOf(float got, double truth) {
  if (std::isnan(truth) || std::isnan(got))
    return std::isnan(truth) && std::isnan(got) ? 0 : INFINITY;
  float rounded = static_cast<float>(truth);
  if (got == rounded)
    // The sign of zeros must match, too.
    return got != 0 || std::signbit(got) == std::signbit(truth)
               ? std::isinf(got)
                     ? 0
                     : std::fabs(got - truth) / unitOf(truth, 24, -126)
               : INFINITY;
  // infinity and the largest number may be neighbors
  if (std::isinf(got) || std::isinf(rounded))
    return std::fabs(truth) > 0x1.fffffp127 && std::fabs(got) > 0x1.fffffp127
               ? 1
               : INFINITY;
  return std::fabs(got - truth) / unitOf(truth, 24, -126);
}

/// The largest error over `count` floats from `first` on, `step` apart.
struct Worst {
  double error = 0;
  float at = 0, got = 0;
  void take(float x, float y, double truth) {
    double own = errorOf(y, truth);
    if (own > error)
      error = own, at = x, got = y;
  }
};

Worst measure(Kernel &kernel, unsigned segment, const Function &function,
              const std::vector<float> &xs) {
  Worst worst;
  Buffer x = Buffer::of(xs), y(kBatch * 4);
  if (kernel.run(segment, {&x, &y}) != 0)
    return {INFINITY, 0, 0};
  std::vector<float> ys = y.as<float>();
  for (uint32_t i = 0; i < kBatch; ++i)
    if (!(xs[i] < function.least))
      worst.take(xs[i], ys[i], function.truth(xs[i]));
  return worst;
}

class KernelMathOfF32 : public testing::TestWithParam<Function> {};

TEST_P(KernelMathOfF32, IsWithinItsBoundOfTheTruth) {
  const Function &function = GetParam();
  const bool isAll = std::getenv("PATHWAYS_TEST_ALL_FLOATS") != nullptr;
  const uint64_t seed = chooseSeed();
  if (!isAll)
    std::cout << "PATHWAYS_TEST_SEED=" << seed << "\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(textOf(function, "f32"))) << kernel.errors();
  const uint64_t batches = (isAll ? kFloats : kSample) / kBatch;
  const unsigned numThreads =
      isAll ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  std::vector<Worst> parts(numThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(seed));
      std::vector<float> xs(kBatch);
      for (uint64_t batch = t; batch < batches; batch += numThreads) {
        for (uint32_t i = 0; i < kBatch; ++i)
          xs[i] = ofBits(isAll ? uint32_t(batch * kBatch + i) : random());
        // Include the ends of ranges and their neighbors.
        const float ends[] = {0.0f, 1.0f, INFINITY, 0x1p-126f, 0x1p127f, NAN};
        if (!isAll && batch == 0)
          for (uint32_t i = 0; i < 6 * 16; ++i) {
            uint32_t bits;
            std::memcpy(&bits, &ends[i / 16], 4);
            xs[i] = ofBits((bits + i % 8 - 4) ^ (i % 16 < 8 ? 0 : 1u << 31));
          }
        Worst worst = measure(kernel, 0, function, xs);
        if (worst.error > parts[t].error)
          parts[t] = worst;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  Worst worst;
  for (const Worst &part : parts)
    if (part.error > worst.error)
      worst = part;
  std::printf("%s: %.4f units in the last place at %a\n", function.name,
              worst.error, worst.at);
  EXPECT_LE(worst.error, function.bound)
      << function.name << "(" << worst.at << ") gave " << worst.got
      << ", expected " << function.truth(worst.at);
}

INSTANTIATE_TEST_SUITE_P(, KernelMathOfF32, testing::ValuesIn(kFunctions),
                         [](const testing::TestParamInfo<Function> &info)
                             -> std::string { return info.param.name; });

/// Tests all numbers of a format of 16 bits, computed in f32 and rounded once.
TEST(KernelMath, NarrowFloatsAreRoundedOnce) {
  struct Format {
    const char *name;
    /// bits of the significand, exponent of the least number
    int digits, least;
  };
  for (Format format : {Format{"f16", 11, -14}, Format{"bf16", 8, -126}}) {
    SCOPED_TRACE(format.name);
    bool isHalf = format.digits == 11;
    auto widen = [&](uint16_t bits) -> double {
      if (!isHalf)
        return ofBits(uint32_t{bits} << 16);
      int exponent = bits >> 10 & 31, fraction = bits & 1023;
      double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                    : exponent == 0
                        ? std::ldexp(fraction, -24)
                        : std::ldexp(1024 + fraction, exponent - 25);
      return bits >> 15 ? -size : size;
    };
    std::string text;
    for (const Function &function : kFunctions)
      text += textOf(function, format.name);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
    std::vector<uint16_t> xs(kBatch);
    for (uint32_t i = 0; i < kBatch; ++i)
      xs[i] = static_cast<uint16_t>(i);
    const double most =
        std::ldexp(2 - std::ldexp(1, 1 - format.digits), isHalf ? 15 : 127);
    for (size_t f = 0; f < std::size(kFunctions); ++f) {
      const Function &function = kFunctions[f];
      Buffer x = Buffer::of(xs), y(kBatch * 2);
      ASSERT_EQ(kernel.run(f, {&x, &y}), 0);
      std::vector<uint16_t> ys = y.as<uint16_t>();
      // Half a unit, plus the error of f32 in these larger units.
      double bound =
          0.5 + function.bound * std::ldexp(1, format.digits - 24) * 2;
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (widen(xs[i]) < function.least)
          continue;
        double truth = function.truth(widen(xs[i])), got = widen(ys[i]);
        if (std::isnan(truth) || std::isnan(got)) {
          ASSERT_EQ(std::isnan(truth), std::isnan(got)) << function.name << i;
          continue;
        }
        double unit = unitOf(truth, format.digits, format.least);
        if (std::isinf(got) || std::fabs(truth) > most) {
          ASSERT_GE(std::fabs(truth),
                    most + 0.49 * unitOf(most, format.digits, format.least))
              << function.name << " of " << widen(xs[i]);
          continue;
        }
        ASSERT_LE(std::fabs(got - truth) / unit, bound)
            << function.name << "(" << widen(xs[i]) << ") gave " << got
            << ", expected " << truth;
      }
    }
  }
}

TEST(KernelMath, PowIsRoundedOnce) {
  const uint64_t seed = chooseSeed();
  std::cout << "PATHWAYS_TEST_SEED=" << seed << "\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<65536xf32>, %y: tensor<65536xf32>) -> tensor<65536xf32> {
      %r = math.powf %x, %y : tensor<65536xf32>
      return %r : tensor<65536xf32>
    })"))
      << kernel.errors();
  std::mt19937 random(static_cast<uint32_t>(seed));
  const float special[] = {
      0.0f,     1.0f,      0.5f,           2.0f,         3.0f,    1.5f,
      1e-45f,   0x1p-126f, 0x1p24f,        0x1p24f - 1,  0x1p31f, 1e38f,
      INFINITY, NAN,       0x1.fffffep-1f, 0x1.000002p0f};
  const bool isAll = std::getenv("PATHWAYS_TEST_ALL_FLOATS") != nullptr;
  Worst worst;
  for (int batch = 0; batch < (isAll ? 10000 : 32); ++batch) {
    std::vector<float> xs(kBatch), ys(kBatch);
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (batch == 0) { // all pairs of special numbers, with all signs
        uint32_t signs = i >> 8 & 3;
        xs[i] = special[i & 15] * (signs & 1 ? -1.0f : 1.0f);
        ys[i] = special[i >> 4 & 15] * (signs & 2 ? -1.0f : 1.0f);
      } else if (batch % 4 == 1) { // any two numbers
        xs[i] = ofBits(random()), ys[i] = ofBits(random());
      } else if (batch % 4 == 2) { // small integer powers of either sign
        xs[i] = ofBits(random());
        ys[i] = static_cast<float>(int(random() % 41) - 20);
      } else { // results that are neither 0 nor infinite
        xs[i] = ofBits(random() & 0x7fffffff);
        float log = std::log2(xs[i]);
        ys[i] = (float(random()) / 0x1p31f - 1) * 150 / log;
      }
    }
    Buffer x = Buffer::of(xs), y = Buffer::of(ys), r(kBatch * 4);
    ASSERT_EQ(kernel.run(0, {&x, &y, &r}), 0);
    std::vector<float> rs = r.as<float>();
    for (uint32_t i = 0; i < kBatch; ++i) {
      worst.take(xs[i], rs[i], std::pow(double(xs[i]), double(ys[i])));
      ASSERT_LE(worst.error, 0.501)
          << "pow(" << xs[i] << ", " << ys[i] << ") gave " << rs[i];
    }
  }
  std::printf("pow      %.4f units in the last place\n", worst.error);
}

} // namespace
