//===- poison_test.cc - Results that arith leaves undefined ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops have a vector body and a tail, and constants are folded. All of them
// must give the same results.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr int kCount = 77;

std::string typeOf(int bits) {
  return "tensor<" + std::to_string(kCount) + "xi" + std::to_string(bits) + ">";
}

/// Returns the message of the check with number `status` of `segment`.
std::string messageOf(Kernel &kernel, unsigned segment, int32_t status) {
  const auto &locations = kernel.code().segments[segment].locations;
  if (status < 1 || static_cast<size_t>(status) > locations.size())
    return "status " + std::to_string(status);
  EXPECT_THAT(locations[status - 1].where, HasSubstr("test.mlir:"));
  return locations[status - 1].message;
}

template <typename T> void checkShifts() {
  constexpr int bits = 8 * sizeof(T);
  SCOPED_TRACE(bits);
  using Unsigned = std::make_unsigned_t<T>;
  std::string text, type = typeOf(bits);
  for (const char *op : {"shli", "shrsi", "shrui"})
    text += std::string("func.func @") + op + "(%x: " + type + ", %n: " + type +
            ") -> " + type + " {\n  %r = arith." + op + " %x, %n : " + type +
            "\n  return %r : " + type + "\n}\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  auto xs = numbers<T>(kCount, 1, -100, 100);
  std::vector<T> ns;
  for (int i = 0; i < kCount; ++i)
    ns.push_back(i % bits);
  Buffer x = Buffer::of(xs), n = Buffer::of(ns), y(kCount * sizeof(T));
  for (unsigned segment = 0; segment < 3; ++segment) {
    SCOPED_TRACE(segment);
    ASSERT_EQ(kernel.run(segment, {&x, &n, &y}), 0);
    for (int i = 0; i < kCount; ++i) {
      T expected[] = {T(Unsigned(xs[i]) << ns[i]), T(xs[i] >> ns[i]),
                      T(Unsigned(xs[i]) >> ns[i])};
      ASSERT_EQ(y.as<T>()[i], expected[segment]) << i;
    }
    // Shift too far at each place in turn.
    for (int i = 0; i < kCount; ++i)
      for (T bad :
           {T(bits), T(bits + 1), T(-1), std::numeric_limits<T>::min()}) {
        std::vector<T> far = ns;
        far[i] = bad;
        Buffer amounts = Buffer::of(far);
        ASSERT_EQ(
            messageOf(kernel, segment, kernel.run(segment, {&x, &amounts, &y})),
            "shift of i" + std::to_string(bits) + " by " +
                std::to_string(bits) + " or more")
            << "element " << i << " by " << int64_t(bad);
      }
  }
}

TEST(KernelPoison, ShiftsByTheWidthFail) {
  checkShifts<int8_t>();
  checkShifts<int32_t>();
  checkShifts<int64_t>();
}

/// Constant shifts are no exception, and their check cannot be removed.
TEST(KernelPoison, ConstantShifts) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @far() -> tensor<2xi32> {
      %x = arith.constant dense<[1, 2]> : tensor<2xi32>
      %n = arith.constant dense<[40, 1]> : tensor<2xi32>
      %r = arith.shli %x, %n : tensor<2xi32>
      return %r : tensor<2xi32>
    }
    func.func @scalar() -> tensor<i32> {
      %x = arith.constant 1 : i32
      %n = arith.constant 32 : i32
      %r = arith.shrui %x, %n : i32
      %t = tensor.from_elements %r : tensor<i32>
      return %t : tensor<i32>
    }
    func.func @near() -> tensor<2xi32> {
      %x = arith.constant dense<[-8, 2]> : tensor<2xi32>
      %n = arith.constant dense<[2, 31]> : tensor<2xi32>
      %r = arith.shrsi %x, %n : tensor<2xi32>
      return %r : tensor<2xi32>
    }
    func.func @splat(%x: tensor<5xi8>) -> tensor<5xi8> {
      %n = arith.constant dense<7> : tensor<5xi8>
      %r = arith.shli %x, %n : tensor<5xi8>
      return %r : tensor<5xi8>
    }
    func.func @masked(%x: tensor<5xi64>, %n: tensor<5xi64>, %b: tensor<5xi1>) -> (tensor<5xi64>, tensor<5xi64>) {
      %m = arith.constant dense<63> : tensor<5xi64>
      %a = arith.andi %n, %m : tensor<5xi64>
      %r = arith.shrui %x, %a : tensor<5xi64>
      %e = arith.extui %b : tensor<5xi1> to tensor<5xi64>
      %s = arith.shli %x, %e : tensor<5xi64>
      return %r, %s : tensor<5xi64>, tensor<5xi64>
    })"))
      << kernel.errors();
  Buffer y(8);
  EXPECT_EQ(messageOf(kernel, 0, kernel.run(0, {&y})),
            "shift of i32 by 32 or more");
  EXPECT_EQ(messageOf(kernel, 1, kernel.run(1, {&y})),
            "shift of i32 by 32 or more");
  ASSERT_EQ(kernel.run(2, {&y}), 0);
  EXPECT_THAT(y.as<int32_t>(), ElementsAre(-2, 0));
  Buffer x = Buffer::of(std::vector<int8_t>{1, 2, 3, 4, -1}), z(5);
  ASSERT_EQ(kernel.run(3, {&x, &z}), 0);
  EXPECT_THAT(z.as<int8_t>(), ElementsAre(-128, 0, -128, 0, -128));
  Buffer v = Buffer::of(std::vector<int64_t>{-1, 2, 4, 8, 16}),
         n = Buffer::of(std::vector<int64_t>{127, 64, 65, -62, 3}),
         b = Buffer::of(std::vector<uint8_t>{0, 1, 1, 0, 1}), r(40), s(40);
  ASSERT_EQ(kernel.run(4, {&v, &n, &b, &r, &s}), 0);
  EXPECT_THAT(r.as<int64_t>(), ElementsAre(1, 2, 2, 2, 2));
  EXPECT_THAT(s.as<int64_t>(), ElementsAre(-1, 4, 8, 8, 32));
  for (unsigned segment : {2, 3, 4})
    EXPECT_TRUE(kernel.code().segments[segment].locations.empty()) << segment;
}

/// A constant amount is checked once, whatever the size of the tensor.
TEST(KernelPoison, ConstantShiftsOfAnySize) {
  for (int amount : {7, 8}) {
    const std::string type = "tensor<1099511627776xi8>";
    Kernel kernel;
    ASSERT_TRUE(kernel.compile("func.func @f(%x: " + type + ") -> " + type +
                               " {\n  %n = arith.constant dense<" +
                               std::to_string(amount) + "> : " + type +
                               "\n  %r = arith.shli %x, %n : " + type +
                               "\n  return %r : " + type + "\n}\n"))
        << kernel.errors();
    EXPECT_EQ(kernel.code().segments[0].locations.size(), amount == 8);
  }
}

/// If several shifts in one loop fail, the first one in the text is reported.
/// If a division fails before them, the division is reported. Shifts in bodies
/// of named ops are checked too.
TEST(KernelPoison, WhichShiftIsNamed) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @two(%x: tensor<77xi32>, %a: tensor<77xi32>, %b: tensor<77xi32>) -> tensor<77xi32> {
      %r = arith.shli %x, %a : tensor<77xi32>
      %s = arith.shrui %r, %b : tensor<77xi32>
      return %s : tensor<77xi32>
    }
    func.func @divided(%x: tensor<77xi32>, %a: tensor<77xi32>, %b: tensor<77xi32>) -> tensor<77xi32> {
      %r = arith.divui %x, %a : tensor<77xi32>
      %s = arith.shrui %r, %b : tensor<77xi32>
      return %s : tensor<77xi32>
    }
    func.func @mapped(%x: tensor<77xi32>, %a: tensor<77xi32>) -> tensor<77xi32> {
      %e = tensor.empty() : tensor<77xi32>
      %r = linalg.map { arith.shli } ins(%x, %a : tensor<77xi32>, tensor<77xi32>) outs(%e : tensor<77xi32>)
      return %r : tensor<77xi32>
    })"))
      << kernel.errors();
  auto run = [&](unsigned segment, std::vector<int32_t> a,
                 std::vector<int32_t> b) {
    a.resize(77, 1), b.resize(77, 1);
    Buffer x = Buffer::of(std::vector<int32_t>(77, 5)), m = Buffer::of(a),
           n = Buffer::of(b), y(77 * 4);
    int32_t status = segment == 2 ? kernel.run(segment, {&x, &m, &y})
                                  : kernel.run(segment, {&x, &m, &n, &y});
    if (status == 0)
      return std::string();
    const auto &location =
        kernel.code().segments[segment].locations[status - 1];
    return location.message + " at " + location.where;
  };
  const std::string shift = "shift of i32 by 32 or more at test.mlir:";
  EXPECT_EQ(run(0, {}, {}), "");
  EXPECT_EQ(run(0, {1, 32}, {}), shift + "3:12");
  EXPECT_EQ(run(0, {}, {32}), shift + "4:12");
  EXPECT_EQ(run(0, {1, 32}, {32}), shift + "3:12");
  EXPECT_EQ(run(1, {}, {}), "");
  EXPECT_EQ(run(1, {}, {1, 99}), shift + "9:12");
  EXPECT_EQ(run(1, {0}, {1, 99}), "integer division by zero at test.mlir:8:12");
  EXPECT_EQ(run(1, {1, 1, 0}, {1, 99}), shift + "9:12");
  EXPECT_EQ(run(2, {}, {}), "");
  EXPECT_THAT(run(2, {31, 32}, {}), HasSubstr(shift + "14:"));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Returns an integer of `bits` bits, as it is stored in memory.
int64_t saturated(long double value, int bits, bool isSigned) {
  if (std::isnan(value))
    return 0;
  long double end = std::ldexp(1.0L, isSigned ? bits - 1 : bits);
  long double whole = std::trunc(value);
  uint64_t most = isSigned ? 0 : 1;
  for (int bit = 1; bit < bits; ++bit)
    most = 2 * most + 1;
  uint64_t result = whole >= end                    ? most
                    : whole < (isSigned ? -end : 0) ? (isSigned ? ~most : 0)
                    : whole < 0                     ? uint64_t(int64_t(whole))
                                                    : uint64_t(whole);
  if (bits == 1)
    return result & 1;
  return int64_t(result << (64 - bits)) >> (64 - bits);
}

std::vector<long double> probes(int significand) {
  std::vector<long double> values = {0, NAN, INFINITY, 1, 0.5L, 1.5L, 2, 2.5L};
  for (int exponent : {1, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64, 100})
    for (int step : {-1, 0, 1})
      values.push_back(std::ldexp(1.0L, exponent) +
                       step * std::ldexp(1.0L, exponent - significand));
  for (size_t i = 0, e = values.size(); i < e; ++i)
    values.push_back(-values[i]);
  while (values.size() % 16 != 13)
    values.push_back(values.size());
  return values;
}

template <typename T>
void checkConversions(const std::string &from, int significand) {
  std::vector<T> xs;
  for (long double value : probes(significand))
    xs.push_back(static_cast<T>(value));
  std::string shape = "tensor<" + std::to_string(xs.size()) + "x", text, dense;
  for (T x : xs) {
    char hexadecimal[32];
    uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof(T));
    std::snprintf(hexadecimal, sizeof(hexadecimal), "0x%0*llX",
                  int(2 * sizeof(T)), (unsigned long long)bits);
    dense += (dense.empty() ? "" : ", ") + std::string(hexadecimal);
  }
  const int widths[] = {1, 8, 32, 64};
  for (const char *op : {"fptosi", "fptoui"})
    for (int width : widths) {
      std::string in = shape + from + ">",
                  out = shape + "i" + std::to_string(width) + ">",
                  name = std::string(op) + std::to_string(width),
                  convert = std::string("arith.") + op + " %x : " + in +
                            " to " + out + "\nreturn %r : " + out + "\n}\n";
      text += "func.func @" + name + "(%x: " + in + ") -> " + out +
              " {\n%r = " + convert;
      text += "func.func @" + name + "c() -> " + out +
              " {\n%x = arith.constant dense<[" + dense + "]> : " + in +
              "\n%r = " + convert;
    }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  Buffer x = Buffer::of(xs);
  unsigned segment = 0;
  for (bool isSigned : {true, false})
    for (int width : widths) {
      SCOPED_TRACE(testing::Message()
                   << from << " to " << (isSigned ? "signed " : "unsigned ")
                   << width);
      size_t size = std::max(width / 8, 1);
      Buffer y(xs.size() * size), c(xs.size() * size);
      ASSERT_EQ(kernel.run(segment++, {&x, &y}), 0);
      ASSERT_EQ(kernel.run(segment++, {&c}), 0);
      EXPECT_EQ(y.as<uint8_t>(), c.as<uint8_t>());
      auto bytes = y.as<uint8_t>();
      for (size_t i = 0; i < xs.size(); ++i) {
        int64_t expected = saturated(xs[i], width, isSigned);
        EXPECT_EQ(std::memcmp(&bytes[i * size], &expected, size), 0)
            << double(xs[i]) << " became " << int(bytes[i * size]) << "...";
      }
    }
}

TEST(KernelPoison, FloatsToIntegersSaturate) {
  checkConversions<float>("f32", 24);
  checkConversions<double>("f64", 53);
}

/// Inside a kernel these are conversions of f32, also in the body of a named
/// op.
TEST(KernelPoison, OtherConversionsSaturateToo) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @narrow(%x: tensor<4xf16>, %y: tensor<4xbf16>) -> (tensor<4xi8>, tensor<4xi64>) {
      %a = arith.fptosi %x : tensor<4xf16> to tensor<4xi8>
      %b = arith.fptoui %y : tensor<4xbf16> to tensor<4xi64>
      return %a, %b : tensor<4xi8>, tensor<4xi64>
    }
    func.func @product(%x: tensor<1x2xf32>, %y: tensor<2x1xf32>) -> tensor<1x1xi32> {
      %z = arith.constant dense<0> : tensor<1x1xi32>
      %r = linalg.matmul ins(%x, %y : tensor<1x2xf32>, tensor<2x1xf32>)
             outs(%z : tensor<1x1xi32>) -> tensor<1x1xi32>
      return %r : tensor<1x1xi32>
    })"))
      << kernel.errors();
  // 65504, -65504, NaN, -1.5; infinity, 2^100, -1, 3.
  Buffer x = Buffer::of(std::vector<uint16_t>{0x7bff, 0xfbff, 0x7e00, 0xbe00}),
         y = Buffer::of(std::vector<uint16_t>{0x7f80, 0x7180, 0xbf80, 0x4040}),
         a(4), b(32);
  ASSERT_EQ(kernel.run(0, {&x, &y, &a, &b}), 0);
  EXPECT_THAT(a.as<int8_t>(), ElementsAre(127, -128, 0, -1));
  EXPECT_THAT(b.as<int64_t>(), ElementsAre(-1, -1, 0, 3));
  Buffer l = Buffer::of(std::vector<float>{1e20f, NAN}),
         r = Buffer::of(std::vector<float>{1, 5}), p(4);
  ASSERT_EQ(kernel.run(1, {&l, &r, &p}), 0);
  EXPECT_THAT(p.as<int32_t>(), ElementsAre(INT32_MAX));
}

/// A broken promise not to overflow changes nothing.
TEST(KernelPoison, PromisesAreDropped) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<33xi32>) -> (tensor<33xi1>, tensor<33xi32>) {
      %c = arith.constant dense<1> : tensor<33xi32>
      %s = arith.addi %x, %c overflow<nsw, nuw> : tensor<33xi32>
      %g = arith.cmpi sgt, %s, %x : tensor<33xi32>
      %d = arith.shrui %x, %c exact : tensor<33xi32>
      %t = arith.shli %d, %c overflow<nuw> : tensor<33xi32>
      return %g, %t : tensor<33xi1>, tensor<33xi32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int32_t>(33, INT32_MAX)), g(33), t(132);
  ASSERT_EQ(kernel.run(0, {&x, &g, &t}), 0);
  EXPECT_THAT(g.as<uint8_t>(), Each(0));
  EXPECT_THAT(t.as<int32_t>(), Each(INT32_MAX - 1));
}

} // namespace
