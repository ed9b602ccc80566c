//===- program_liveness_test.cpp - Last readers of arrays -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ProgramLiveness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test_dialect.h"
#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

struct ProgramLivenessTest : public ::testing::Test {
  ProgramLivenessTest() {
    context
        .loadDialect<PathwaysDialect, func::FuncDialect, test::TestDialect>();
  }

  /// Parses a program with body `body`, which takes %x and %y; !a is their
  /// type.
  void parse(const std::string &body) {
    module = parseSourceString<ModuleOp>(R"(
      !a = !pw.array<8xf32, @s, [{}]>
      pw.slice @s mesh <>
      func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
        return %a : tensor<8xf32>
      }
      pw.program @p(%x: !a, %y: !a) -> (!a) {
    )" + body + "}",
                                         &context);
    ASSERT_TRUE(module);
    program = *module->getOps<ProgramOp>().begin();
    x = program.getArgument(0);
    y = program.getArgument(1);
    program.walk([&](CallOp call) { calls.push_back(call); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  Value x, y;
  std::vector<CallOp> calls;
};

TEST_F(ProgramLivenessTest, TheLastReaderHasNoLaterOne) {
  parse(R"(
    %0 = pw.call @f(%x) : (!a) -> !a
    %1 = pw.call @f(%x) : (!a) -> !a
    pw.return %0 : !a
  )");
  ProgramLiveness liveness(program);
  EXPECT_EQ(liveness.getLaterRead(x, calls[0]), calls[1]);
  EXPECT_EQ(liveness.getLaterRead(x, calls[1]), nullptr);
}

TEST_F(ProgramLivenessTest, ReturningReads) {
  parse(R"(
    %0 = pw.call @f(%x) : (!a) -> !a
    pw.return %x : !a
  )");
  EXPECT_EQ(ProgramLiveness(program).getLaterRead(x, calls[0]),
            program.getReturn());
}

TEST_F(ProgramLivenessTest, WaitingDoesNotRead) {
  parse(R"(
    %0 = pw.call @f(%x) : (!a) -> !a
    %1 = pw.call @f(%y) after(%x : !a) : (!a) -> !a
    pw.return %0 : !a
  )");
  EXPECT_EQ(ProgramLiveness(program).getLaterRead(x, calls[0]), nullptr);
}

TEST_F(ProgramLivenessTest, ReadsInARegionCount) {
  parse(R"(
    %0 = pw.call @f(%x) : (!a) -> !a
    "test.repeat"() ({
      %1 = pw.call @f(%x) : (!a) -> !a
      "test.yield"() : () -> ()
    }) : () -> ()
    pw.return %0 : !a
  )");
  EXPECT_EQ(ProgramLiveness(program).getLaterRead(x, calls[0]), calls[1]);
}

TEST_F(ProgramLivenessTest, ARegionMayReadAgainWhatIsAroundIt) {
  parse(R"(
    "test.repeat"() ({
      %1 = pw.call @f(%x) : (!a) -> !a
      %2 = pw.call @f(%1) : (!a) -> !a
      "test.yield"() : () -> ()
    }) : () -> ()
    pw.return %y : !a
  )");
  ProgramLiveness liveness(program);
  EXPECT_EQ(liveness.getLaterRead(x, calls[0]), calls[0]);
  EXPECT_EQ(liveness.getLaterRead(calls[0].getResult(0), calls[1]), nullptr);
}

TEST_F(ProgramLivenessTest, ANodeReadsWhatItTakes) {
  parse(R"(
    %0 = pw.call @f(%x) : (!a) -> !a
    %1 = "test.repeat"(%x) ({
      "test.yield"() : () -> ()
    }) : (!a) -> !a
    pw.return %1 : !a
  )");
  Operation *repeat = calls[0]->getNextNode();
  EXPECT_EQ(ProgramLiveness(program).getLaterRead(x, calls[0]), repeat);
}

} // namespace
} // namespace mlir::pathways
