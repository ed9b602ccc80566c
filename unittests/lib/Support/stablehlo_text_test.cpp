//===- stablehlo_text_test.cpp - Text before it is parsed -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/StableHloText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "pathways/Support/Parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using mlir::pathways::describeUnreadable;
using mlir::pathways::looksLikeStableHlo;
using mlir::pathways::repackBoolConstants;
using testing::HasSubstr;

namespace {

TEST(StableHloTextTest, NamesOfDialectsAreStableHlo) {
  EXPECT_TRUE(looksLikeStableHlo("%0 = stablehlo.add %a, %a : tensor<f32>"));
  EXPECT_TRUE(looksLikeStableHlo("%0 = \"stablehlo.gather\"(%a, %b)"));
  EXPECT_TRUE(
      looksLikeStableHlo("module attributes {mhlo.num_replicas = 1 : i32} {}"));
  EXPECT_TRUE(looksLikeStableHlo("sdy.mesh @mesh = <[\"x\"=2]>"));
  EXPECT_TRUE(
      looksLikeStableHlo("{a = #stablehlo.conv<[b, f]x[i, o]->[b, f]>}"));
}

TEST(StableHloTextTest, OtherTextIsNotStableHlo) {
  EXPECT_FALSE(looksLikeStableHlo(""));
  EXPECT_FALSE(looksLikeStableHlo("func.func @f() { return }"));
  EXPECT_FALSE(looksLikeStableHlo("// stablehlo.add\nfunc.func @f()"));
  EXPECT_FALSE(
      looksLikeStableHlo("module attributes {a = \"stablehlo.add\"} {}"));
  EXPECT_FALSE(
      looksLikeStableHlo("module attributes {a = \"x\\\"stablehlo.add\"} {}"));
  EXPECT_FALSE(looksLikeStableHlo("my_stablehlo.add notmhlo.x a.sdy.b"));
  // A program of `pw` may have bodies of any dialect.
  EXPECT_FALSE(looksLikeStableHlo("stablehlo.add\npw.program @main() {}"));
  EXPECT_FALSE(looksLikeStableHlo("pw.program @main() {}\nstablehlo.add"));
  EXPECT_TRUE(looksLikeStableHlo("stablehlo.add // pw.program"));
}

TEST(StableHloTextTest, SerializedFormsAreNamed) {
  EXPECT_FALSE(describeUnreadable("stablehlo.add \"vhlo.x\" // vhlo.y"));
  EXPECT_THAT(*describeUnreadable("%0 = vhlo.add_v1 %a"),
              HasSubstr("got VHLO"));
  EXPECT_THAT(*describeUnreadable("%0 = \"vhlo.add_v1\"(%a)"),
              HasSubstr("got VHLO"));
  EXPECT_THAT(*describeUnreadable("ML\xefR\x06StableHLO_v1.9.0 vhlo"),
              HasSubstr("got bytecode"));
  // Bytecode of other programs can be read.
  EXPECT_FALSE(describeUnreadable("ML\xefR\x06MLIR22 pw"));
}

TEST(StableHloTextTest, BytesOfBoolsBecomeBits) {
  EXPECT_EQ(repackBoolConstants("a dense<\"0x0001\"> : tensor<2xi1> b"),
            "a dense<\"0x02\"> : tensor<2xi1> b");
  EXPECT_EQ(
      repackBoolConstants("dense<\"0x010000000000000001\">:tensor<3x3xi1>\n"
                          "dense<\"0x000100\">  :  tensor<1x3xi1>"),
      "dense<\"0x0101\">:tensor<3x3xi1>\n"
      "dense<\"0x02\">  :  tensor<1x3xi1>");
  // Any byte but zero is true, and letters are digits.
  EXPECT_EQ(repackBoolConstants("dense<\"0xFf10\"> : tensor<2xi1>"),
            "dense<\"0x03\"> : tensor<2xi1>");
}

TEST(StableHloTextTest, OtherConstantsStay) {
  for (const char *text :
       {"", "dense<true> : tensor<8xi1>", "dense<\"0x03\"> : tensor<2xi1>",
        "dense<\"0x01\"> : tensor<1xi1>", "dense<\"0x01\"> : tensor<i1>",
        "dense<\"0x0102\"> : tensor<2xi8>", "dense<\"0x0102\"> : tensor<?xi1>",
        "dense<\"0x010\"> : tensor<2xi1>", "dense<\"0x0102",
        "dense<\"0x0102\"> : tensor<99999999999999999999xi1>",
        "dense<\"0x0001\"> : tensor<4294967295x4294967295x2xi1>"})
    EXPECT_FALSE(repackBoolConstants(text)) << text;
}

/// Parses a module in a context with functions and returns its diagnostics.
std::string diagnose(llvm::StringRef text) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect>();
  std::string messages;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
  });
  (void)mlir::pathways::parseShielded(text, "t.mlir", &context);
  return messages;
}

TEST(StableHloTextTest, ParserPacksAndNames) {
  EXPECT_EQ(
      diagnose("module attributes {x.a = dense<\"0x0001\"> : tensor<2xi1>} {}"),
      "");
  EXPECT_THAT(diagnose("vhlo.func_v1 @f"), HasSubstr("got VHLO"));
}

TEST(StableHloTextTest, UnknownAttributesAreKeptWithARemark) {
  EXPECT_EQ(diagnose("module attributes {mhlo.a = 1, other.b = 2} {\n"
                     "  func.func private @f(i32 {other.c = 3})\n}"),
            "attributes of dialect 'mhlo' are kept and not read, for example "
            "'mhlo.a'\n"
            "attributes of dialect 'other' are kept and not read, for example "
            "'other.b'\n");
  // Programs of other dialects may attach what they like.
  EXPECT_EQ(diagnose("module attributes {other.b = 2} {}"), "");
}

} // namespace
