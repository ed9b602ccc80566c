//===- padding_mask_test.cpp - Masks of padding ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the padding of both operands is zero, a sum of their products does not
// change; no other sum has this property. Each test drops one of its
// conditions.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/PaddingMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Lowering/Passes.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

class PaddingMaskTest : public testing::Test {
protected:
  PaddingMaskTest() : context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPathwaysLoweringDialects(registry);
    return registry;
  }

  /// Returns the first linalg op in `text`. It is valid until the next call.
  linalg::LinalgOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    linalg::LinalgOp found;
    if (module)
      module->walk([&](linalg::LinalgOp op) { found = op; });
    EXPECT_TRUE(found) << text;
    return found;
  }

  /// Returns a sum over its second loop, the last one, with the body `body`.
  /// Its inputs are %a and %b of `type`, with `maps`, and the sum so far is %s
  /// of `sum`.
  linalg::LinalgOp
  parseSum(const std::string &body, const std::string &type = "f32",
           const std::string &sum = "f32",
           const std::string &maps = "affine_map<(i, k) -> (i, k)>, "
                                     "affine_map<(i, k) -> (i, k)>") {
    return parse("func.func @f(%x: tensor<4x5x" + type + ">, %y: tensor<4x5x" +
                 type + ">, %v: tensor<5x" + type + ">, %u: tensor<4x" + type +
                 ">, %z: tensor<4x" + sum +
                 ">, %n: f32) {\n  linalg.generic {indexing_maps = [" + maps +
                 ", affine_map<(i, k) -> (i)>], iterator_types = "
                 "[\"parallel\", \"reduction\"]}" +
                 body + "\nreturn\n}");
  }

  static std::string
  bodyOf(const std::string &statements, const std::string &type = "f32",
         const std::string &sum = "f32",
         const std::string &inputs = "%x, %y : tensor<4x5xT>, tensor<4x5xT>") {
    std::string typed = inputs;
    for (size_t at; (at = typed.find("xT>")) != std::string::npos;)
      typed.replace(at + 1, 1, type);
    return " ins(" + typed + ") outs(%z : tensor<4x" + sum +
           ">) {\n^bb0(%a: " + type + ", %b: " + type + ", %s: " + sum +
           "):\n" + statements + "} -> tensor<4x" + sum + ">";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr char kProducts[] = R"(
  %p = arith.mulf %a, %b : f32
  %r = arith.addf %s, %p : f32
  linalg.yield %r : f32
)";

TEST_F(PaddingMaskTest, SumsOfProducts) {
  EXPECT_TRUE(addsProducts(parseSum(bodyOf(kProducts)), {1}));
  // The operands of the sum, and of the product, are exchanged.
  EXPECT_TRUE(addsProducts(parseSum(bodyOf(R"(
    %p = arith.mulf %b, %a : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  )")),
                           {1}));
  EXPECT_TRUE(addsProducts(parseSum(bodyOf(R"(
    %p = arith.muli %a, %b : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  )",
                                           "i32", "i32"),
                                    "i32", "i32"),
                           {1}));
}

/// Widening a zero gives a zero; other ops may not.
TEST_F(PaddingMaskTest, OperandsThatAreWidened) {
  auto widened = [&](const std::string &op, const std::string &from,
                     const std::string &to) {
    const std::string kind = to[0] == 'f' ? "f" : "i";
    return addsProducts(
        parseSum(bodyOf("%c = arith." + op + " %a : " + from + " to " + to +
                            "\n%d = arith." + op + " %b : " + from + " to " +
                            to + "\n%p = arith.mul" + kind + " %c, %d : " + to +
                            "\n%r = arith.add" + kind + " %s, %p : " + to +
                            "\nlinalg.yield %r : " + to + "\n",
                        from, to),
                 from, to),
        {1});
  };
  EXPECT_TRUE(widened("extf", "f16", "f32"));
  EXPECT_TRUE(widened("extsi", "i8", "i32"));
  EXPECT_TRUE(widened("extui", "i8", "i32"));
  EXPECT_FALSE(widened("truncf", "f64", "f32"));
  // It is enough that one of the two makes a zero nonzero.
  for (const char *product : {"%e, %b", "%b, %e"})
    EXPECT_FALSE(addsProducts(parseSum(bodyOf(R"(
      %e = math.exp %a : f32
      %p = arith.mulf )" + std::string(product) +
                                              R"( : f32
      %r = arith.addf %s, %p : f32
      linalg.yield %r : f32
    )")),
                              {1}));
}

TEST_F(PaddingMaskTest, NoSum) {
  EXPECT_FALSE(addsProducts(parseSum(bodyOf(R"(
    %p = arith.mulf %a, %b : f32
    %r = arith.maximumf %s, %p : f32
    linalg.yield %r : f32
  )")),
                            {1}));
  // The yielded value is the result of no op.
  EXPECT_FALSE(addsProducts(parseSum(bodyOf("linalg.yield %s : f32\n")), {1}));
}

TEST_F(PaddingMaskTest, NoProducts) {
  for (const char *term :
       {"%t = arith.addf %a, %b : f32", "%t = arith.maximumf %a, %b : f32",
        "%t = math.exp %a : f32"})
    EXPECT_FALSE(addsProducts(parseSum(bodyOf(std::string(term) + R"(
      %r = arith.addf %s, %t : f32
      linalg.yield %r : f32
    )")),
                              {1}))
        << term;
  EXPECT_FALSE(addsProducts(parseSum(bodyOf(R"(
    %r = arith.addf %s, %a : f32
    linalg.yield %r : f32
  )")),
                            {1}));
}

/// In these products the padding is not that of two operands: the product is
/// not zero, or the other factor is not masked.
TEST_F(PaddingMaskTest, ProductsOfOthers) {
  for (const char *factors :
       {"%a, %a", "%b, %b", "%a, %s", "%s, %b", "%a, %n", "%n, %b"})
    EXPECT_FALSE(addsProducts(
        parseSum(bodyOf("%p = arith.mulf " + std::string(factors) + R"( : f32
      %r = arith.addf %s, %p : f32
      linalg.yield %r : f32
    )")),
        {1}))
        << factors;
}

TEST_F(PaddingMaskTest, OneOrThreeInputs) {
  EXPECT_FALSE(addsProducts(parse(R"(
    func.func @f(%x: tensor<4x5xf32>, %z: tensor<4xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<4x5xf32>) outs(%z : tensor<4xf32>) {
      ^bb0(%a: f32, %s: f32):
        %p = arith.mulf %a, %a : f32
        %r = arith.addf %s, %p : f32
        linalg.yield %r : f32
      } -> tensor<4xf32>
      return
    })"),
                            {1}));
  // The third operand is not multiplied, but may be more than two masks cover.
  EXPECT_FALSE(addsProducts(parse(R"(
    func.func @f(%x: tensor<4x5xf32>, %z: tensor<4xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>,
                                       affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x, %x, %x : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) outs(%z : tensor<4xf32>) {
      ^bb0(%c: f32, %a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %r = arith.addf %s, %p : f32
        linalg.yield %r : f32
      } -> tensor<4xf32>
      return
    })"),
                            {1}));
}

/// The second sum is of another value.
TEST_F(PaddingMaskTest, TwoResults) {
  EXPECT_FALSE(addsProducts(parse(R"(
    func.func @f(%x: tensor<4x5xf32>, %z: tensor<4xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>,
                                       affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%z, %z : tensor<4xf32>, tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32, %t: f32):
        %p = arith.mulf %a, %b : f32
        %r = arith.addf %s, %p : f32
        %e = math.exp %a : f32
        %q = arith.addf %t, %e : f32
        linalg.yield %r, %q : f32, f32
      } -> (tensor<4xf32>, tensor<4xf32>)
      return
    })"),
                            {1}));
}

/// The factor comes from outside of the op: it is a block argument, but not one
/// of the op.
TEST_F(PaddingMaskTest, FactorsFromOutside) {
  for (const char *factors : {"%a, %m", "%m, %a"})
    EXPECT_FALSE(addsProducts(parse(R"(
    func.func @f(%x: tensor<4x5xf32>, %z: tensor<4xf32>, %l: index, %m0: f32) {
      %r = scf.for %i = %l to %l step %l iter_args(%m = %m0) -> f32 {
        linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                        iterator_types = ["parallel", "reduction"]}
            ins(%x, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%z : tensor<4xf32>) {
        ^bb0(%a: f32, %b: f32, %s: f32):
          %p = arith.mulf )" + std::string(factors) +
                                    R"( : f32
          %r = arith.addf %s, %p : f32
          linalg.yield %r : f32
        } -> tensor<4xf32>
        scf.yield %m : f32
      }
      return
    })"),
                              {1}))
        << factors;
}

/// In a loop that only one operand has, its zero padding meets elements of the
/// other operand that are no padding and may be infinite.
TEST_F(PaddingMaskTest, LoopsThatOneOperandLacks) {
  const std::string first = "%u, %y : tensor<4xT>, tensor<4x5xT>",
                    second = "%x, %u : tensor<4x5xT>, tensor<4xT>";
  EXPECT_FALSE(addsProducts(
      parseSum(bodyOf(kProducts, "f32", "f32", first), "f32", "f32",
               "affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i, k)>"),
      {1}));
  EXPECT_FALSE(addsProducts(
      parseSum(bodyOf(kProducts, "f32", "f32", second), "f32", "f32",
               "affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>"),
      {1}));
  // Both operands have the loop with padding.
  linalg::LinalgOp op = parseSum(
      bodyOf(kProducts, "f32", "f32", "%x, %v : tensor<4x5xT>, tensor<5xT>"),
      "f32", "f32", "affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>");
  EXPECT_TRUE(addsProducts(op, {1}));
  EXPECT_FALSE(addsProducts(op, {0, 1}));
  EXPECT_FALSE(addsProducts(op, {1, 0}));
}

} // namespace
} // namespace mlir::pathways
