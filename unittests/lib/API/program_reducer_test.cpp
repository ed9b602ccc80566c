//===- program_reducer_test.cpp - Tests of the reduction of programs ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "program_reducer.h"

#include "one_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

namespace pathways {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] =
    R"(pw.slice @s mesh <"x" = 3, "y" = 2>
func.func @f(%a: tensor<6x4xi32>, %b: tensor<6x4xi32>, %c: tensor<4xf32>) -> (tensor<6x4xi32>, tensor<4xf32>) {
  %0 = arith.addi %a, %b : tensor<6x4xi32>
  %1 = pw.constrain %0 [{"y"}, {?}] : tensor<6x4xi32>
  %2 = arith.muli %1, %b : tensor<6x4xi32>
  %3 = arith.divsi %2, %0 : tensor<6x4xi32>
  %4 = arith.subi %3, %a : tensor<6x4xi32>
  %5 = math.exp %c : tensor<4xf32>
  return %4, %5 : tensor<6x4xi32>, tensor<4xf32>
}
pw.program @p(%a: !pw.array<6x4xi32, @s, [{"x"}, {}]>, %b: !pw.array<6x4xi32, @s, [{"x", "y"}, {?}]>, %c: !pw.array<4xf32, @s>)
    -> (!pw.array<6x4xi32, @s, [{}, {"y"}]>, !pw.array<4xf32, @s>) {
  %r:2 = pw.call @f(%a, %b, %c)
      : (!pw.array<6x4xi32, @s, [{"x"}, {}]>, !pw.array<6x4xi32, @s, [{"x", "y"}, {?}]>, !pw.array<4xf32, @s>)
      -> (!pw.array<6x4xi32, @s, [{}, {"y"}]>, !pw.array<4xf32, @s>)
  pw.return %r#0, %r#1 : !pw.array<6x4xi32, @s, [{}, {"y"}]>, !pw.array<4xf32, @s>
}
)";

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ProgramReducerTest, KeepsWhatFailsAlone) {
  auto fails = [](const std::string &text) { return has(text, "arith.divsi"); };
  EXPECT_EQ(reducer::reduceProgram(kProgram, fails, 1000),
            R"(pw.slice @s mesh <"y" = 1>
func.func @f(%arg0: tensor<6x4xi32>) -> tensor<6x4xi32> {
  %0 = arith.divsi %arg0, %arg0 : tensor<6x4xi32>
  return %0 : tensor<6x4xi32>
}
pw.program @p(%a: !pw.array<6x4xi32, @s, [{}, {}]>) -> (!pw.array<6x4xi32, @s, [{}, {}]>) {
  %r:1 = pw.call @f(%a) : (!pw.array<6x4xi32, @s, [{}, {}]>) -> (!pw.array<6x4xi32, @s, [{}, {}]>)
  pw.return %r#0 : !pw.array<6x4xi32, @s, [{}, {}]>
}
)");
}

TEST(ProgramReducerTest, KeepsAnnotationsAndDevicesThatItTakes) {
  auto fails = [](const std::string &text) {
    return has(text, "pw.constrain") && has(text, "\"y\" = 2");
  };
  const std::string text = reducer::reduceProgram(kProgram, fails, 1000);
  EXPECT_THAT(text, HasSubstr("pw.slice @s mesh <\"y\" = 2>\n"));
  EXPECT_THAT(text, HasSubstr("pw.constrain %arg0 [{\"y\"}, {?}]"));
  EXPECT_THAT(text, Not(HasSubstr("arith.")));
}

/// Every attempt is a valid program, also if bodies are nested.
TEST(ProgramReducerTest, TriesProgramsOnly) {
  const std::string program = R"(pw.slice @s mesh <"x" = 2>
func.func @f(%a: tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = tensor.extract %n[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sgt, %k, %zero : i32
  cf.assert %is, "n is small"
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %a) -> tensor<4xi32> {
    %1 = scf.if %is -> tensor<4xi32> {
      %2 = linalg.map { arith.divsi } ins(%t, %a : tensor<4xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>)
      scf.yield %2 : tensor<4xi32>
    } else {
      scf.yield %t : tensor<4xi32>
    }
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}
pw.program @p(%a: !pw.array<4xi32, @s, [{"x"}]>, %n: !pw.array<i32, @s>) -> (!pw.array<4xi32, @s, [{"x"}]>) {
  %r:1 = pw.call @f(%a, %n) : (!pw.array<4xi32, @s, [{"x"}]>, !pw.array<i32, @s>) -> (!pw.array<4xi32, @s, [{"x"}]>)
  pw.return %r#0 : !pw.array<4xi32, @s, [{"x"}]>
}
)";
  int tries = 0;
  auto fails = [&](const std::string &text) {
    ++tries;
    auto compiled = compile({text}, {.topology = "1x1x2"});
    EXPECT_TRUE(compiled) << compiled.error().message << "\n" << text;
    EXPECT_EQ(differenceFromOneDevice(text, {}), "") << text;
    return has(text, "arith.divsi");
  };
  const std::string text = reducer::reduceProgram(program, fails, 1000);
  EXPECT_GT(tries, 10);
  EXPECT_THAT(text, HasSubstr("arith.divsi"));
  EXPECT_THAT(text, Not(HasSubstr("cf.assert")));
  EXPECT_TRUE(compile({text}, {.topology = "1x1x1"}));
}

TEST(ProgramReducerTest, TriesAreBounded) {
  int tries = 0;
  auto fails = [&](const std::string &) { return ++tries % 2 == 0; };
  reducer::reduceProgram(kProgram, fails, 5);
  EXPECT_EQ(tries, 5);
}

TEST(ProgramReducerTest, WhatIsNoSuchProgramStays) {
  auto fails = [](const std::string &) { return true; };
  for (const std::string text :
       {"", "func.func @f(", "pw.slice @s mesh <\"x\" = 2>"})
    EXPECT_EQ(reducer::reduceProgram(text, fails, 100), text);
}

/// These numbers have another sum in another order.
TEST(OneDeviceTest, SaysWhatIsDifferent) {
  const std::string program = R"(pw.slice @s mesh <"x" = 2>
func.func private @f(%a: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}
pw.program @p(%a: !pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<f32, @s, []>) {
  %0 = pw.call @f(%a) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<f32, @s, []>
  pw.return %0 : !pw.array<f32, @s, []>
}
)";
  EXPECT_EQ(differenceFromOneDevice(program, {}), "");
  HostArray numbers{ElementType::kF32, {4}, {}};
  const float values[] = {1e30f, 4, -1e30f, 4};
  numbers.data.resize(sizeof(values));
  std::memcpy(numbers.data.data(), values, sizeof(values));
  EXPECT_EQ(differenceFromOneDevice(program, {{"a", numbers}}),
            "result 0: element 0 is 0, and 8 on one device");
  EXPECT_EQ(makeRunnable(program, {}),
            "// pw-run FILE --oversubscribe --topology=1x1x2 --input=a=1,2,3,4"
            "\n" +
                program);
}

} // namespace
} // namespace pathways
