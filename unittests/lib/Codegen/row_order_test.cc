//===- row_order_test.cc - Order of sums in row loops ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PATHWAYS_TEST_SEED chooses other forms.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "lib/Codegen/Prepare/RowGroup.h"

#include "unittests/random_cases.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <limits>
#include <map>
#include <random>

using namespace kernel_test;

namespace {

/// A sum over k and l of `a`, or of products of `a` and `b`. Has the size of
/// each operand and the letters of its dimensions, which are among b, m, n, k,
/// l.
struct Form {
  std::vector<int> a, b, c;
  std::string dimsOfA, dimsOfB, dimsOfC;
  bool isProduct = true;
};

std::string tensorOf(llvm::ArrayRef<int> shape) {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

size_t countOf(llvm::ArrayRef<int> shape) {
  return llvm::product_of(shape, size_t(1));
}

/// Returns the op that computes %p from %a, %b and %z.
std::string sumOf(const Form &form) {
  std::string loops, kinds;
  for (char c : {'b', 'm', 'n', 'k', 'l'})
    if ((form.dimsOfA + form.dimsOfB).find(c) != std::string::npos) {
      loops += (loops.empty() ? "" : ", ") + std::string(1, c);
      bool isSummed = form.dimsOfC.find(c) == std::string::npos;
      kinds += std::string(kinds.empty() ? "" : ", ") +
               (isSummed ? "\"reduction\"" : "\"parallel\"");
    }
  auto map = [&](const std::string &dims) {
    std::string list;
    for (char c : dims)
      list += (list.empty() ? "" : ", ") + std::string(1, c);
    return "affine_map<(" + loops + ") -> (" + list + ")>";
  };
  const std::string A = tensorOf(form.a), B = tensorOf(form.b),
                    C = tensorOf(form.c);
  const bool two = form.isProduct;
  return "  %p = linalg.generic {indexing_maps = [" + map(form.dimsOfA) +
         (two ? ", " + map(form.dimsOfB) : "") + ", " + map(form.dimsOfC) +
         "], iterator_types = [" + kinds + "]} ins(%a" + (two ? ", %b" : "") +
         " : " + A + (two ? ", " + B : "") + ") outs(%z : " + C +
         ") {\n  ^bb0(%x: f32, " + (two ? "%y: f32, " : "") + "%sum: f32):\n" +
         (two ? "    %xy = arith.mulf %x, %y : f32\n" : "") +
         "    %s = arith.addf %sum, " + (two ? "%xy" : "%x") +
         " : f32\n    linalg.yield %s : f32\n  } -> " + C + "\n";
}

/// Writes a value equal to %`from` row by row: no element exceeds the largest
/// one of its row.
std::string rowsOf(const std::string &to, const std::string &from,
                   llvm::ArrayRef<int> shape) {
  const std::string T = tensorOf(shape), R = tensorOf(shape.drop_back()),
                    d = std::to_string(shape.size() - 1);
  return "  %low" + to + " = arith.constant dense<0xFF800000> : " + R +
         "\n  %none" + to + " = tensor.empty() : " + T + "\n  %most" + to +
         " = linalg.reduce { arith.maximumf } ins(%" + from + " : " + T +
         ") outs(%low" + to + " : " + R + ") dimensions = [" + d +
         "]\n  %wide" + to + " = linalg.broadcast ins(%most" + to + " : " + R +
         ") outs(%none" + to + " : " + T + ") dimensions = [" + d + "]\n  %" +
         to + " = arith.minimumf %" + from + ", %wide" + to + " : " + T + "\n";
}

/// Makes row loops in blocks of `rows` rows wherever possible; 0 makes none.
void limitRows(int64_t rows) {
  mlir::pathways::kernel::rowLimits() = {
      .leastBytes = rows > 0 ? 1 : std::numeric_limits<int64_t>::max(),
      .leastBlock = rows,
      .mostBlock = rows,
      .fewRows = rows};
}

/// A sum has the same bits by itself as in a loop that computes some of its
/// rows, or some of the summed rows, at a time. (A sum that is no product has
/// the ops before it computed in its own loop, where broadcast operands keep
/// dimensions apart.)
void expectSameBits(const Form &form, int64_t rows) {
  const std::string A = tensorOf(form.a), B = tensorOf(form.b),
                    C = tensorOf(form.c);
  SCOPED_TRACE(A + " " + form.dimsOfA + ", " + B + " " + form.dimsOfB + ": " +
               C + " " + form.dimsOfC + (form.isProduct ? "" : " of a alone"));
  const std::string sum =
      "  %z = arith.constant dense<0.0> : " + C + "\n" + sumOf(form);
  auto function = [&](const std::string &name, const std::string &a,
                      const std::string &body, const std::string &result) {
    return "func.func @" + name + "(%" + a + ": " + A + ", %b: " + B + ") -> " +
           C + " {\n" + body + "  return %" + result + " : " + C + "\n}\n";
  };
  const std::string front = rowsOf("a", "made", form.a),
                    behind = rowsOf("r", "p", form.c);
  const std::string text = function("alone", "a", sum, "p") +
                           function("behind", "a", sum + behind, "r") +
                           function("front", "made", front + sum, "p") +
                           function("both", "made", front + sum + behind, "r");
  Buffer a = Buffer::of(numbers<float>(countOf(form.a), 1)),
         b = Buffer::of(numbers<float>(countOf(form.b), 2));
  std::vector<std::vector<uint32_t>> results;
  for (int64_t limit : {int64_t(0), rows}) {
    limitRows(limit);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
    for (int i = 0; i < 4; ++i) {
      Buffer c(countOf(form.c) * 4);
      ASSERT_EQ(kernel.run(i, {&a, &b, &c}), 0);
      results.push_back(c.as<uint32_t>());
    }
  }
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(results[i], results[form.isProduct || i % 4 < 2 ? 0 : 2])
        << "in function " << i;
}

/// The bits are the same for all shapes, with a single row or many.
TEST(KernelRowOrder, ProductsInALoopHaveTheBitsOfThoseAlone) {
  const Form forms[] = {
      {{64, 1, 128}, {64, 96, 128}, {64, 1, 96}, "bmk", "bnk", "bmn"},
      {{1, 128}, {300, 96, 128}, {1, 300, 96}, "mk", "bnk", "mbn"},
      {{512, 1, 128}, {64, 128}, {512, 1, 64}, "bmk", "nk", "bmn"},
      {{200, 1, 128}, {96, 128}, {200, 1, 96}, "bmk", "nk", "bmn"},
      {{257, 128}, {96, 128}, {257, 96}, "mk", "nk", "mn"},
      {{5, 129, 40}, {5, 90, 40}, {5, 129, 90}, "bmk", "bnk", "bmn"},
  };
  for (const Form &form : forms)
    expectSameBits(form, 64);
  mlir::pathways::kernel::rowLimits() = {};
}

/// Tests dimensions in any order, also of one element, cut into few rows.
TEST(KernelRowOrder, SumsOfAnyForm) {
  const unsigned seed = pathways::TestSeed(20261126);
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 120; ++i) {
    std::map<char, int> sizes = {{'k', random() % 4 ? 40 : 3},
                                 {'l', random() % 2 ? 1 : 5}};
    for (char c : {'b', 'm', 'n'})
      sizes[c] = random() % 2 ? 1 : random() % 4 ? 5 + random() % 4 : 20;
    Form form;
    form.isProduct = random() % 4;
    form.dimsOfA = "k", form.dimsOfB = "k";
    for (char c : {'b', 'm', 'n', 'l'})
      if (random() % 3)
        form.dimsOfA += c;
    for (char c : {'b', 'm', 'n', 'l'})
      if (form.isProduct && random() % 3)
        form.dimsOfB += c;
    for (char c : {'b', 'm', 'n'})
      if ((form.dimsOfA + form.dimsOfB).find(c) != std::string::npos)
        form.dimsOfC += c;
    if (form.dimsOfC.empty())
      continue;
    for (auto [dims, shape] : {std::pair(&form.dimsOfA, &form.a),
                               {&form.dimsOfB, &form.b},
                               {&form.dimsOfC, &form.c}}) {
      std::shuffle(dims->begin(), dims->end(), random);
      for (char c : *dims)
        shape->push_back(sizes[c]);
    }
    expectSameBits(form, 2 + i % 4);
  }
  mlir::pathways::kernel::rowLimits() = {};
}

} // namespace
