//===- loops_bench.cc - Loops of programs ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// loops_bench compile GENERATE [STAGES]    a training step of a pipeline with
//                                          schedule 1f1b, which the script
//                                          examples/schedules/generate prints,
//                                          with 32 and with 1,024
//                                          micro-batches: bytes of the plan and
//                                          time of compilation, one over the
//                                          other
// loops_bench layers [LAYERS]              a scan over LAYERS layers, which are
//                                          products of 64x64, over one layer
// loops_bench verify GENERATE [STAGES]     the check of the plan of a pipeline
//                                          with 1,024 micro-batches of three
//                                          cells for each of STAGES stages
// loops_bench credits GENERATE [STAGES]    the compilation of a pipeline with
// 512
//                                          micro-batches, most of which is the
//                                          choice of slots for iterations
// loops_bench iteration [ITERATIONS]       a step of a loop of one gang on 8
//                                          devices over the same calls written
//                                          one by one
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "benchmarks/api.h"
#include "benchmarks/bench.h"
#include "pathways/Pathways.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/verify.h"

namespace pathways::bench {
namespace {

// Returns what a command prints.
std::string Output(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) Die(absl::StrCat("cannot run ", command));
  std::string text;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), size);
  if (pclose(pipe) != 0) Die(absl::StrCat(command, " failed"));
  return text;
}

std::string Pipeline(const std::string& generate, int stages, int batches,
                     const std::string& options = "") {
  return Output(
      absl::StrCat(generate, " ", stages, " ", batches, " ", options));
}

struct Made {
  double ms = 0;  // the best of several
  Plan plan;
};

Made Compile(const std::string& text, const CompileOptions& options,
             int rounds) {
  Made made;
  for (int i = 0; i < rounds; ++i) {
    const double start = Seconds();
    Compiled compiled = Take(compile({text, "bench.mlir"}, options));
    const double ms = (Seconds() - start) * 1e3;
    made.ms = i == 0 ? ms : std::min(made.ms, ms);
    made.plan = std::move(compiled.plan);
  }
  return made;
}

void CompileTimes(const std::string& generate, int stages) {
  CompileOptions options;
  options.topology = absl::StrCat(stages, "x1x1");
  options.schedule = "1f1b";
  const Made few = Compile(Pipeline(generate, stages, 32), options, 7);
  const Made many = Compile(Pipeline(generate, stages, 1024), options, 7);
  Figure("loops.compile.32.ms", few.ms, "ms");
  Figure("loops.compile.1024.ms", many.ms, "ms");
  Figure("loops.compile.1024_over_32", many.ms / few.ms, "x");
  Figure("loops.plan_bytes.1024_over_32",
         static_cast<double>(many.plan.bytes().size()) /
             static_cast<double>(few.plan.bytes().size()),
         "x");
}

// Returns a scan over layers whose weights are products of 64x64.
std::string Layers(int layers) {
  return absl::Substitute(R"(
pw.slice @s mesh <"x" = 1>
!x = !pw.array<64x64xf32, @s, [{}, {}]>
!ws = !pw.array<$0x64x64xf32, @s, [{}, {}, {}]>
func.func private @layer(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = math.tanh %y : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}
pw.program @layers(%x: !x, %ws: !ws) -> !x {
  %y = pw.for $0 (%h = %x carried : !x, %w = %ws stepped : !ws -> !x)
      -> (!x carried) {
    %n = pw.call @layer(%h, %w) : (!x, !x) -> !x
    pw.yield %n : !x
  }
  pw.return %y : !x
}
)",
                          layers);
}

void LayerTimes(int layers) {
  const CompileOptions options = {.topology = "1x1x1"};
  const Made one = Compile(Layers(1), options, 7);
  const Made all = Compile(Layers(layers), options, 7);
  Figure(absl::StrCat("loops.layers", layers, "_over_1.compile"),
         all.ms / one.ms, "x");
}

void VerifyTime(const std::string& generate, int stages) {
  constexpr int kBatches = 1024;
  CompileOptions options;
  options.topology = absl::StrCat(stages, "x1x1");
  options.schedule = "zb-h1";
  const Made made =
      Compile(Pipeline(generate, stages, kBatches, "--split"), options, 1);
  const PlanData data = Must(ParsePlan(made.plan.bytes()));
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = Seconds();
    if (!VerifyPlan(data.tables, data.blobs.size(), {.expands_loops = false})
             .empty())
      Die("the plan has issues");
    const double ms = (Seconds() - start) * 1e3;
    best = i == 0 ? ms : std::min(best, ms);
  }
  Figure(absl::StrCat("loops.verify.", stages * kBatches * 3, ".ms"), best,
         "ms");
}

void CreditsTime(const std::string& generate, int stages) {
  constexpr int kBatches = 512;
  CompileOptions options;
  options.topology = absl::StrCat(stages, "x1x1");
  options.schedule = "1f1b";
  const Made made = Compile(Pipeline(generate, stages, kBatches), options, 3);
  Figure(absl::StrCat("loops.credits.", stages, "x", kBatches, ".s"),
         made.ms * 1e-3, "s");
}

// Returns a program that adds one `times` times, in a loop or call by call.
std::string Additions(int times, bool is_loop) {
  std::string calls;
  if (is_loop) {
    calls = absl::Substitute(
        R"(  %y = pw.for $0 (%a = %x carried : !x) -> (!x carried) {
    %b = pw.call @add(%a) : (!x) -> !x
    pw.yield %b : !x
  }
  pw.return %y : !x
)",
        times);
  } else {
    for (int i = 0; i < times; ++i)
      absl::StrAppend(&calls, "  %", i, " = pw.call @add(",
                      i == 0 ? "%x" : absl::StrCat("%", i - 1),
                      ") : (!x) -> !x\n");
    absl::StrAppend(&calls, "  pw.return %", times - 1, " : !x\n");
  }
  return absl::StrCat(R"(
pw.slice @s mesh <"x" = 8>
!x = !pw.array<256xf32, @s, [{"x"}]>
func.func private @add(%x: tensor<256xf32>) -> tensor<256xf32> {
  %one = arith.constant dense<1.0> : tensor<256xf32>
  %y = arith.addf %x, %one : tensor<256xf32>
  return %y : tensor<256xf32>
}
pw.program @additions(%x: !x) -> !x {
)",
                      calls, "}\n");
}

// A program loaded on eight devices.
class Loaded {
 public:
  explicit Loaded(const std::string& text)
      : session_(Take(Session::open({.topology = "1x1x8"}))),
        executable_(Take(session_.load(
            Take(compile({text, "bench.mlir"}, {.topology = "1x1x8"})).plan))) {
    array_.data.resize(256 * sizeof(float));
    std::fill(array_.data.begin(), array_.data.end(), 0);
  }

  double Run(int64_t steps, HostArray* result) {
    const double start = Seconds();
    pathways::Run run = Take(executable_.launch({{"x", array_}}, steps));
    if (Status status = run.await(); !status) Die(status.error().message);
    const double seconds = Seconds() - start;
    *result = Take(run.fetch("result0"));
    return seconds;
  }

 private:
  Session session_;
  Executable executable_;
  HostArray array_{ElementType::kF32, {256}, {}};
};

void IterationTime(int iterations) {
  Loaded loop(Additions(iterations, true)), chain(Additions(iterations, false));
  HostArray ours, theirs;
  std::vector<double> ratios;
  for (int i = 0; i <= 20; ++i) {
    const double a = loop.Run(20, &ours), b = chain.Run(20, &theirs);
    if (ours.data != theirs.data) Die("the two do not have the same bits");
    if (i > 0) ratios.push_back(a / b);  // the first turn is a warm-up
  }
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2,
                   ratios.end());
  Figure("loops.iteration.vs_unrolled", ratios[ratios.size() / 2], "x");
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  auto number = [&](int place, int otherwise) {
    return argc > place ? std::atoi(argv[place]) : otherwise;
  };
  if (what == "compile" && argc > 2) {
    CompileTimes(argv[2], number(3, 8));
  } else if (what == "layers") {
    LayerTimes(number(2, 80));
  } else if (what == "verify" && argc > 2) {
    VerifyTime(argv[2], number(3, 128));
  } else if (what == "credits" && argc > 2) {
    CreditsTime(argv[2], number(3, 128));
  } else if (what == "iteration") {
    IterationTime(number(2, 1000));
  } else {
    std::fprintf(stderr,
                 "usage: loops_bench compile GENERATE [STAGES] | layers "
                 "[LAYERS] | verify GENERATE [STAGES] | credits GENERATE "
                 "[STAGES] | iteration [ITERATIONS]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
