//===- compile_bench.cc - Time of compilation -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// compile_bench chain [CALLS]         from text to plan bytes, including object
//                                     code, for CALLS calls of one body in a
//                                     chain, and for a tenth of them
// compile_bench shards [CALLS]        a chain with movements on 4 and 4096
//                                     devices
// compile_bench kernels [KERNELS]     bodies that are all different, without a
//                                     cache and with a cache that has them
// compile_bench elementwise [OPS]     one body that is a chain of OPS
//                                     elementwise ops, and one with a sixteenth
//                                     of them
// compile_bench arguments [ARRAYS]    one call of ARRAYS arrays that returns as
//                                     many, and one of a sixteenth of them,
//                                     each in its own process
// compile_bench matmuls [OPS]         one body that is a chain of products of
//                                     32x32
// compile_bench partition [CALLS]     CALLS calls of ten bodies of 50 ops in
//                                     global view, cut over 4 and over 4096
//                                     devices, and a tenth of the calls
// compile_bench examples FOLDER       each kernel of the programs in it
// compile_bench import [OPS]          from a module of StableHLO with OPS
//                                     operations to a program, without kernels,
//                                     and of a tenth of them
// compile_bench module NAME FILE      the same for the module in the file
//
//===----------------------------------------------------------------------===//

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench.h"
#include "pathways/Compile.h"
#include "runtime/plan/plan_file.h"

namespace pathways::bench {
namespace {

const char kBody[] = R"(
func.func private @body(%v: tensor<4xf32>) -> tensor<4xf32>
    attributes {pw.local_view} {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %r = arith.addf %v, %one : tensor<4xf32>
  return %r : tensor<4xf32>
}
)";

// `moves`: every tenth value moves to another slice and back.
Program Chain(int64_t devices, int calls, bool moves) {
  ProgramBuilder b("chain");
  b.slice("s", {{"x", devices}});
  if (moves) b.slice("t", {{"x", devices}});
  b.functions(kBody);
  auto type = [&](const char* slice) {
    return ProgramBuilder::arrayType(ElementType::kF32, {4 * devices}, slice,
                                     {{"x"}});
  };
  ProgramBuilder::Value value = b.argument("v", type("s"));
  for (int i = 0; i < calls; ++i) {
    if (moves && i % 10 == 9) {
      value = b.reshard(value, type("t"));
      value = b.call("body", {value}, type("t"));
      value = b.reshard(value, type("s"));
    } else {
      value = b.call("body", {value}, type("s"));
    }
  }
  b.result("out", value);
  return b.build();
}

// Returns calls of bodies that differ in a constant, so that each is a kernel
// of its own.
Program ManyKernels(int kernels) {
  ProgramBuilder b("kernels");
  b.slice("s", {{"x", 8}});
  const std::string type =
      ProgramBuilder::arrayType(ElementType::kF32, {8 * 64}, "s", {{"x"}});
  ProgramBuilder::Value value = b.argument("v", type);
  for (int i = 0; i < kernels; ++i) {
    const std::string name = "body" + std::to_string(i);
    b.functions("func.func private @" + name + R"((%v: tensor<64xf32>)
    -> tensor<64xf32> attributes {pw.local_view} {
  %c = arith.constant dense<)" +
                std::to_string(i + 1) + R"(.5> : tensor<64xf32>
  %0 = arith.mulf %v, %c : tensor<64xf32>
  %1 = math.exp %0 : tensor<64xf32>
  %2 = arith.addf %1, %v : tensor<64xf32>
  return %2 : tensor<64xf32>
})");
    value = b.call(name, {value}, type);
  }
  b.result("out", value);
  return b.build();
}

// Returns a program with one body; `ops(i, before, after)` is the text of op i.
template <typename Ops>
Program OneBody(const std::string& type, const std::string& constants,
                int count, const Ops& ops) {
  ProgramBuilder b("one_body");
  b.slice("s", {{"x", 1}});
  std::string body = "func.func private @body(%x: tensor<" + type +
                     ">, %w: tensor<" + type + ">) -> tensor<" + type +
                     "> attributes {pw.local_view} {\n" + constants;
  std::string value = "%x";
  for (int i = 0; i < count; ++i) {
    const std::string next = "%v" + std::to_string(i);
    body += "  " + ops(i, value, next) + "\n";
    value = next;
  }
  b.functions(body + "  return " + value + " : tensor<" + type + ">\n}");
  const size_t times = type.rfind('x');
  std::vector<int64_t> shape;
  std::istringstream sizes(type.substr(0, times));
  for (std::string size; std::getline(sizes, size, 'x');) {
    shape.push_back(std::stoll(size));
  }
  const std::string array = ProgramBuilder::arrayType(
      ElementType::kF32, shape, "s",
      std::vector<ProgramBuilder::Axes>(shape.size()));
  const ProgramBuilder::Value x = b.argument("x", array);
  const ProgramBuilder::Value w = b.argument("w", array);
  b.result("out", b.call("body", {x, w}, array));
  return b.build();
}

Program Elementwise(int count) {
  static const char* const kOps[] = {"addf", "mulf", "maximumf", "subf"};
  return OneBody("64xf32", "", count,
                 [](int i, const std::string& x, const std::string& y) {
                   return y + " = arith." + kOps[i % 4] + " " + x +
                          ", %w : tensor<64xf32>";
                 });
}

Program Matmuls(int count) {
  return OneBody(
      "32x32xf32", "  %zero = arith.constant dense<0.0> : tensor<32x32xf32>\n",
      count, [](int, const std::string& x, const std::string& y) {
        return y + " = linalg.matmul ins(" + x +
               ", %w : tensor<32x32xf32>, tensor<32x32xf32>) "
               "outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>";
      });
}

// Each body has 49 elementwise ops and a product with a matrix that all bodies
// share.
Program GlobalViews(int64_t devices, int calls) {
  constexpr int kBodies = 10, kOps = 50;
  const std::string rows = "tensor<8192x8xf32>", square = "tensor<8x8xf32>";
  ProgramBuilder b("global_views");
  b.slice("s", {{"x", devices}});
  for (int body = 0; body < kBodies; ++body) {
    std::string text =
        "func.func private @body" + std::to_string(body) + "(%x: " + rows +
        ", %w: " + square + ") -> " + rows +
        " {\n  %zero = arith.constant dense<" + std::to_string(body) +
        ".0> : " + rows + "\n  %v0 = linalg.matmul ins(%x, %w : " + rows +
        ", " + square + ") outs(%zero : " + rows + ") -> " + rows + "\n";
    for (int op = 1; op < kOps; ++op) {
      text += "  %v" + std::to_string(op) + " = arith.addf %v" +
              std::to_string(op - 1) + ", %x : " + rows + "\n";
    }
    b.functions(text + "  return %v" + std::to_string(kOps - 1) + " : " + rows +
                "\n}\n");
  }
  const std::string cut =
      ProgramBuilder::arrayType(ElementType::kF32, {8192, 8}, "s", {{"x"}, {}});
  // Only the type of the argument says how it is cut.
  const std::string open =
      ProgramBuilder::arrayType(ElementType::kF32, {8192, 8}, "s");
  ProgramBuilder::Value value = b.argument("x", cut);
  const ProgramBuilder::Value w = b.argument(
      "w", ProgramBuilder::arrayType(ElementType::kF32, {8, 8}, "s"));
  for (int i = 0; i < calls; ++i) {
    value = b.call("body" + std::to_string(i % kBodies), {value, w}, open);
  }
  b.result("out", value);
  return b.build();
}

// Returns one call that takes and returns `count` arrays, like a training step.
Program ManyArguments(int count) {
  ProgramBuilder b("arguments");
  b.slice("s", {{"x", 2}});
  std::string arguments, types, sums, results;
  for (int i = 0; i < count; ++i) {
    const std::string comma = i > 0 ? ", " : "", n = std::to_string(i);
    arguments += comma + "%a" + n + ": tensor<4xf32>";
    types += comma + "tensor<4xf32>";
    sums += "  %r" + n + " = arith.addf %a" + n + ", %a" +
            std::to_string((i + 1) % count) + " : tensor<4xf32>\n";
    results += comma + "%r" + n;
  }
  b.functions("func.func private @body(" + arguments + ") -> (" + types +
              ") attributes {pw.local_view} {\n" + sums + "  return " +
              results + " : " + types + "\n}");
  const std::string type =
      ProgramBuilder::arrayType(ElementType::kF32, {8}, "s", {{"x"}});
  std::vector<ProgramBuilder::Value> operands;
  for (int i = 0; i < count; ++i)
    operands.push_back(b.argument("a" + std::to_string(i), type));
  const std::vector<ProgramBuilder::Value> made =
      b.callMulti("body", operands, std::vector<std::string>(count, type));
  for (int i = 0; i < count; ++i) b.result("r" + std::to_string(i), made[i]);
  return b.build();
}

// Returns a module of StableHLO with layers of ten operations, in the form that
// JAX prints.
Program Module(int ops) {
  std::string text =
      "func.func public @main(%arg0: tensor<8x16xf32>, %arg1: "
      "tensor<16x16xf32>,"
      " %arg2: tensor<16xf32>) -> tensor<8x16xf32> {\n"
      "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n";
  const std::string rows = "tensor<8x16xf32>";
  std::string value = "%arg0";
  for (int i = 0; i < ops;) {
    auto next = [&](const std::string& op, const std::string& type) {
      text += "  %" + std::to_string(i) + " = stablehlo." + op + " : " + type +
              "\n";
      return "%" + std::to_string(i++);
    };
    const std::string product =
        next("dot_general " + value + ", %arg1, contracting_dims = [1] x [0]",
             "(" + rows + ", tensor<16x16xf32>) -> " + rows);
    const std::string row = next("broadcast_in_dim %arg2, dims = [1]",
                                 "(tensor<16xf32>) -> tensor<1x16xf32>");
    const std::string bias = next("broadcast_in_dim " + row + ", dims = [0, 1]",
                                  "(tensor<1x16xf32>) -> " + rows);
    const std::string sum = next("add " + product + ", " + bias, rows);
    const std::string zero =
        next("broadcast_in_dim %cst, dims = []", "(tensor<f32>) -> " + rows);
    const std::string relu = next("maximum " + sum + ", " + zero, rows);
    const std::string total =
        next("reduce(" + relu +
                 " init: %cst) applies stablehlo.add across dimensions = [1]",
             "(" + rows + ", tensor<f32>) -> tensor<8xf32>");
    const std::string totals =
        next("broadcast_in_dim " + total + ", dims = [0]",
             "(tensor<8xf32>) -> " + rows);
    const std::string share = next("divide " + relu + ", " + totals, rows);
    value = next("add " + share + ", " + value, rows);
  }
  return {text + "  return " + value + " : " + rows + "\n}\n"};
}

// Returns the seconds from the text of a module to a program, the best of
// `rounds`.
double Import(const Program& module, int rounds) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double start = Seconds();
    const Result<std::string> imported =
        importStableHlo(module, {.elided = "zeros"});
    best = std::min(best, Seconds() - start);
    if (!imported) Die(imported.error().message);
  }
  return best;
}

struct Cost {
  double seconds;
  size_t bytes;
};

// Checks that the plan has an action for each of `calls`, so that all were
// compiled.
Cost Compile(const Program& program, const std::string& topology, int calls,
             const std::string& kernel_cache = "") {
  CompileOptions options;
  options.topology = topology;
  options.kernel_cache = kernel_cache;
  const double start = Seconds();
  Result<Compiled> compiled = compile(program, options);
  const double seconds = Seconds() - start;
  if (!compiled) {
    std::fprintf(stderr, "error: %s\n", compiled.error().message.c_str());
    std::exit(1);
  }
  absl::StatusOr<PlanData> plan = ParsePlan(compiled->plan.bytes());
  int gangs = 0;
  if (plan.ok()) {
    for (const proto::Action& action : plan->tables.actions()) {
      gangs += action.kind() == proto::GANG && action.steps_size() > 0;
    }
  }
  if (gangs != calls) {
    std::fprintf(stderr, "error: the plan has %d gangs, expected %d\n", gangs,
                 calls);
    std::exit(1);
  }
  return {seconds, compiled->plan.bytes().size()};
}

struct ProcessCost {
  double seconds;
  double mib;  // peak memory of the process
};

// Returns the best of three processes that compile only ManyArguments(count).
ProcessCost CompileArguments(int count) {
  ProcessCost best{1e9, 1e9};
  for (int i = 0; i < 3; ++i) {
    int ends[2];
    if (pipe(ends) != 0) Die("cannot make a pipe");
    const pid_t child = fork();
    if (child < 0) Die("cannot make a process");
    if (child == 0) {
      Compile(Chain(8, 10, false), "1x1x8", 10);  // one-time setup
      const double seconds = Compile(ManyArguments(count), "1x1x2", 1).seconds;
      const bool written = write(ends[1], &seconds, sizeof seconds) > 0;
      _exit(written ? 0 : 1);
    }
    close(ends[1]);
    double seconds = 0;
    const bool is_read = read(ends[0], &seconds, sizeof seconds) > 0;
    close(ends[0]);
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || status != 0 || !is_read)
      Die("compiling " + std::to_string(count) + " arguments failed");
    best = {std::min(best.seconds, seconds),
            std::min(best.mib, usage.ru_maxrss / 1024.0)};
  }
  return best;
}

// Returns the time of each kernel of the examples, the best of `rounds`, in
// milliseconds; sorted.
std::vector<double> ExampleKernels(const std::string& folder, int rounds) {
  constexpr std::pair<const char*, const char*> kPrograms[] = {
      {"cnn/program", "1x1x4"},      {"golden/program", "2x2x2"},
      {"pipeline/program", "2x1x4"}, {"train/program", "2x1x4"},
      {"tutorial/divide", "2x1x8"},  {"tutorial/layers", "2x1x8"},
      {"tutorial/softmax", "2x2x2"}, {"tutorial/sum", "2x1x8"}};
  std::vector<double> all;
  for (const auto& [name, topology] : kPrograms) {
    const std::string path = folder + "/" + name + ".mlir";
    Result<Program> program = readProgram(path);
    CompileOptions options;
    options.topology = topology;
    options.oversubscribe = true;
    std::vector<double> best;
    for (int round = 0; round < rounds; ++round) {
      if (!program) break;
      Result<Compiled> compiled = compile(*program, options);
      if (!compiled) {
        std::fprintf(stderr, "error: %s\n", compiled.error().message.c_str());
        std::exit(1);
      }
      best.resize(compiled->kernels.size(), 1e9);
      for (size_t k = 0; k < best.size(); ++k) {
        best[k] = std::min(best[k], compiled->kernels[k].seconds * 1e3);
      }
    }
    if (best.empty()) {
      std::fprintf(stderr, "error: %s has no kernels, or is not there\n",
                   path.c_str());
      std::exit(1);
    }
    all.insert(all.end(), best.begin(), best.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int calls = argc > 2 ? std::max(10, std::atoi(argv[2])) : 0;
  if (what == "arguments") {  // before there are threads
    const int most = calls > 0 ? calls : 8000;
    const ProcessCost few = CompileArguments(most / 16);
    const ProcessCost many = CompileArguments(most);
    const std::string name = "compile.arguments" + std::to_string(most);
    Figure(name + ".s", many.seconds, "s");
    Figure(name + ".MiB", many.mib, "MiB");
    Figure("compile.arguments.exponent",
           std::log(many.seconds / few.seconds) / std::log(16.0), "");
    Figure("compile.arguments.memory_exponent",
           std::log(many.mib / few.mib) / std::log(16.0), "");
    return 0;
  }
  Compile(Chain(8, 10, false), "1x1x8", 10);  // one-time setup
  if (what == "chain") {
    const int most = calls > 0 ? calls : 10000;
    // The short chain counts its best of three, so that the slope is not noise.
    double few = 1e9;
    for (int i = 0; i < 3; ++i) {
      few = std::min(
          few, Compile(Chain(8, most / 10, false), "1x1x8", most / 10).seconds);
    }
    const Cost many = Compile(Chain(8, most, false), "1x1x8", most);
    Figure("compile.chain" + std::to_string(most) + ".s", many.seconds, "s");
    Figure("compile.chain.exponent",
           std::log(many.seconds / few) / std::log(10.0), "");
  } else if (what == "shards") {
    const int length = calls > 0 ? calls : 300;
    Cost few{1e9, 0}, many{1e9, 0};
    for (int i = 0; i < 3; ++i) {
      const Cost four = Compile(Chain(4, length, true), "1x1x8", length);
      const Cost all = Compile(Chain(4096, length, true), "1x1024x8", length);
      few = {std::min(few.seconds, four.seconds), four.bytes};
      many = {std::min(many.seconds, all.seconds), all.bytes};
    }
    Figure("compile.shards.bytes_ratio", double(many.bytes) / few.bytes, "x");
    Figure("compile.shards.time_ratio", many.seconds / few.seconds, "x");
  } else if (what == "kernels") {
    const int kernels = calls > 0 ? calls : 1000;
    const Program program = ManyKernels(kernels);
    std::string folder = std::filesystem::temp_directory_path() / "pw-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      std::fprintf(stderr, "error: cannot make a folder like %s\n",
                   folder.c_str());
      return 1;
    }
    const Cost none = Compile(program, "1x1x8", kernels);
    const Cost cold = Compile(program, "1x1x8", kernels, folder);
    double warm = 1e9;
    for (int i = 0; i < 3; ++i) {
      warm = std::min(warm, Compile(program, "1x1x8", kernels, folder).seconds);
    }
    std::filesystem::remove_all(folder);
    const std::string name = "compile.kernels" + std::to_string(kernels);
    Figure(name + ".ms_per_kernel", none.seconds * 1e3 / kernels, "ms");
    Figure(name + ".cached_ms_per_kernel", warm * 1e3 / kernels, "ms");
    Figure(name + ".cache_speedup", none.seconds / warm, "x");
    Figure(name + ".cold_cache_cost", cold.seconds / none.seconds, "x");
  } else if (what == "elementwise") {
    const int most = calls > 0 ? calls : 16000;
    double few = 1e9, many = 1e9;
    for (int i = 0; i < 3; ++i) {
      few = std::min(few, Compile(Elementwise(most / 16), "1x1x1", 1).seconds);
    }
    many = Compile(Elementwise(most), "1x1x1", 1).seconds;
    Figure("compile.elementwise" + std::to_string(most) + ".s", many, "s");
    Figure("compile.elementwise.exponent",
           std::log(many / few) / std::log(16.0), "");
  } else if (what == "matmuls") {
    const int count = calls > 0 ? calls : 400;
    Figure("compile.matmuls" + std::to_string(count) + ".s",
           Compile(Matmuls(count), "1x1x1", 1).seconds, "s");
  } else if (what == "examples") {
    const std::vector<double> kernels =
        ExampleKernels(argc > 2 ? argv[2] : "examples", /*rounds=*/3);
    Figure("compile.kernel_median.ms", kernels[kernels.size() / 2], "ms");
    Figure("compile.kernel_least.ms", kernels.front(), "ms");
    Figure("compile.kernel_most.ms", kernels.back(), "ms");
  } else if (what == "import") {
    const int most = calls > 0 ? calls : 100000;
    const double few = Import(Module(most / 10), 3);
    const double many = Import(Module(most), 1);
    Figure("import.ops" + std::to_string(most) + ".s", many, "s");
    Figure("import.exponent", std::log(many / few) / std::log(10.0), "");
  } else if (what == "module" && argc > 3) {
    const Result<Program> module = readProgram(argv[3]);
    if (!module) Die(module.error().message);
    Figure(std::string("import.") + argv[2] + ".ms", Import(*module, 5) * 1e3,
           "ms");
  } else if (what == "partition") {
    const int most = calls > 0 ? calls : 10000;
    double few = 1e9, four = 1e9, all = 1e9;
    for (int i = 0; i < 3; ++i) {
      few = std::min(
          few, Compile(GlobalViews(4, most / 10), "1x1x8", most / 10).seconds);
      four =
          std::min(four, Compile(GlobalViews(4, most), "1x1x8", most).seconds);
      all = std::min(
          all, Compile(GlobalViews(4096, most), "1x1024x8", most).seconds);
    }
    Figure("partition.compile" + std::to_string(most) + ".s", four, "s");
    Figure("partition.compile.exponent", std::log(four / few) / std::log(10.0),
           "");
    Figure("partition.compile.time_ratio", all / four, "x");
  } else {
    std::fprintf(
        stderr,
        "usage: compile_bench chain|shards|kernels|elementwise|arguments|"
        "matmuls|partition|import [COUNT], examples FOLDER, or module NAME "
        "FILE\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
