//===- tiles_test.cc - Kernels of products on matrix units ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which products they take is asked of any machine; they run where this one has
// AMX, and Linux lets us use it.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "runtime/kernel/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdint>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

bool hasTiles() {
  for (const std::string &feature : pathways::HostTarget().features())
    if (feature == "+amx-int8")
      return true;
  return false;
}

pathways::proto::Target tileTarget() {
  pathways::proto::Target target;
  target.set_triple("x86_64-unknown-linux-gnu");
  target.set_cpu("sapphirerapids");
  return target;
}

/// How the operands of a product are stored and read.
struct Form {
  bool turnsA = false, turnsB = false;
  bool isUnsignedA = false, isUnsignedB = false;
  int start = 0; ///< of the sums
  int batch = 1;
};

std::string tensor(std::vector<int> shape, const char *type) {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// Of a batch of products, as the body of @mm.
std::string productText(int m, int k, int n, const Form &form) {
  std::string A = tensor({form.batch, form.turnsA ? k : m, form.turnsA ? m : k},
                         "i8"),
              B = tensor({form.batch, form.turnsB ? n : k, form.turnsB ? k : n},
                         "i8"),
              C = tensor({form.batch, m, n}, "i32");
  auto extend = [](bool isUnsigned) {
    return isUnsigned ? "arith.extui" : "arith.extsi";
  };
  return "func.func @mm(%a: " + A + ", %b: " + B + ") -> " + C +
         " {\n  %z = arith.constant dense<" + std::to_string(form.start) +
         "> : " + C +
         "\n  %r = linalg.generic {indexing_maps = [affine_map<(b,m,n,k)->(b," +
         (form.turnsA ? "k,m" : "m,k") + ")>, affine_map<(b,m,n,k)->(b," +
         (form.turnsB ? "n,k" : "k,n") +
         ")>, affine_map<(b,m,n,k)->(b,m,n)>], iterator_types = [\"parallel\", "
         "\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " +
         A + ", " + B + ") outs(%z : " + C +
         ") {\n  ^bb0(%x: i8, %y: i8, %s: i32):\n    %xw = " +
         extend(form.isUnsignedA) +
         " %x : i8 to i32\n    %yw = " + extend(form.isUnsignedB) +
         " %y : i8 to i32\n    %p = arith.muli %xw, %yw : i32\n    %t = "
         "arith.addi %s, %p : i32\n    linalg.yield %t : i32\n  } -> " +
         C + "\n  return %r : " + C + "\n}\n";
}

void checkProduct(int m, int k, int n, const Form &form) {
  SCOPED_TRACE(testing::Message()
               << form.batch << "x" << m << "x" << k << "x" << n
               << (form.turnsA ? " ta" : "") << (form.turnsB ? " tb" : "")
               << (form.isUnsignedA ? " ua" : "")
               << (form.isUnsignedB ? " ub" : "") << " from " << form.start);
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(productText(m, k, n, form))) << kernel.errors();
  auto as = numbers<int8_t>(size_t(form.batch) * m * k, 31, -128, 128),
       bs = numbers<int8_t>(size_t(form.batch) * k * n, 32, -128, 128);
  for (int i = 0; i < std::min(k, 5); ++i)
    as[form.turnsA ? i * m : i] = bs[form.turnsB ? i : i * n] = -128;
  Buffer a = Buffer::of(as), b = Buffer::of(bs),
         c(size_t(form.batch) * m * n * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  auto cs = c.as<int32_t>();
  auto widened = [](int8_t value, bool isUnsigned) {
    return isUnsigned ? int32_t(uint8_t(value)) : int32_t(value);
  };
  for (int p = 0; p < form.batch; ++p)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        uint32_t sum = form.start;
        for (int l = 0; l < k; ++l)
          sum += widened(as[p * m * k + (form.turnsA ? l * m + i : i * k + l)],
                         form.isUnsignedA) *
                 widened(bs[p * k * n + (form.turnsB ? j * k + l : l * n + j)],
                         form.isUnsignedB);
        ASSERT_EQ(int32_t(sum), cs[(size_t(p) * m + i) * n + j])
            << p << ", " << i << ", " << j;
      }
}

TEST(KernelTiles, Bytes) {
  if (!hasTiles())
    GTEST_SKIP() << "no matrix unit for us";
  for (bool turnsA : {false, true})
    for (bool turnsB : {false, true}) {
      // One tile in part; edges of all kinds, k less than a step, a step and
      // no rest, a rest of each number of a group; blocks of steps.
      for (int k : {17, 18, 19, 64, 100, 128, 1095}) {
        checkProduct(9, k, 11, {turnsA, turnsB});
        checkProduct(37, k, 70, {turnsA, turnsB, false, false, 7});
      }
      checkProduct(16, 64, 16, {turnsA, turnsB});
      checkProduct(32, 1024, 64, {turnsA, turnsB});
      // Several blocks of rows.
      checkProduct(293, 130, 45, {turnsA, turnsB});
      checkProduct(21, 67, 39, {turnsA, turnsB, false, false, 3, 5});
    }
}

TEST(KernelTiles, Signs) {
  if (!hasTiles())
    GTEST_SKIP() << "no matrix unit for us";
  for (bool isUnsignedA : {false, true})
    for (bool isUnsignedB : {false, true})
      checkProduct(35, 70, 33, {false, false, isUnsignedA, isUnsignedB});
}

/// The way of the only op that computes.
std::string pathOf(const std::string &text,
                   const pathways::proto::Target &target) {
  Kernel kernel;
  EXPECT_TRUE(kernel.parse(text)) << kernel.errors();
  auto function = *kernel.module().getOps<mlir::func::FuncOp>().begin();
  auto paths = mlir::pathways::explainKernel({function}, target);
  EXPECT_TRUE(mlir::succeeded(paths)) << kernel.errors();
  for (const mlir::pathways::OpPath &path : *paths)
    if (path.op == "linalg.generic")
      return path.path;
  return "";
}

TEST(KernelTiles, AreTakenWhereTheyPayOff) {
  EXPECT_EQ(pathOf(productText(64, 64, 64, {}), tileTarget()),
            "product of tiles");
  EXPECT_EQ(pathOf(productText(64, 64, 64, {true, true}), tileTarget()),
            "product of tiles");
  EXPECT_EQ(pathOf(productText(4, 64, 64, {}), tileTarget()), "product");
  EXPECT_EQ(pathOf(productText(64, 8, 64, {}), tileTarget()), "product");
  pathways::proto::Target lesser = tileTarget();
  lesser.add_features("-amx-int8");
  EXPECT_EQ(pathOf(productText(64, 64, 64, {}), lesser), "product");
}

} // namespace
