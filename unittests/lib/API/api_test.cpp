//===- api_test.cpp - The public API, as a client uses it -----------------===//
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

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
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
  // Too few islands: it stays.
  const RebindOptions most = {.avoid = {"island1", "island2/host2/device0"}};
  Status refused = executable.rebind(most);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("program 'wide' is on 1 devices of island1, 1 of which "
                        "are to be avoided"));
  Array third = doubled(second);
  ASSERT_TRUE(executable.rebind({.avoid = most.avoid, .oversubscribe = true}));
  Array fourth = doubled(third);
  ASSERT_TRUE(executable.rebind());
  EXPECT_THAT(values(take(doubled(fourth).get())), ElementsAre(32, 64));

  Status unknown = executable.rebind({.avoid = {"host3"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::InvalidArgument);
  Executable moved = std::move(executable);
  Status empty = executable.rebind();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::InvalidArgument);
}

// In this process, in a simulation, and over several processes.
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
    EXPECT_EQ(refused.error().code, ErrorCode::Refused);
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
    EXPECT_EQ(released.error().code, ErrorCode::Refused);
    auto empty = session.load(compiled.plan, Slice());
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, ErrorCode::InvalidArgument);
    auto impossible = session.reserve({.shape = {7}});
    ASSERT_FALSE(impossible);
    EXPECT_EQ(impossible.error().code, ErrorCode::InvalidArgument);
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

TEST(ApiTest, KernelsAreCompiledOnce) {
  // Of this process: others that test keep theirs beside it.
  std::string folder = ::testing::TempDir() + "/api_test_kernels_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  CompileOptions options{.topology = "1x1x2", .kernelCache = folder};
  auto first = take(compile(runningSum(), options));
  auto again = take(compile(runningSum(), options));
  options.kernelCache = "";
  auto none = take(compile(runningSum(), options));
  for (const Compiled *compiled : {&first, &again, &none}) {
    ASSERT_EQ(compiled->kernels.size(), 1u);
    EXPECT_EQ(compiled->kernels[0].kernel, "add");
    EXPECT_GT(compiled->kernels[0].seconds, 0);
    EXPECT_EQ(compiled->kernels[0].isCached, compiled == &again);
    EXPECT_EQ(compiled->plan.bytes(), none.plan.bytes());
    EXPECT_THAT(compiled->remarks, IsEmpty());
  }
  std::filesystem::remove_all(folder);

  options.kernelCache = "/proc/none";
  auto refused = compile(runningSum(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("cannot keep compiled kernels in '/proc/none': "));
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
  EXPECT_EQ(session.writeTrace(text).error().code, ErrorCode::Unwritable);
  options.run.trace_events = 0;
  Status untraced = take(Session::open(options)).writeTrace(std::cout);
  EXPECT_EQ(untraced.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(untraced.error().message, HasSubstr("trace_events"));
  options.run.trace_events = -1;
  EXPECT_THAT(Session::open(options).error().message,
              HasSubstr("a trace of -1 events"));
}

/// A file of that text, for as long as this lives.
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
  EXPECT_EQ(tooSoon.error().code, ErrorCode::InvalidArgument);
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
  // Nothing is estimated.
  EXPECT_TRUE(second.remarks.empty());
  // A plan has its costs.
  auto fixed =
      compile(Program{take(printPlan(second.plan)), "sum"}, compileOptions);
  ASSERT_FALSE(fixed);
  EXPECT_EQ(fixed.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(fixed.error().message, HasSubstr("whose costs are fixed"));
  // Another program does not take them.
  Program other = runningSum();
  other.text += "func.func private @more() { return }\n";
  auto refused = compile(other, compileOptions);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(file.path), HasSubstr("is of program 'sum'"),
                    HasSubstr("this is 'sum'")));

  text.setstate(std::ios::badbit);
  EXPECT_EQ(session.writeProfile(first.plan, text).error().code,
            ErrorCode::Unwritable);
  options.run.world = RunOptions::kSim;
  Status simulated =
      take(Session::open(options)).writeProfile(first.plan, std::cout);
  EXPECT_EQ(simulated.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(simulated.error().message, HasSubstr("time is virtual"));
}

TEST(ApiTest, HandlesReleaseInAnyOrder) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  std::optional<pathways::Run> run;
  {
    auto session = take(Session::open({.topology = "1x1x2"}));
    auto executable = take(session.load(compiled.plan));
    run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  }
  // The run keeps what it needs alive.
  EXPECT_THAT(values(take(run->fetch("total"))), ElementsAre(1, 2));
}

TEST(ApiTest, ArraysStayBetweenLaunches) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session =
        take(Session::open({.topology = "1x2x1", .run = {.world = world}}));
    auto executable = take(session.load(compiled.plan));
    Array total = take(session.put(floats({2}, {10, 20})));
    EXPECT_TRUE(total.isReady());
    for (float i = 1; i <= 5; ++i) {
      // The argument is the result of a run that may still be under way.
      auto run = take(executable.launch(
          {{"x", floats({1, 2}, {i, -i})}, {"start", total}}));
      total = take(run.take("total"));
    }
    EXPECT_EQ(total.getElement(), ElementType::kF32);
    EXPECT_THAT(total.getShape(), ElementsAre(2));
    EXPECT_TRUE(total.await());
    EXPECT_TRUE(total.isReady());
    EXPECT_THAT(values(take(total.get())), ElementsAre(25, 5));
  }
}

/// acc' = acc + x, where both devices have contributions, and what that is.
constexpr char kContributions[] = R"(
pw.slice @s mesh <"d" = 2>
!acc = !pw.array<3xf32, @s, [{}] partial add {"d"}>
!x = !pw.array<4x3xf32, @s, [{"d"}, {}]>
!sum = !pw.array<3xf32, @s, [{}]>
func.func private @add(%acc: tensor<3xf32>, %x: tensor<4x3xf32>) -> tensor<3xf32> {
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x3xf32>) outs(%acc : tensor<3xf32>) dimensions = [0]
  return %sum : tensor<3xf32>
}
pw.program @accumulate(%x: !x, %acc: !acc {pw.carried = 0 : i64}) -> (!acc {pw.name = "acc"}) {
  %0 = pw.call @add(%acc, %x) donate(%acc) : (!acc, !x) -> !acc
  pw.return %0 : !acc
}
pw.program @finish(%acc: !acc) -> (!sum {pw.name = "sum"}) {
  %0 = pw.reshard %acc : !acc -> !sum
  pw.return %0 : !sum
}
pw.program @whole(%acc: !sum) -> (!sum {pw.name = "sum"}) {
  pw.return %acc : !sum
})";

TEST(ApiTest, ArraysAreSavedAndLoadedElsewhere) {
  std::string folder = testing::TempDir() + "api_test_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Plan plan = take(compile(runningSum(), {.topology = "1x1x2"})).plan;
  {
    Session session = take(Session::open({.topology = "1x1x2"}));
    Executable sum = take(session.load(plan));
    auto run = take(sum.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {10, 20})}}));
    // Also of a run that goes on.
    const Array total = take(run.take("total"));
    const Array trail = take(run.take("trail"));
    EXPECT_TRUE(total.save(folder + "/total"));
    EXPECT_TRUE(
        session.save({{"total", total}, {"trail", trail}}, folder + "/all"));
    EXPECT_EQ(total.save(folder + "/total").error().code,
              ErrorCode::AlreadyExists);
    EXPECT_EQ(total.save(folder + "/none/total").error().code,
              ErrorCode::Unwritable);
    EXPECT_EQ(session.save({{"a/b", total}}, folder + "/b").error().code,
              ErrorCode::InvalidArgument);
    EXPECT_EQ(session.save({{"a", Array()}}, folder + "/b").error().code,
              ErrorCode::InvalidArgument);
    Session other = take(session.another("other"));
    EXPECT_EQ(other.save({{"a", total}}, folder + "/b").error().code,
              ErrorCode::InvalidArgument);
  }
  Session session = take(
      Session::open({.topology = "1x2x1", .run = {.world = RunOptions::kSim}}));
  Executable sum = take(
      session.load(take(compile(runningSum(), {.topology = "1x2x1"})).plan));
  Array total = take(session.loadArray(folder + "/total"));
  EXPECT_EQ(total.getShape(), (std::vector<int64_t>{2}));
  auto run =
      take(sum.launch({{"x", floats({1, 2}, {1, 1})}, {"start", total}}));
  EXPECT_EQ(values(take(run.fetch("total"))), (std::vector<float>{12, 23}));
  auto all = take(session.loadArrays(folder + "/all"));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(values(take(all["trail"].get())), (std::vector<float>{11, 22}));

  EXPECT_EQ(session.loadArray(folder + "/none").error().code,
            ErrorCode::NotFound);
  EXPECT_EQ(session.loadArray(folder + "/all").error().code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(session.loadArrays(folder + "/total").error().code,
            ErrorCode::InvalidArgument);
  std::filesystem::resize_file(folder + "/all/trail/block-0.npy", 10);
  EXPECT_EQ(session.loadArrays(folder + "/all").error().code,
            ErrorCode::Damaged);
  // What is loaded from it cannot be used any more, and says so.
  run = take(sum.launch({{"x", all["trail"]}, {"start", total}}));
  const Error changed = run.await().error();
  EXPECT_EQ(changed.code, ErrorCode::RunFailed);
  EXPECT_NE(changed.message.find("trail/block-0.npy"), std::string::npos)
      << changed.message;
  total.release();
  EXPECT_EQ(total.save(folder + "/b").error().code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder + "/b"));
  std::filesystem::remove_all(folder);
}

TEST(ApiTest, ContributionsStayBetweenLaunches) {
  for (const char *topology : {"1x1x2", "1x2x1"}) {
    auto session = take(Session::open({.topology = topology}));
    auto load = [&](const char *program) {
      return take(
          session.load(take(compile({kContributions},
                                    {.topology = topology, .program = program}))
                           .plan));
    };
    auto accumulate = load("accumulate"), finish = load("finish"),
         whole = load("whole");
    HostArray x = floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    Array acc = take(session.put(floats({3}, {100, 200, 300})));
    for (int launch = 0; launch < 3; ++launch) {
      auto run = take(accumulate.launch({{"x", x}, {"acc", acc}}, 2));
      acc = take(run.take("acc"));
    }
    // As contributions, as the client's own, and as a whole array.
    auto sums = ElementsAre(232, 356, 480);
    EXPECT_THAT(values(take(take(finish.launch({{"acc", acc}})).fetch("sum"))),
                sums);
    EXPECT_THAT(values(take(take(whole.launch({{"acc", acc}})).fetch("sum"))),
                sums);
    EXPECT_THAT(values(take(acc.get())), sums);
  }
}

/// In a simulation nothing happens unless somebody waits.
TEST(ApiTest, ToDestroyWaitsForNothing) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  auto session = take(
      Session::open({.topology = "1x2x1", .run = {.world = RunOptions::kSim}}));
  Array total;
  {
    auto executable = take(session.load(compiled.plan));
    auto run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
    total = take(run.take("total"));
    auto unseen = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
    EXPECT_FALSE(run.isReady());
  }
  EXPECT_FALSE(total.isReady());
  EXPECT_THAT(values(take(total.get())), ElementsAre(1, 2));
  // What was given up is unloaded, and makes room.
  for (int i = 0; i < 100; ++i)
    take(session.load(compiled.plan));
}

TEST(ApiTest, BorrowedValuesAreGivenBackOnce) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    const float start[2] = {10, 20};
    std::atomic<int> done{0};
    auto borrow = [&](std::vector<int64_t> shape) {
      return BorrowedArray{ElementType::kF32, std::move(shape),
                           reinterpret_cast<const char *>(start), sizeof start,
                           [&] { ++done; }};
    };
    auto session =
        take(Session::open({.topology = "1x2x1", .run = {.world = world}}));
    auto executable = take(session.load(compiled.plan));
    Array array = take(session.put(borrow({2})));
    EXPECT_THAT(values(take(array.get())), ElementsAre(10, 20));
    EXPECT_EQ(done, 0);
    auto run = take(
        executable.launch({{"x", floats({1, 2}, {1, 2})}, {"start", array}}));
    EXPECT_TRUE(run.await());
    // The devices have them, and the array goes on.
    EXPECT_EQ(done, 1);
    EXPECT_THAT(values(take(array.get())), ElementsAre(10, 20));
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(11, 22));
    array = take(session.put(borrow({2})));
    array = Array();
    EXPECT_EQ(done, 2);
    auto refused = session.put(borrow({3}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused.error().message,
              "an array of 3xf32 has 8 bytes, expected 12");
    EXPECT_EQ(done, 3);
  }
}

TEST(ApiTest, ASessionOfAClusterThatRunsElsewhere) {
  const std::string address =
      "unix:@pathways-api-test-" + std::to_string(getpid());
  auto nobody = Session::connect(address);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::Refused);
  EXPECT_THAT(nobody.error().message, HasSubstr("pw-node controller"));
  auto nowhere = Session::connect("unix:relative");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::InvalidArgument);

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
  while (!connected && connected.error().code == ErrorCode::Refused &&
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
  EXPECT_EQ(taken.error().code, ErrorCode::AlreadyExists);
  for (Session *one : {&session, &other}) {
    auto program = take(one->load(compiled.plan));
    Array start = take(one->put(floats({2}, {1, 2})));
    auto run = take(program.launch(
        {{"x", floats({3, 2}, {10, 20, 30, 40, 50, 60})}, {"start", start}},
        3));
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(91, 122));
  }
  // The controller goes, and takes no call with it.
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

// A child of this process.
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
    EXPECT_EQ(refused.error().code, ErrorCode::AlreadyExists);
    EXPECT_EQ(refused.error().message, "there is a client 'ann' [PW6110]");
    std::optional<Session> bo = take(ann.another("bo"));
    auto annsProgram = take(ann.load(compiled.plan));
    auto bosProgram = take(bo->load(compiled.plan));
    Array annsArray = take(ann.put(floats({2}, {1, 2})));
    Array bosArray = take(bo->put(floats({2}, {3, 4})));
    auto mixed = annsProgram.launch(
        {{"x", floats({1, 2}, {0, 0})}, {"start", bosArray}});
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(mixed.error().message, HasSubstr("is not of client 'ann'"));
    for (auto *one : {&annsProgram, &bosProgram}) {
      const bool anns = one == &annsProgram;
      auto run = take(one->launch({{"x", floats({1, 2}, {10, 10})},
                                   {"start", anns ? annsArray : bosArray}}));
      EXPECT_THAT(values(take(run.fetch("total"))),
                  ElementsAre(anns ? 11 : 13, anns ? 12 : 14));
    }
    // The name is free when all that came from the session is gone.
    bo.reset();
    EXPECT_FALSE(ann.another("bo"));
    bosArray = Array();
    {
      auto gone = std::move(bosProgram);
    }
    take(ann.another("bo"));
  }
}

constexpr char kEmpty[] = R"(
func.func private @none(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<0xf32>)
    attributes {pw.local_view} {
  %e = tensor.empty() : tensor<0xf32>
  return %x, %e : tensor<1xf32>, tensor<0xf32>
}
pw.slice @s mesh <"d" = 2>
pw.program @p(%x: !pw.array<2xf32, @s, [{"d"}]>)
    -> (!pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>) {
  %y, %e = pw.call @none(%x) : (!pw.array<2xf32, @s, [{"d"}]>)
      -> (!pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>)
  pw.return %y, %e : !pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>
})";

/// In a simulation nothing happens unless somebody waits.
TEST(ApiTest, ToTakeAResultOfNoElementsWaits) {
  auto plan =
      take(compile(Program{kEmpty, "t.mlir"}, {.topology = "1x1x2"})).plan;
  auto session = take(
      Session::open({.topology = "1x1x2", .run = {.world = RunOptions::kSim}}));
  auto executable = take(session.load(plan));
  auto run = take(executable.launch({{"x", floats({2}, {1, 2})}}));
  auto some = take(run.take("result0"));
  EXPECT_FALSE(some.isReady());
  EXPECT_FALSE(run.isReady());
  auto none = take(run.take("result1"));
  EXPECT_TRUE(none.isReady());
  EXPECT_TRUE(run.isReady());
  EXPECT_THAT(none.getShape(), ElementsAre(0));
  EXPECT_THAT(take(none.get()).data, IsEmpty());
  EXPECT_THAT(values(take(some.get())), ElementsAre(1, 2));
}

} // namespace
} // namespace pathways
