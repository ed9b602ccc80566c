//===- api_test.cpp - Client use of the public API ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/child_processes.h"
#include "unittests/lib/API/api_test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ApiTest, CarriedAndSteppedOnBothWorlds) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session = take(Session::open(
        {.topology = "1x1x2", .run = {.world = world, .seed = 5}}));
    auto executable = take(session.load(compiled.plan));
    auto run =
        take(executable.launch({{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                                {"start", floats({2}, {10, 20})}},
                               /*steps=*/3));
    EXPECT_TRUE(run.await());
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(19, 32));
    EXPECT_THAT(values(take(run.fetch("trail"))),
                ElementsAre(11, 22, 14, 26, 19, 32));
  }
}

TEST(ApiTest, DispatchAndLinksArePartOfASession) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session =
        take(Session::open({.topology = "1x2x1",
                            .run = {.world = world,
                                    .link_costs = true,
                                    .dispatch = RunOptions::kSequential,
                                    .host_work_ns = 1000}}));
    auto executable = take(session.load(compiled.plan));
    auto run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {10, 20})}}));
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(11, 22));
  }
  auto session =
      Session::open({.topology = "1x2x1", .run = {.host_work_ns = -1}});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message,
            "the host work is -1 ns, expected 0 to 3600000000000");
}

TEST(ApiTest, ACallHasAnyNumberOfResults) {
  ProgramBuilder builder("two");
  builder.slice("s", {{"d", 2}});
  builder.functions(R"(
func.func private @both(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xi32>)
    attributes {pw.local_view} {
  %d = arith.addf %x, %x : tensor<1xf32>
  %i = arith.fptosi %x : tensor<1xf32> to tensor<1xi32>
  return %d, %i : tensor<1xf32>, tensor<1xi32>
})");
  auto type = [](ElementType element) {
    return ProgramBuilder::arrayType(element, {2}, "s", {{"d"}});
  };
  auto results = builder.callMulti(
      "both", {builder.argument("x", type(ElementType::kF32))},
      {type(ElementType::kF32), type(ElementType::kI32)});
  ASSERT_EQ(results.size(), 2u);
  builder.result("doubled", results[0]);
  builder.result("whole", results[1]);
  auto compiled = take(compile(builder.build(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  auto run = take(executable.launch({{"x", floats({2}, {1.5, 3})}}));
  EXPECT_THAT(values(take(run.fetch("doubled"))), ElementsAre(3, 6));
  HostArray whole = take(run.fetch("whole"));
  EXPECT_EQ(whole.element, ElementType::kI32);
  int32_t numbers[2];
  ASSERT_EQ(whole.data.size(), sizeof numbers);
  std::memcpy(numbers, whole.data.data(), sizeof numbers);
  EXPECT_THAT(numbers, ElementsAre(1, 3));
}

template <typename T> void addsOne(ElementType element, const char *body) {
  SCOPED_TRACE(elementName(element));
  ProgramBuilder builder("add_one");
  builder.slice("s", {{"d", 2}});
  const std::string tensor = std::string("tensor<2x") + body + ">";
  builder.functions("func.func private @next(%x: " + tensor + ") -> " + tensor +
                    " {\n  %c = arith.constant dense<1> : " + tensor +
                    "\n  %r = arith.addi %x, %c : " + tensor +
                    "\n  return %r : " + tensor + "\n}");
  const std::string type =
      ProgramBuilder::arrayType(element, {2}, "s", {{"d"}});
  builder.result("y",
                 builder.call("next", {builder.argument("x", type)}, type));
  auto compiled = take(compile(builder.build(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  const T values[] = {std::numeric_limits<T>::max() / 2, T(-1)};
  auto run = take(executable.launch({{"x", HostArray::of<T>(values)}}));
  HostArray y = take(run.fetch("y"));
  EXPECT_EQ(y.element, element);
  EXPECT_THAT(y.values<T>(),
              ElementsAre(T(std::numeric_limits<T>::max() / 2 + 1), T(0)));
}

TEST(ApiTest, IntegersWithAndWithoutSign) {
  addsOne<int16_t>(ElementType::kI16, "i16");
  addsOne<uint8_t>(ElementType::kUI8, "i8");
  addsOne<uint16_t>(ElementType::kUI16, "i16");
  addsOne<uint32_t>(ElementType::kUI32, "i32");
  addsOne<uint64_t>(ElementType::kUI64, "i64");
}

TEST(ApiTest, ArraysOfTheOtherSignAreRefused) {
  ProgramBuilder builder("identity");
  builder.slice("s", {{"d", 2}});
  builder.functions("func.func private @same(%x: tensor<2xi32>) -> "
                    "tensor<2xi32> {\n  return %x : tensor<2xi32>\n}");
  const std::string type =
      ProgramBuilder::arrayType(ElementType::kUI32, {2}, "s", {{"d"}});
  builder.result("y",
                 builder.call("same", {builder.argument("x", type)}, type));
  auto compiled = take(compile(builder.build(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  const int32_t values[] = {1, 2};
  auto run = executable.launch({{"x", HostArray::of<int32_t>(values)}});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("ui32"));
}

TEST(ApiTest, AProgramLeavesDevicesAndComesBack) {
  ProgramBuilder builder("wide");
  builder.slice("s", {{"d", 2}}, /*apartFrom=*/{}, /*spans=*/2);
  builder.functions(kAdd);
  auto type = ProgramBuilder::arrayType(ElementType::kF32, {2}, "s", {{"d"}});
  auto a = builder.argument("a", type);
  builder.result("sum", builder.call("add", {a, a}, type));
  auto compiled = take(compile(builder.build(), {.topology = "3x1x1"}));
  auto session = take(Session::open({.topology = "3x1x1"}));
  auto executable = take(session.load(compiled.plan));
  auto doubled = [&](Argument of) {
    auto run = take(executable.launch({{"a", of}}));
    return take(run.take("sum"));
  };
  Array first = doubled(floats({2}, {1, 2}));
  ASSERT_TRUE(executable.rebind({.avoid = {"island1"}}));
  Array second = doubled(first);
  // Too few islands are left, so the program is not moved.
  const RebindOptions most = {.avoid = {"island1", "island2/host2/device0"}};
  Status refused = executable.rebind(most);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("program 'wide' is on 1 devices of island1, 1 of which "
                        "must be avoided"));
  Array third = doubled(second);
  ASSERT_TRUE(executable.rebind({.avoid = most.avoid, .oversubscribe = true}));
  Array fourth = doubled(third);
  ASSERT_TRUE(executable.rebind());
  EXPECT_THAT(values(take(doubled(fourth).fetch())), ElementsAre(32, 64));

  Status unknown = executable.rebind({.avoid = {"host3"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  Executable moved = std::move(executable);
  Status empty = executable.rebind();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kInvalidArgument);
}

// Runs in this process, in a simulation, and over several processes.
TEST(ApiTest, SlicesAreReservedAndSharedOut) {
  auto compiled = take(compile(runningSum(), {.topology = "1x3x2"}));
  RunOptions sim, processes;
  sim.world = RunOptions::kSim;
  processes.processes = 3;
  for (const RunOptions &run : {RunOptions{}, sim, processes}) {
    auto session = take(Session::open({.topology = "1x3x2", .run = run}));
    auto other = take(session.another("other"));
    auto runs = [](Executable executable) {
      auto run = take(executable.launch(
          {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {10, 20})}}));
      EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(11, 22));
    };
    Slice slice = take(session.reserve({.name = "mine", .shape = {2}}));
    EXPECT_THAT(slice.devices(),
                ElementsAre("island0/host0/device0", "island0/host0/device1"));
    auto refused = other.load(compiled.plan, {.wait_ns = 0});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
    EXPECT_THAT(refused.error().message,
                HasSubstr("held by slice 'mine' of client 'session'"));
    runs(take(other.load(compiled.plan, {.place = LoadPlace::kAnywhere})));
    auto both = take(session.load({compiled.plan, compiled.plan},
                                  {.place = LoadPlace::kAnywhere}));
    ASSERT_EQ(both.size(), 2u);
    for (const Executable &one : both)
      runs(one);
    auto mine = take(session.load(compiled.plan, slice));
    runs(mine);
    slice.release();
    runs(take(other.load(compiled.plan)));
    runs(mine);
    auto released = session.load(compiled.plan, slice);
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, ErrorCode::kRefused);
    auto empty = session.load(compiled.plan, Slice());
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, ErrorCode::kInvalidArgument);
    auto impossible = session.reserve({.shape = {7}});
    ASSERT_FALSE(impossible);
    EXPECT_EQ(impossible.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(ApiTest, LaunchesOfManyThreadsDoNotMix) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(session.load(compiled.plan));
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 20; ++i) {
        float x = client * 100 + i;
        auto run = take(executable.launch(
            {{"x", floats({1, 2}, {x, x})}, {"start", floats({2}, {1, 2})}}));
        EXPECT_THAT(values(take(run.fetch("total"))),
                    ElementsAre(x + 1, x + 2));
      }
    });
  }
  for (std::thread &client : clients)
    client.join();
}

TEST(ApiTest, PlanSurvivesBytesAndText) {
  auto plan = take(compile(runningSum(), {.topology = "1x1x2"})).plan;
  auto parsed = take(Plan::parse(plan.bytes()));
  EXPECT_EQ(parsed.bytes(), plan.bytes());
  auto text = take(printPlan(plan));
  auto again = take(compile(Program{text, "plan.mlir"}, {}));
  EXPECT_EQ(again.plan.bytes(), plan.bytes());

  std::string folder = ::testing::TempDir() + "/api_test_plan_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_TRUE(plan.write(folder + "/a.plan"));
  EXPECT_EQ(take(Plan::read(folder + "/a.plan")).bytes(), plan.bytes());
  std::filesystem::remove_all(folder);
}

TEST(ApiTest, AModuleOfStableHloIsAProgram) {
  const Program module{R"(
    func.func public @main(%arg0: tensor<2xf32> loc("x"))
        -> (tensor<2xf32> {jax.result_info = "y"}) {
      %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
      check.expect_eq %0, %arg0 : tensor<2xf32>
      return %0 : tensor<2xf32>
    })"};
  auto compiled =
      take(compile(module, {.topology = "1x1x1", .explain_import = true}));
  ASSERT_EQ(compiled.imported.size(), 2);
  EXPECT_EQ(compiled.imported[1].op, "stablehlo.add");
  EXPECT_EQ(compiled.imported[1].count, 1);
  EXPECT_FALSE(compiled.imported[1].became.empty());
  auto session = take(Session::open({.topology = "1x1x1"}));
  auto executable = take(session.load(compiled.plan));
  auto run = take(executable.launch({{"x", floats({2}, {1, 2})}}));
  EXPECT_THAT(values(take(run.fetch("y"))), ElementsAre(2, 4));
  // A check is two results for the caller to compare.
  EXPECT_THAT(values(take(run.fetch("check0"))), ElementsAre(2, 4));
  EXPECT_THAT(values(take(run.fetch("check0.expected"))), ElementsAre(1, 2));

  std::string text = take(importStableHlo(module));
  EXPECT_THAT(text, AllOf(HasSubstr("pw.program @main(%x: "),
                          Not(HasSubstr("stablehlo."))));
  EXPECT_TRUE(compile(Program{text}, {.topology = "1x1x1"}));
  // A program stays as it is.
  EXPECT_EQ(take(importStableHlo(Program{text})), text);
}

TEST(ApiTest, ModulesOfStableHloPassValuesFromStepToStep) {
  Program module{R"mlir(
func.func public @main(
    %arg0: tensor<2xf32> {tf.aliasing_output = 1 : i32} loc("sum"),
    %arg1: tensor<2xf32> loc("x"))
    -> (tensor<2xf32> {jax.result_info = "result[0]"},
        tensor<2xf32> {jax.result_info = "result[1]"}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
  return %arg1, %0 : tensor<2xf32>, tensor<2xf32>
}
)mlir"};
  Compiled compiled = take(compile(
      module, {.topology = "1x1x1",
               .import_options = {.carry = "sum:[1]", .stepped = "x"}}));
  EXPECT_EQ(compiled.donated.count, 1);
  EXPECT_EQ(compiled.donated.first, 0);
  EXPECT_EQ(compiled.donated.carry, "0:1");
  auto session = take(Session::open({.topology = "1x1x1"}));
  auto executable = take(session.load(compiled.plan));
  auto run = take(executable.launch(
      {{"sum", floats({2}, {1, 2})}, {"x", floats({2, 2}, {1, 1, 5, 7})}},
      /*steps=*/2));
  EXPECT_THAT(values(take(run.fetch("result[1]"))), ElementsAre(7, 10));

  EXPECT_THAT(take(importStableHlo(module, {.carry = "0:1"})),
              HasSubstr("pw.carried = 1"));
  // A program has its own carried arguments.
  Program program{take(importStableHlo(module))};
  for (const ImportOptions &options :
       {ImportOptions{.carry = "none"}, ImportOptions{.stepped = "x"},
        ImportOptions{.elided = "zeros"}}) {
    Result<std::string> text = importStableHlo(program, options);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(text.error().message, HasSubstr("is no module of StableHLO"));
    EXPECT_FALSE(
        compile(program, {.topology = "1x1x1", .import_options = options}));
  }
}

TEST(ApiTest, CallersDoNotPassLargeConstants) {
  std::string elements;
  for (int i = 0; i < 16384; ++i)
    elements += (i ? ", " : "") + std::to_string(i) + ".0";
  Program module{R"mlir(
func.func public @main(%arg0: tensor<16384xf32> loc("x"))
    -> (tensor<16384xf32> {jax.result_info = "y"}) {
  %0 = stablehlo.constant dense<[)mlir" +
                 elements + R"mlir(]> : tensor<16384xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<16384xf32>
  return %1 : tensor<16384xf32>
}
)mlir"};
  Compiled compiled = take(compile(module, {.topology = "1x1x1"}));
  Plan plan = take(Plan::parse(compiled.plan.bytes()));
  auto session = take(Session::open({.topology = "1x1x1"}));
  for (int load = 0; load < 2; ++load) {
    auto executable = take(session.load(plan));
    EXPECT_EQ(take(executable.arguments()).size(), 1);
    for (float x : {1.0f, 2.0f}) {
      HostArray input = floats({16384}, std::vector<float>(16384, x));
      auto run = load == 0 ? take(executable.launch({{"x", input}}))
                           : take(executable.launchPositional({input}));
      std::vector<float> y = values(take(run.fetch("y")));
      EXPECT_EQ(y[0], x);
      EXPECT_EQ(y[16383], 16383 + x);
    }
    auto run = executable.launchPositional({});
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().message, HasSubstr("takes 1 arguments, got 0"));
    HostArray input = floats({16384}, std::vector<float>(16384));
    auto named = executable.launch({{"x", input}, {"constant0", input}});
    ASSERT_FALSE(named);
    EXPECT_THAT(named.error().message,
                HasSubstr("the program has no argument 'constant0'"));
  }
}

TEST(ApiTest, KernelsAreCompiledOnce) {
  // The folder belongs to this process: other test processes use their own.
  std::string folder = ::testing::TempDir() + "/api_test_kernels_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  CompileOptions options{.topology = "1x1x2", .kernel_cache = folder};
  auto first = take(compile(runningSum(), options));
  auto again = take(compile(runningSum(), options));
  options.kernel_cache = "";
  auto none = take(compile(runningSum(), options));
  for (const Compiled *compiled : {&first, &again, &none}) {
    ASSERT_EQ(compiled->kernels.size(), 1u);
    EXPECT_EQ(compiled->kernels[0].kernel, "add");
    EXPECT_GT(compiled->kernels[0].seconds, 0);
    EXPECT_EQ(compiled->kernels[0].is_cached, compiled == &again);
    EXPECT_EQ(compiled->plan.bytes(), none.plan.bytes());
    EXPECT_THAT(compiled->remarks, IsEmpty());
  }
  std::filesystem::remove_all(folder);

  options.kernel_cache = "/proc/none";
  auto refused = compile(runningSum(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("cannot keep compiled kernels in '/proc/none': "));
}

TEST(ApiTest, TheRoundingBelongsToThePlan) {
  std::vector<std::string> plans;
  for (Rounding rounding :
       {Rounding::kEachOp, Rounding::kStrict, Rounding::kExcess}) {
    Compiled compiled = take(
        compile(runningSum(), {.topology = "1x1x2", .rounding = rounding}));
    plans.push_back(take(printPlan(compiled.plan)));
  }
  EXPECT_THAT(plans[0], Not(HasSubstr("rounding")));
  EXPECT_THAT(plans[1], HasSubstr(" rounding strict {"));
  EXPECT_THAT(plans[2], HasSubstr(" rounding excess {"));
  EXPECT_TRUE(compile(Program{plans[1]}, {.topology = "1x1x2"}));
  auto refused = compile(Program{plans[1]},
                         {.topology = "1x1x2", .rounding = Rounding::kStrict});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("is a plan, whose code is already compiled"));
}

TEST(ApiTest, TraceOfARun) {
  SessionOptions options;
  options.topology = "1x1x2";
  options.run.world = RunOptions::kSim;
  options.run.trace_events = 1000;
  Session session = take(Session::open(options));
  CompileOptions compileOptions;
  compileOptions.topology = "1x1x2";
  Executable executable =
      take(session.load(take(compile(runningSum(), compileOptions)).plan));
  auto run = take(executable.launch(
      {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  EXPECT_TRUE(run.await());
  std::ostringstream text;
  EXPECT_TRUE(session.writeTrace(text));
  EXPECT_THAT(text.str(), HasSubstr("\"cat\":\"kernel\",\"name\":\"add\""));
  text.setstate(std::ios::badbit);
  EXPECT_EQ(session.writeTrace(text).error().code, ErrorCode::kUnwritable);
  options.run.trace_events = 0;
  Status untraced = take(Session::open(options)).writeTrace(std::cout);
  EXPECT_EQ(untraced.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(untraced.error().message, HasSubstr("trace_events"));
  options.run.trace_events = -1;
  EXPECT_THAT(Session::open(options).error().message,
              HasSubstr("trace_events is -1"));
}

/// A file with the given text that exists as long as the object.
class ProfileFile {
public:
  explicit ProfileFile(const std::string &text)
      : path(::testing::TempDir() + "api_test_" + std::to_string(getpid()) +
             ".profile") {
    std::ofstream(path) << text;
  }
  ~ProfileFile() { std::remove(path.c_str()); }

  const std::string path;
};

TEST(ApiTest, ProfileOfARun) {
  SessionOptions options{.topology = "1x1x2"};
  options.run.trace_events = 1000;
  Session session = take(Session::open(options));
  CompileOptions compileOptions{.topology = "1x1x2"};
  Compiled first = take(compile(runningSum(), compileOptions));
  std::ostringstream text;
  Status tooSoon = session.writeProfile(first.plan, text);
  EXPECT_EQ(tooSoon.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(tooSoon.error().message, HasSubstr("no firing of program 'sum'"));
  Executable executable = take(session.load(first.plan));
  auto run = take(executable.launch({{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                                     {"start", floats({2}, {0, 0})}},
                                    3));
  EXPECT_TRUE(run.await());
  ASSERT_TRUE(session.writeProfile(first.plan, text));
  EXPECT_THAT(text.str(), AllOf(HasSubstr("program: \"sum\""),
                                HasSubstr("name: \"add\""), HasSubstr("FEED")));

  const ProfileFile file(text.str());
  compileOptions.profile = file.path;
  Compiled second = take(compile(runningSum(), compileOptions));
  EXPECT_EQ(second.plan.bytes(),
            take(compile(runningSum(), compileOptions)).plan.bytes());
  // All costs were measured, so none is estimated.
  EXPECT_TRUE(second.remarks.empty());
  // The costs of a plan are fixed.
  auto fixed =
      compile(Program{take(printPlan(second.plan)), "sum"}, compileOptions);
  ASSERT_FALSE(fixed);
  EXPECT_EQ(fixed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(fixed.error().message, HasSubstr("whose costs are fixed"));
  // A profile is not accepted for another program.
  Program other = runningSum();
  other.text += "func.func private @more() { return }\n";
  auto refused = compile(other, compileOptions);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(file.path), HasSubstr("is of program 'sum'"),
                    HasSubstr("expected program 'sum'")));

  text.setstate(std::ios::badbit);
  EXPECT_EQ(session.writeProfile(first.plan, text).error().code,
            ErrorCode::kUnwritable);
  options.run.world = RunOptions::kSim;
  Status simulated =
      take(Session::open(options)).writeProfile(first.plan, std::cout);
  EXPECT_EQ(simulated.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(simulated.error().message, HasSubstr("cannot measure a profile"));
}

TEST(ApiTest, ASessionOfAClusterThatRunsElsewhere) {
  const std::string address =
      "unix:@pathways-api-test-" + std::to_string(getpid());
  auto nobody = Session::connect(address);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kRefused);
  EXPECT_THAT(nobody.error().message, HasSubstr("pw-node controller"));
  auto nowhere = Session::connect("unix:relative");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kInvalidArgument);

  auto processes =
      *ChildProcesses::Create([](int, const std::string &, bool) {});
  ASSERT_TRUE(processes
                  ->Start({PATHWAYS_PW_NODE, "controller", "--topology=1x2x1",
                           "--listen=" + address})
                  .ok());
  ASSERT_TRUE(processes
                  ->Start({PATHWAYS_PW_NODE, "worker", "--connect=" + address,
                           "--host=host0", "--host=host1"})
                  .ok());
  auto connected = Session::connect(address);
  while (!connected && connected.error().code == ErrorCode::kRefused &&
         connected.error().message.find("pw-node controller") !=
             std::string::npos) {
    std::this_thread::yield();
    connected = Session::connect(address);
  }
  auto session = take(std::move(connected));
  auto compiled = take(compile(runningSum(), {.topology = session.topology()}));
  auto other = take(Session::connect(address, {.name = "other"}));
  auto taken = session.another("other");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kAlreadyExists);
  for (Session *one : {&session, &other}) {
    auto program = take(one->load(compiled.plan));
    Array start = take(one->put(floats({2}, {1, 2})));
    auto run = take(program.launch(
        {{"x", floats({3, 2}, {10, 20, 30, 40, 50, 60})}, {"start", start}},
        3));
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(91, 122));
  }
  // The controller stops, and no call crashes.
  auto program = take(session.load(compiled.plan));
  processes->Stop(absl::ZeroDuration());
  auto late = program.launch(
      {{"x", floats({1, 2}, {1, 1})}, {"start", floats({2}, {1, 2})}});
  if (late) {
    Status ended = late->await();
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message, HasSubstr("is gone"));
  }
}

// Returns a child of this process.
pid_t someChild() {
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    pid_t pid = 0;
    if (children >> pid)
      return pid;
  }
  return 0;
}

TEST(ApiTest, WhatAWorkerTookWithItIsLoadedAgain) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  auto session =
      take(Session::open({.topology = "1x2x1", .run = {.processes = 2}}));
  auto sum = [&](Executable &program) -> Result<std::vector<float>> {
    auto run = program.launch({{"x", floats({3, 2}, {10, 20, 30, 40, 50, 60})},
                               {"start", floats({2}, {1, 2})}},
                              3);
    if (!run)
      return run.error();
    auto total = run->fetch("total");
    if (!total)
      return total.error();
    return values(*total);
  };
  auto program = take(session.load(compiled.plan));
  EXPECT_THAT(take(sum(program)), ElementsAre(91, 122));
  ASSERT_EQ(kill(someChild(), SIGKILL), 0);
  auto lost = sum(program);
  while (lost)
    lost = sum(program);
  EXPECT_THAT(lost.error().message, HasSubstr("gone"));
  auto again = session.load(compiled.plan);
  while (!again) {
    EXPECT_THAT(again.error().message, HasSubstr("gone"));
    again = session.load(compiled.plan);
  }
  EXPECT_THAT(take(sum(*again)), ElementsAre(91, 122));
}

TEST(ApiTest, SessionsOfOneCluster) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto ann = take(Session::open(
        {.name = "ann", .topology = "1x2x1", .run = {.world = world}}));
    auto refused = ann.another("ann");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kAlreadyExists);
    EXPECT_EQ(refused.error().message,
              "another client has the name 'ann' [PW6110]");
    std::optional<Session> bo = take(ann.another("bo"));
    auto annsProgram = take(ann.load(compiled.plan));
    auto bosProgram = take(bo->load(compiled.plan));
    Array annsArray = take(ann.put(floats({2}, {1, 2})));
    Array bosArray = take(bo->put(floats({2}, {3, 4})));
    auto mixed = annsProgram.launch(
        {{"x", floats({1, 2}, {0, 0})}, {"start", bosArray}});
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(mixed.error().message, HasSubstr("is not of client 'ann'"));
    for (auto *one : {&annsProgram, &bosProgram}) {
      const bool anns = one == &annsProgram;
      auto run = take(one->launch({{"x", floats({1, 2}, {10, 10})},
                                   {"start", anns ? annsArray : bosArray}}));
      EXPECT_THAT(values(take(run.fetch("total"))),
                  ElementsAre(anns ? 11 : 13, anns ? 12 : 14));
    }
    // The name is free after everything that came from the session is
    // destroyed.
    bo.reset();
    EXPECT_FALSE(ann.another("bo"));
    bosArray = Array();
    {
      auto gone = std::move(bosProgram);
    }
    take(ann.another("bo"));
  }
}

} // namespace
} // namespace pathways
