//===- api_errors_test.cpp - Errors of the public API ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/lib/API/api_test_support.h"
#include "unittests/runtime/base/process_limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

TEST(ApiTest, AnErrorHasTheCodeOfItsFirstLineWithOne) {
  Error error;
  EXPECT_EQ(error.id(), "");
  for (const char *text :
       {"full", "[PW3101]", "full [PW3101] now", "full [PW310]\n", "\n\n"}) {
    error.message = text;
    EXPECT_EQ(error.id(), "") << text;
  }
  error.message = "full [PW3101]";
  EXPECT_EQ(error.id(), "PW3101");
  error.message = "a.mlir:1:1: note: b\nerror: c [PW3102]\nerror: d [PW3103]\n";
  EXPECT_EQ(error.id(), "PW3102");
}

TEST(ApiTest, WhatIsGoneOrEmptyIsAnError) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  Array array = take(session.put(floats({2}, {1, 2})));
  Array copy = array;
  array.release();
  array.release();
  for (const Status &status : {copy.await(), array.await(), Array().await()}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_THAT(copy.fetch().error().message,
              HasSubstr("does not exist or was released [PW6101]"));
  EXPECT_EQ(Array().fetch().error().message, "the array is empty");
  std::ostringstream trace;
  const Status untraced = session.writeTrace(trace);
  ASSERT_FALSE(untraced);
  EXPECT_EQ(untraced.error().id(), "PW6109");
  EXPECT_TRUE(copy.isReady());
  EXPECT_EQ(Array().element(), ElementType::kInvalid);
  EXPECT_THAT(Array().shape(), IsEmpty());
  for (const Array &gone : {copy, Array()}) {
    auto run =
        executable.launch({{"x", floats({1, 2}, {1, 2})}, {"start", gone}});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(run.error().message, HasSubstr("argument 'start'"));
  }
  auto run = take(executable.launch(
      {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  auto none = run.take("nothing");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
  auto bytes = session.put(HostArray{ElementType::kF32, {2}, {}});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message, "an array of 2xf32 has 0 bytes, expected 8");
  auto shape = session.put(HostArray{ElementType::kF32, {-1}, {}});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().code, ErrorCode::kInvalidArgument);
}

/// A moved-from object has no state: each call returns an error, and none
/// waits.
TEST(ApiTest, WhatWasMovedFromIsAnError) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  const std::map<std::string, Argument> arguments = {
      {"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}};
  auto run = take(executable.launch(arguments));
  auto array = take(run.take("total"));
  auto isEmpty = [](const auto &result, const std::string &what) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(result.error().message, "the " + what + " is empty");
  };
  {
    auto hasArray = std::move(array);
    isEmpty(array.await(), "array");
    isEmpty(array.fetch(), "array");
    isEmpty(array.save("unwritten"), "array");
    EXPECT_TRUE(array.isReady());
    array.release();
    auto hasRun = std::move(run);
    isEmpty(run.await(), "run");
    isEmpty(run.fetch("total"), "run");
    isEmpty(run.take("total"), "run");
    EXPECT_TRUE(run.isReady());
    auto hasExecutable = std::move(executable);
    isEmpty(executable.launch(arguments), "executable");
    auto plan = std::move(compiled.plan);
    EXPECT_EQ(compiled.plan.bytes(), "");
    isEmpty(compiled.plan.write("unwritten.plan"), "plan");
    EXPECT_FALSE(std::filesystem::exists("unwritten.plan"));
    isEmpty(printPlan(compiled.plan), "plan");
    isEmpty(session.load(compiled.plan), "plan");
    auto hasSession = std::move(session);
    isEmpty(session.load(plan), "session");
    isEmpty(session.another("other"), "session");
    isEmpty(session.put(floats({2}, {1, 2})), "session");
    isEmpty(session.save({}, "unwritten"), "session");
    isEmpty(session.loadArray("unwritten"), "session");
    isEmpty(session.loadArrays("unwritten"), "session");
    EXPECT_FALSE(std::filesystem::exists("unwritten"));
    int done = 0;
    isEmpty(session.put(BorrowedArray{
                ElementType::kF32, {0}, nullptr, 0, [&] { ++done; }}),
            "session");
    EXPECT_EQ(done, 1);
    std::ostringstream trace;
    isEmpty(session.writeTrace(trace), "session");
    isEmpty(session.writeProfile(plan, trace), "session");
    isEmpty(hasSession.writeProfile(compiled.plan, trace), "plan");
    // The new owners can use them.
    EXPECT_THAT(values(take(hasArray.fetch())), ElementsAre(1, 2));
    EXPECT_THAT(values(take(hasRun.fetch("total"))), ElementsAre(1, 2));
    EXPECT_TRUE(hasSession.load(plan));
  }
}

/// Returns a program that computes total' = total + x, of 64 MiB.
Program largeSum() {
  ProgramBuilder builder("large");
  builder.slice("s", {{"d", 2}});
  builder.functions("func.func private @add(%a: tensor<8388608xf32>,\n"
                    "    %b: tensor<8388608xf32>) -> tensor<8388608xf32>\n"
                    "    attributes {pw.local_view, pw.pointwise} {\n"
                    "  %c = arith.addf %a, %b : tensor<8388608xf32>\n"
                    "  return %c : tensor<8388608xf32>\n}\n");
  auto type =
      ProgramBuilder::arrayType(ElementType::kF32, {16777216}, "s", {{"d"}});
  auto x = builder.argument("x", type);
  builder.result("y", builder.call("add", {x, x}, type));
  return builder.build();
}

/// Runs in a process of its own.
void runWithoutMemory(const Plan &plan) {
  const int64_t count = 16777216;
  HostArray values = floats({count}, std::vector<float>(count, 1));
  auto isRefused = [](const auto &result, const std::string &message) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kRefused);
    EXPECT_EQ(result.error().id(), "PW3104");
    EXPECT_THAT(result.error().message, MatchesRegex(message));
  };
  const std::string escaped =
      "there is no memory for 16777216xf32 .67108864 bytes. "
      ".PW3104.";
  {
    auto session = take(Session::open({.topology = "1x1x2"}));
    auto executable = take(session.load(plan));
    auto array = take(session.put(BorrowedArray{ElementType::kF32,
                                                {count},
                                                values.data.data(),
                                                values.data.size(),
                                                {}}));
    auto run = take(executable.launch({{"x", array}}));
    EXPECT_TRUE(run.await());
    auto kept = take(run.take("y"));
    const std::map<std::string, Argument> arguments = {{"x", values}};
    testing::LeaveMemory(32 << 20);
    isRefused(executable.launch(arguments), "argument 'x': " + escaped);
    isRefused(run.fetch("y"), "result 'y' of run [0-9]+: " + escaped);
    isRefused(array.fetch(), "array [0-9]+: " + escaped);
    isRefused(kept.fetch(), "array [0-9]+: " + escaped);
    // Work that has its memory continues.
    EXPECT_TRUE(run.await());
    // A run fails if a host gets no memory for its result.
    auto failed = take(executable.launch({{"x", kept}})).await();
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kRunFailed);
    EXPECT_THAT(failed.error().message, HasSubstr("67108864 bytes"));
  }
  std::_Exit(::testing::Test::HasFailure() ? 1 : 7);
}

TEST(ApiDeathTest, WithoutMemoryTheArrayIsNamed) {
  auto plan = take(compile(largeSum(), {.topology = "1x1x2"})).plan;
  EXPECT_EXIT(runWithoutMemory(plan), ::testing::ExitedWithCode(7), "");
}

TEST(ApiTest, ErrorsSayWhat) {
  auto broken = compile(Program{"pw.program @p(", "broken.mlir"}, {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidProgram);
  EXPECT_THAT(broken.error().message, HasSubstr("broken.mlir:1:"));
  EXPECT_EQ(broken.error().id(), "PW1201");

  auto wrong = compile(
      Program{"func.func @f(%x: f32) -> i32 { return %x : f32 }", "wrong.mlir"},
      {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidProgram);
  EXPECT_THAT(wrong.error().message, HasSubstr("wrong.mlir:1:"));
  EXPECT_EQ(wrong.error().id(), "PW1202");

  auto none = compile(Program{"module {}", "none.mlir"}, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no pw.program"));

  auto other = compile(runningSum(), {.topology = "1x1x2", .program = "other"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message,
              AllOf(HasSubstr("@other"), HasSubstr("@sum")));

  for (int steps : {-1, 0, 1025}) {
    auto flight =
        compile(runningSum(), {.topology = "1x1x2", .steps_in_flight = steps});
    ASSERT_FALSE(flight);
    EXPECT_EQ(flight.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(flight.error().message,
              "expected between 1 and 1024 steps in flight, got " +
                  std::to_string(steps));
  }

  auto small = compile(runningSum(), {.topology = "1x1x1"});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("'s'"));

  auto topology = Session::open({.topology = "0x1x1"});
  ASSERT_FALSE(topology);
  EXPECT_EQ(topology.error().code, ErrorCode::kInvalidArgument);

  auto file = Plan::read("/nonexistent/x.plan");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(file.error().message, HasSubstr("/nonexistent/x.plan"));

  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  Status unwritable = compiled.plan.write("/nonexistent/x.plan");
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().code, ErrorCode::kUnwritable);

  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  auto missing = executable.launch({{"x", floats({1, 2}, {1, 2})}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              HasSubstr("'start' is missing [PW5104]"));
  auto unknown = executable.launch({{"x", floats({1, 2}, {1, 2})},
                                    {"start", floats({2}, {0, 0})},
                                    {"y", floats({2}, {0, 0})}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no argument 'y'"));
  auto shape = executable.launch(
      {{"x", floats({1, 3}, {1, 2, 3})}, {"start", floats({2}, {0, 0})}});
  ASSERT_FALSE(shape);
  EXPECT_THAT(
      shape.error().message,
      AllOf(HasSubstr("'x'"), HasSubstr("1x3xf32"), HasSubstr("1x2xf32")));

  auto run = take(executable.launch(
      {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  auto result = run.fetch("nothing");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
}

/// Texts that crash MLIR's own parser are errors, and this process survives.
TEST(ApiTest, TextsThatEndParsersAreErrors) {
  for (int i = 0; i < 3; ++i) {
    auto broken = compile(
        Program{"module attributes {a = array<index>} {}", "t.mlir"}, {});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, ErrorCode::kInvalidProgram);
    EXPECT_THAT(broken.error().message,
                HasSubstr("t.mlir:1:36: error: the parser of MLIR crashed"));
    take(compile(runningSum(), {.topology = "1x1x2"}));
  }
}

} // namespace
} // namespace pathways
