//===- narrow_test.cc - f16 and bf16 in kernels ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace kernel_test;

namespace {

/// A format with `fraction` bits below the leading one and exponents from
/// `least` on.
struct Format {
  const char *name;
  int fraction, least, exponentBits;
};
const Format kHalf = {"f16", 10, -14, 5}, kBrain = {"bf16", 7, -126, 8};

double valueOf(const Format &format, uint16_t bits) {
  int top = (1 << format.exponentBits) - 1;
  int exponent = (bits >> format.fraction) & top;
  int fraction = bits & ((1 << format.fraction) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(fraction, format.least - format.fraction);
  return sign * std::ldexp(fraction + (1 << format.fraction),
                           format.least + exponent - 1 - format.fraction);
}

/// Rounds to nearest even, computed in double.
uint16_t roundTo(const Format &format, double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  int infinity = ((1 << format.exponentBits) - 1) << format.fraction;
  if (std::isinf(size))
    return sign | infinity;
  int exponent = format.least;
  if (size >= std::ldexp(1.0, format.least))
    exponent = std::ilogb(size);
  // Round in units of the last place. A carry increments the exponent.
  int units = std::nearbyint(std::ldexp(size, format.fraction - exponent));
  int bits = ((exponent - format.least) << format.fraction) + units;
  return sign | std::min(bits, infinity);
}

std::string conversions(const std::string &type) {
  return "func.func @widen(%x: tensor<65536x" + type +
         ">) -> tensor<65536xf32> {\n"
         "  %r = arith.extf %x : tensor<65536x" +
         type +
         "> to tensor<65536xf32>\n"
         "  return %r : tensor<65536xf32>\n}\n"
         "func.func @round(%x: tensor<262144xf32>) -> tensor<262144x" +
         type +
         "> {\n"
         "  %r = arith.truncf %x : tensor<262144xf32> to tensor<262144x" +
         type +
         ">\n"
         "  return %r : tensor<262144x" +
         type + ">\n}\n";
}

/// Returns this machine's kind with another `cpu`; the usual target if it is
/// empty.
pathways::proto::Target targetOf(const std::string &cpu) {
  pathways::proto::Target target;
  if (!cpu.empty()) {
    target.set_triple(pathways::HostTarget().triple());
    target.set_cpu(cpu);
  }
  return target;
}

/// Tests every number of the format, and a number between it and the next.
void checkConversions(const Format &format, const std::string &cpu) {
  SCOPED_TRACE(testing::Message() << format.name << " on '" << cpu << "'");
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(conversions(format.name), {targetOf(cpu)}))
      << kernel.errors();
  std::vector<uint16_t> all(65536);
  for (int i = 0; i < 65536; ++i)
    all[i] = i;
  Buffer x = Buffer::of(all), y(65536 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  auto wide = y.as<float>();
  std::vector<float> probes;
  for (int i = 0; i < 65536; ++i) {
    double expected = valueOf(format, i);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i])) << i;
      probes.insert(probes.end(), 4, NAN);
      continue;
    }
    ASSERT_EQ(wide[i], expected) << i;
    ASSERT_EQ(std::signbit(wide[i]), (i & 0x8000) != 0) << i;
    double next = i % 0x8000 + 1 < 0x8000 ? valueOf(format, i + 1) : expected;
    float middle = std::isfinite(next) ? float((expected + next) / 2) : wide[i];
    probes.insert(probes.end(),
                  {wide[i], middle, std::nextafter(middle, INFINITY),
                   std::nextafter(middle, -INFINITY)});
  }
  Buffer p = Buffer::of(probes), q(probes.size() * 2);
  ASSERT_EQ(kernel.run(1, {&p, &q}), 0);
  auto rounded = q.as<uint16_t>();
  for (size_t i = 0; i < probes.size(); ++i) {
    if (std::isnan(probes[i]))
      ASSERT_TRUE(std::isnan(valueOf(format, rounded[i]))) << i;
    else
      ASSERT_EQ(rounded[i], roundTo(format, probes[i])) << probes[i];
  }
}

TEST(KernelNarrow, EveryNumber) {
  checkConversions(kHalf, "");
  checkConversions(kBrain, "");
#if defined(__x86_64__)
  // This target has no instructions for the conversions.
  checkConversions(kHalf, "x86-64");
  checkConversions(kBrain, "x86-64");
#endif
}

std::vector<uint16_t> narrowNumbers(const Format &format, size_t count,
                                    unsigned seed) {
  std::vector<uint16_t> bits;
  for (float value : numbers<float>(count, seed))
    bits.push_back(roundTo(format, value));
  return bits;
}

/// A whole chain rounds once, unless the body asks for more roundings.
TEST(KernelNarrow, RoundsWhenStored) {
  for (const Format &format : {kHalf, kBrain}) {
    SCOPED_TRACE(format.name);
    std::string t = std::string("tensor<1003x") + format.name + ">",
                f = format.name;
    Kernel kernel;
    ASSERT_TRUE(kernel.compile("func.func @chain(%x: " + t + ", %y: " + t +
                               ") -> " + t +
                               " {\n"
                               "  %c = arith.constant dense<0.3125> : " +
                               t +
                               "\n"
                               "  %0 = arith.mulf %x, %y : " +
                               t + "\n  %1 = arith.addf %0, %c : " + t +
                               "\n"
                               "  %2 = arith.subf %1, %x : " +
                               t + "\n  return %2 : " + t +
                               "\n}\n"
                               "func.func @asked(%x: " +
                               t + ", %y: " + t +
                               ") -> tensor<1003xf32> {\n"
                               "  %a = arith.extf %x : " +
                               t +
                               " to tensor<1003xf32>\n"
                               "  %b = arith.extf %y : " +
                               t +
                               " to tensor<1003xf32>\n"
                               "  %0 = arith.mulf %a, %b : tensor<1003xf32>\n"
                               "  %1 = arith.truncf %0 : tensor<1003xf32> to " +
                               t +
                               "\n"
                               "  %2 = arith.extf %1 : " +
                               t +
                               " to tensor<1003xf32>\n"
                               "  return %2 : tensor<1003xf32>\n}\n"
                               "func.func @same(%x: " +
                               t + ", %y: " + t + ") -> " + t +
                               " {\n"
                               "  return %y : " +
                               t + "\n}\n"))
        << kernel.errors();
    auto xs = narrowNumbers(format, 1003, 3),
         ys = narrowNumbers(format, 1003, 4);
    Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(1003 * 2), w(1003 * 4);
    ASSERT_EQ(kernel.run(0, {&x, &y, &z}), 0);
    ASSERT_EQ(kernel.run(1, {&x, &y, &w}), 0);
    for (int i = 0; i < 1003; ++i) {
      float a = valueOf(format, xs[i]), b = valueOf(format, ys[i]);
      volatile float product = a * b, sum = product + 0.3125f, all = sum - a;
      ASSERT_EQ(z.as<uint16_t>()[i], roundTo(format, all)) << i;
      ASSERT_EQ(w.as<float>()[i], valueOf(format, roundTo(format, product)))
          << i;
    }
    ASSERT_EQ(kernel.run(2, {&x, &y, &z}), 0);
    EXPECT_EQ(z.as<uint16_t>(), ys);
  }
}

/// A conversion to an integer type and the rounding when the result is stored
/// become one operation.
TEST(KernelNarrow, Integers) {
  for (const char *type : {"f16", "bf16"}) {
    std::string text = R"(
      func.func @f(%x: tensor<300xi32>) -> (tensor<300xT>, tensor<300xT>, tensor<300xi32>) {
        %e = tensor.empty() : tensor<300xT>
        %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            outs(%e : tensor<300xT>) {
        ^bb0(%o: T):
          %i = linalg.index 0 : index
          %c = arith.index_cast %i : index to i32
          %f = arith.sitofp %c : i32 to T
          linalg.yield %f : T
        } -> tensor<300xT>
        %u = arith.uitofp %x : tensor<300xi32> to tensor<300xT>
        %s = arith.fptosi %u : tensor<300xT> to tensor<300xi32>
        return %n, %u, %s : tensor<300xT>, tensor<300xT>, tensor<300xi32>
      })";
    for (size_t at; (at = text.find("xT>")) != std::string::npos;)
      text.replace(at + 1, 1, type);
    for (size_t at; (at = text.find(" T")) != std::string::npos;)
      text.replace(at + 1, 1, type);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
    std::vector<int32_t> xs(300);
    for (int i = 0; i < 300; ++i)
      xs[i] = i;
    Buffer x = Buffer::of(xs), n(600), u(600), s(1200);
    ASSERT_EQ(kernel.run(0, {&x, &n, &u, &s}), 0);
    EXPECT_EQ(n.as<uint16_t>(), u.as<uint16_t>());
    for (int i = 0; i <= 256; ++i) // exact in both
      ASSERT_EQ(s.as<int32_t>()[i], i);
  }
}

/// A number that was rounded from f64 to f32 gives its sign to a number that is
/// rounded to f16. There are two roundings, for scalars too.
TEST(KernelNarrow, SignsOfWhatWasRounded) {
  auto textOf = [](const std::string &type) {
    return "func.func @f(%x: tensor<" + type + "f16>) -> (tensor<" + type +
           "f16>, tensor<" + type + "f16>) {\n  %c = math.cos %x : tensor<" +
           type + "f16>\n  %e = math.erf %c : tensor<" + type +
           "f16>\n  return %c, %e : tensor<" + type + "f16>, tensor<" + type +
           "f16>\n}\n";
  };
  const std::vector<uint16_t> xs = narrowNumbers(kHalf, 64, 7);
  std::vector<std::string> cpus = {""};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3"))
    cpus.push_back("x86-64-v3");
#endif
  for (const std::string &cpu : cpus) {
    SCOPED_TRACE(cpu);
    const pathways::proto::Target target = targetOf(cpu);
    Kernel many, one;
    ASSERT_TRUE(many.compile(textOf("64x"), {target})) << many.errors();
    ASSERT_TRUE(one.compile(textOf(""), {target})) << one.errors();
    Buffer x = Buffer::of(xs), c(64 * 2), e(64 * 2);
    ASSERT_EQ(many.run(0, {&x, &c, &e}), 0);
    for (int i = 0; i < 64; ++i) {
      Buffer x1 = Buffer::of(std::vector<uint16_t>{xs[i]}), c1(2), e1(2);
      ASSERT_EQ(one.run(0, {&x1, &c1, &e1}), 0);
      double value = valueOf(kHalf, xs[i]);
      EXPECT_EQ(c1.as<uint16_t>()[0], roundTo(kHalf, float(std::cos(value))));
      EXPECT_EQ(c1.as<uint16_t>()[0], c.as<uint16_t>()[i]);
      EXPECT_EQ(e1.as<uint16_t>()[0], e.as<uint16_t>()[i]);
    }
  }
}

/// Replaces each name T in `text` by `type`.
std::string withType(std::string text, const std::string &type) {
  for (const char *before : {"x", " ", "("})
    for (const char *after : {">", " ", "\n", ",", ")"})
      for (size_t at; (at = text.find(std::string(before) + "T" + after)) !=
                      std::string::npos;)
        text.replace(at + 1, 1, type);
  return text;
}

/// The bits of a stored number, and back, on tensors and in bodies: those of a
/// NaN, too.
TEST(KernelNarrow, BitsOfEveryNumber) {
  for (const char *type : {"f16", "bf16"}) {
    SCOPED_TRACE(type);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(withType(R"(
      func.func @bits(%x: tensor<65536xT>) -> tensor<65536xi16> {
        %r = arith.bitcast %x : tensor<65536xT> to tensor<65536xi16>
        return %r : tensor<65536xi16>
      }
      func.func @number(%x: tensor<65536xi16>) -> tensor<65536xT> {
        %e = tensor.empty() : tensor<65536xT>
        %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%x : tensor<65536xi16>) outs(%e : tensor<65536xT>) {
        ^bb0(%b: i16, %o: T):
          %v = arith.bitcast %b : i16 to T
          linalg.yield %v : T
        } -> tensor<65536xT>
        return %r : tensor<65536xT>
      })",
                                        type)))
        << kernel.errors();
    std::vector<uint16_t> all(65536);
    for (int i = 0; i < 65536; ++i)
      all[i] = i;
    const Format &format = type[0] == 'f' ? kHalf : kBrain;
    for (unsigned segment : {0, 1}) {
      Buffer x = Buffer::of(all), y(65536 * 2);
      ASSERT_EQ(kernel.run(segment, {&x, &y}), 0);
      auto bits = y.as<uint16_t>();
      for (int i = 0; i < 65536; ++i) {
        if (std::isnan(valueOf(format, i)))
          ASSERT_TRUE(std::isnan(valueOf(format, bits[i]))) << i;
        else
          ASSERT_EQ(bits[i], i);
      }
    }
  }
}

/// A number that a body computed is rounded before its bits are taken.
TEST(KernelNarrow, BitsAreThoseOfTheRoundedNumber) {
  for (const Format &format : {kHalf, kBrain}) {
    SCOPED_TRACE(format.name);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(withType(R"(
      func.func @f(%x: tensor<1003xT>, %y: tensor<1003xT>) -> (tensor<1003xi16>, tensor<1003xT>) {
        %0 = arith.mulf %x, %y : tensor<1003xT>
        %1 = arith.bitcast %0 : tensor<1003xT> to tensor<1003xi16>
        %c = arith.constant dense<1> : tensor<1003xi16>
        %2 = arith.addi %1, %c : tensor<1003xi16>
        %3 = arith.bitcast %2 : tensor<1003xi16> to tensor<1003xT>
        return %1, %3 : tensor<1003xi16>, tensor<1003xT>
      })",
                                        format.name)))
        << kernel.errors();
    auto xs = narrowNumbers(format, 1003, 3),
         ys = narrowNumbers(format, 1003, 4);
    Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(1003 * 2), w(1003 * 2);
    ASSERT_EQ(kernel.run(0, {&x, &y, &z, &w}), 0);
    for (int i = 0; i < 1003; ++i) {
      volatile float product =
          float(valueOf(format, xs[i])) * float(valueOf(format, ys[i]));
      ASSERT_EQ(z.as<uint16_t>()[i], roundTo(format, product)) << i;
      ASSERT_EQ(w.as<uint16_t>()[i], roundTo(format, product) + 1) << i;
    }
  }
}

/// Constants with different elements that are returned, moved, or read by
/// operations other than a widening.
TEST(KernelNarrow, ConstantsOfDifferentElements) {
  for (const Format &format : {kHalf, kBrain}) {
    SCOPED_TRACE(format.name);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(withType(R"(
      func.func @f(%x: tensor<2x2xT>) -> (tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xi16>) {
        %c = arith.constant dense<[[1.0, -2.0], [3.5, -4.0]]> : tensor<2x2xT>
        %i = arith.constant dense<"0x0100FF7F00800A00"> : tensor<2x2xi16>
        %e = tensor.empty() : tensor<2x2xT>
        %t = linalg.transpose ins(%c : tensor<2x2xT>) outs(%e : tensor<2x2xT>) permutation = [1, 0]
        %a = math.absf %c : tensor<2x2xT>
        %m = arith.maximumf %x, %c : tensor<2x2xT>
        return %c, %t, %a, %m, %i : tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xT>, tensor<2x2xi16>
      })",
                                        format.name)))
        << kernel.errors();
    auto rounded = [&](std::vector<double> values) {
      std::vector<uint16_t> bits;
      for (double value : values)
        bits.push_back(roundTo(format, value));
      return bits;
    };
    Buffer x = Buffer::of(rounded({0, 0, 5, 5})), c(8), t(8), a(8), m(8), i(8);
    ASSERT_EQ(kernel.run(0, {&x, &c, &t, &a, &m, &i}), 0);
    EXPECT_EQ(c.as<uint16_t>(), rounded({1, -2, 3.5, -4}));
    EXPECT_EQ(t.as<uint16_t>(), rounded({1, 3.5, -2, -4}));
    EXPECT_EQ(a.as<uint16_t>(), rounded({1, 2, 3.5, 4}));
    EXPECT_EQ(m.as<uint16_t>(), rounded({1, 0, 5, 5}));
    EXPECT_EQ(i.as<int16_t>(), (std::vector<int16_t>{1, 32767, -32768, 10}));
  }
}

/// Sums are computed in f32, whatever type the operands are stored in.
TEST(KernelNarrow, Products) {
  const int m = 37, k = 700, n = 45;
  for (const Format &format : {kHalf, kBrain}) {
    SCOPED_TRACE(format.name);
    std::string f = format.name, A = "tensor<37x700x" + f + ">",
                B = "tensor<700x45x" + f + ">";
    std::string text;
    for (std::string out : {f, std::string("f32")})
      text += "func.func @mm_" + out + "(%a: " + A + ", %b: " + B +
              ") -> tensor<37x45x" + out +
              "> {\n  %z = arith.constant dense<0.0> : tensor<37x45x" + out +
              ">\n  %r = linalg.matmul ins(%a, %b : " + A + ", " + B +
              ") outs(%z : tensor<37x45x" + out + ">) -> tensor<37x45x" + out +
              ">\n  return %r : tensor<37x45x" + out + ">\n}\n";
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
    auto as = narrowNumbers(format, m * k, 5),
         bs = narrowNumbers(format, k * n, 6);
    Buffer a = Buffer::of(as), b = Buffer::of(bs), c(m * n * 2), d(m * n * 4);
    ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
    ASSERT_EQ(kernel.run(1, {&a, &b, &d}), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum +=
              valueOf(format, as[i * k + l]) * valueOf(format, bs[l * n + j]);
        float wide = d.as<float>()[i * n + j];
        ASSERT_NEAR(wide, sum, 1e-4);
        ASSERT_EQ(c.as<uint16_t>()[i * n + j], roundTo(format, wide));
      }
  }
}

} // namespace
