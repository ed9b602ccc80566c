//===- parse_test.cpp - Texts that crash MLIR -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/Parse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <thread>

using mlir::pathways::Parsed;
using mlir::pathways::parseShielded;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

namespace {

/// A context and its diagnostics. The context is leaked after a crash.
struct Reader {
  explicit Reader(bool hasThreads = true) : context(new mlir::MLIRContext) {
    context->disableMultithreading(!hasThreads);
    context->loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                         mlir::linalg::LinalgDialect>();
    context->getDiagEngine().registerHandler([this](mlir::Diagnostic &error) {
      llvm::raw_string_ostream os(errors);
      auto place = mlir::cast<mlir::FileLineColLoc>(error.getLocation());
      os << place.getFilename().str() << ":" << place.getLine() << ":"
         << place.getColumn() << ": " << error.str() << "\n";
    });
  }
  ~Reader() {
    if (hasCrashed)
      (void)context.release();
  }

  /// Returns true if `text` is a valid module.
  bool reads(const std::string &text) {
    errors.clear();
    Parsed parsed = parseShielded(text, "t.mlir", context.get());
    hasCrashed |= parsed.hasCrashed;
    return static_cast<bool>(parsed.module);
  }

  std::unique_ptr<mlir::MLIRContext> context;
  std::string errors;
  bool hasCrashed = false;
};

std::string reduce(const std::string &dimensions) {
  return "func.func @f(%x: tensor<2x6xf32>, %o: tensor<2xf32>) {\n"
         "  %r = linalg.reduce { arith.addf } ins(%x : tensor<2x6xf32>)\n"
         "      outs(%o : tensor<2xf32>) dimensions = " +
         dimensions + "\n  return\n}\n";
}

/// The body that the parser builds adds an f16 and a bf16.
TEST(ParseTest, WhatAParserBuildsItselfIsWhereItsOperationIs) {
  Reader reader;
  EXPECT_FALSE(reader.reads(
      "func.func @f(%a: tensor<2x3xbf16>, %b: tensor<3x2xbf16>,\n"
      "             %z: tensor<2x2xf16>) -> tensor<2x2xf16> {\n"
      "  %p = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x2xbf16>)\n"
      "                     outs(%z : tensor<2x2xf16>) -> tensor<2x2xf16>\n"
      "  return %p : tensor<2x2xf16>\n}\n"));
  EXPECT_THAT(reader.errors,
              StartsWith("t.mlir:3:8: 'arith.addf' op requires the same type"));
  EXPECT_FALSE(reader.hasCrashed);
}

TEST(ParseTest, GoodAndBadTexts) {
  Reader reader;
  EXPECT_TRUE(reader.reads(reduce("[1]")));
  EXPECT_EQ(reader.errors, "");
  EXPECT_FALSE(reader.reads("module {"));
  EXPECT_EQ(reader.errors,
            "t.mlir:1:7: expected operation name in quotes [PW1201]\n");
  EXPECT_FALSE(reader.reads("func.func @f() {\n}\n"));
  EXPECT_THAT(reader.errors, StartsWith("t.mlir:1:16: "));
  EXPECT_TRUE(reader.reads(""));
  EXPECT_TRUE(reader.context->isMultithreadingEnabled());
  EXPECT_FALSE(reader.hasCrashed);
}

/// MLIR's parsers continue after some errors, and some of them then crash.
TEST(ParseTest, TheFirstErrorEndsTheParser) {
  Reader reader;
  EXPECT_FALSE(reader.reads(reduce("1")));
  EXPECT_FALSE(reader.hasCrashed);
  EXPECT_EQ(reader.errors, "t.mlir:3:44: expected '[' [PW1201]\n");
  EXPECT_FALSE(
      reader.reads("func.func @f() {\n  return %x, %y : f32, f32\n}\n"));
  EXPECT_THAT(reader.errors, StartsWith("t.mlir:2:10: "));
  EXPECT_EQ(llvm::StringRef(reader.errors).count('\n'), 1u) << reader.errors;
}

/// MLIR discards a region that has an error. Values of the region are still
/// referenced by operands that were read before, so discarding those writes to
/// freed memory, which may be in use again.
TEST(ParseTest, WhatFailsLeavesTheHeapAlone) {
  auto generic = [](const std::string &name, const std::string &body) {
    return "  %" + name +
           " = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, "
           "affine_map<(d) -> (d)>], iterator_types = [\"parallel\"]} ins(%x : "
           "tensor<2xf32>) outs(%x : tensor<2xf32>) {\n" +
           body + "  } -> tensor<2xf32>\n";
  };
  const std::string broken =
      "func.func @f(%x: tensor<2xf32>) {\n" +
      generic("a", "  ^bb0(%i: f32, %j: f32):\n"
                   "    %s = arith.addf %late, %late : f32\n"
                   "    linalg.yield %s : f32\n") +
      generic("b", "  ^bb0(%late: f32, %k: f32):\n  ^bb0(%l: f32):\n") +
      "  return\n}\n";
  for (int i = 0; i < 100; ++i) {
    Reader reader;
    EXPECT_FALSE(reader.reads(broken));
    EXPECT_THAT(reader.errors, HasSubstr("redefinition of block '^bb0'"));
    EXPECT_FALSE(reader.hasCrashed);
    EXPECT_TRUE(reader.reads(reduce("[1]")));
  }
}

TEST(ParseTest, ACrashHasAPlace) {
  Reader index, iterators;
  EXPECT_FALSE(
      index.reads("module {}\nmodule attributes {a = array<index>} {\n}\n\n"));
  EXPECT_TRUE(index.hasCrashed);
  EXPECT_EQ(index.errors,
            "t.mlir:2:36: the parser of MLIR crashed near here: segmentation "
            "fault (MLIR Parser: custom op parser 'builtin.module')\n");
  EXPECT_FALSE(iterators.reads(
      "func.func @k(%x: tensor<2xf32>) {\n"
      "  %r = linalg.generic {iterator_types = [1]}\n"
      "      ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) {}\n"
      "      -> tensor<2xf32>\n  return\n}\n"));
  EXPECT_TRUE(iterators.hasCrashed);
  // The parser takes a number for a pointer, so the place of the error is
  // undefined.
  EXPECT_THAT(iterators.errors,
              MatchesRegex("t.mlir:.*: the parser of MLIR crashed.*\n"));
}

TEST(ParseTest, WhatNestsTooDeepIsRefused) {
  Reader reader;
  const int many = 100000;
  std::string text;
  for (int i = 0; i < many; ++i)
    text += "module {\n";
  EXPECT_FALSE(reader.reads(text));
  EXPECT_EQ(reader.errors,
            "t.mlir:257:8: the text is nested more than 256 deep [PW1201]\n");
  EXPECT_FALSE(reader.hasCrashed);
}

/// Tests a parser that recurses without brackets.
TEST(ParseTest, LackOfStackIsAnError) {
  Reader reader;
  std::string text = "module attributes {m = affine_map<(i) -> (i";
  for (int i = 0; i < 300000; ++i)
    text += " + i";
  EXPECT_FALSE(reader.reads(text + ")>} {}"));
  EXPECT_THAT(reader.errors, HasSubstr("crashed near here: out of stack"));
}

TEST(ParseTest, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        Reader reader(/*hasThreads=*/i % 3 == 0);
        bool isGood = (t + i) % 2 == 0;
        EXPECT_EQ(reader.reads(isGood ? reduce("[1]")
                                      : "module attributes {a=array<index>}"),
                  isGood);
        EXPECT_EQ(reader.hasCrashed, !isGood);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
