//===- kernel_bench.cc - Generated code compared with libraries -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// kernel_bench [SECONDS [NAME...]] compiles bodies as a program has them, takes
// the kernel out of the plan and calls it on one thread, alternating with its
// reference; all benchmarks, or those whose names begin with one of NAME.
// vs_openblas, vs_onednn and vs_parts are relative speed: above 1 the generated
// code is faster. vs_memcpy (of the largest operand or result), vs_matmul and
// vs_f32 are relative time. strict and excess are the speed of code with this
// rounding over that of the default. Results are compared, too.
//
//===----------------------------------------------------------------------===//

#include "benchmarks/kernel_bench.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_join.h"
#include "benchmarks/onednn.h"
#include "pathways/Compile.h"
#include "runtime/plan/plan_file.h"

extern "C" char* openblas_get_corename();

namespace pathways::bench {

namespace {

ElementType elementOf(const std::string& name) {
  const std::pair<const char*, ElementType> types[] = {
      {"f32", ElementType::kF32},
      {"f16", ElementType::kF16},
      {"bf16", ElementType::kBF16},
      {"i8", ElementType::kI8},
      {"i32", ElementType::kI32}};
  for (auto [known, type] : types) {
    if (name == known) return type;
  }
  Die("no elements of type " + name);
}

int64_t BytesOf(const std::string& element) {
  return element == "i8" ? 1 : element == "f16" || element == "bf16" ? 2 : 4;
}

}  // namespace

Memory Allocate(int64_t count, const std::string& element) {
  const int64_t bytes = count * BytesOf(element);
  Memory memory(
      static_cast<float*>(std::aligned_alloc(128, (bytes + 255) / 128 * 128)));
  for (int64_t i = 0; i < count; ++i) {
    const int32_t number = int32_t((uint32_t(i) * 2654435761u >> 8) % 2001);
    void* at = reinterpret_cast<char*>(memory.get()) + i * BytesOf(element);
    if (element == "f32") {
      memory.get()[i] = float(number) / 1000 - 1;
    } else if (element == "i8") {
      *static_cast<int8_t*>(at) = int8_t(number);
    } else if (element == "i32") {
      *static_cast<int32_t*>(at) = number - 1000;
    } else {
      // Values are 1 or a half, so sums of their products are exact.
      const bool is_half = number % 2 == 0;
      *static_cast<uint16_t*>(at) = element == "f16"
                                        ? (is_half ? 0x3800 : 0x3c00)
                                        : (is_half ? 0x3f00 : 0x3f80);
    }
  }
  return memory;
}

std::string Array::type() const {
  std::string text = "tensor<";
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t Array::count() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

int64_t Array::bytes() const { return count() * BytesOf(element); }

Kernel::Kernel(const std::vector<Array>& operands, const Array& result,
               const std::string& statements, Rounding rounding) {
  Define(operands, {result}, {"%r"}, statements, rounding);
}

Kernel::Kernel(const std::vector<Array>& operands,
               const std::vector<Array>& results,
               const std::string& statements) {
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    names.push_back("%r" + std::to_string(i));
  }
  Define(operands, results, names, statements, Rounding::kEachOp);
}

Kernel Kernel::OfModule(const std::vector<Array>& operands, const Array& result,
                        const std::string& text) {
  Kernel kernel;
  kernel.Load(operands, {result}, {text}, Rounding::kEachOp);
  return kernel;
}

void Kernel::Define(const std::vector<Array>& operands,
                    const std::vector<Array>& results,
                    const std::vector<std::string>& names,
                    const std::string& statements, Rounding rounding) {
  ProgramBuilder b("bench");
  b.slice("s", {{"x", 1}});
  auto type = [&](const Array& array) {
    return ProgramBuilder::arrayType(
        elementOf(array.element), array.shape, "s",
        std::vector<ProgramBuilder::Axes>(array.shape.size()));
  };
  std::vector<ProgramBuilder::Value> arguments;
  std::string parameters;
  for (const Array& operand : operands) {
    const std::string name = "a" + std::to_string(arguments.size());
    parameters +=
        (arguments.empty() ? "%" : ", %") + name + ": " + operand.type();
    arguments.push_back(b.argument(name, type(operand)));
  }
  std::string types;
  std::vector<std::string> result_types;
  for (const Array& result : results) {
    types += (types.empty() ? "" : ", ") + result.type();
    result_types.push_back(type(result));
  }
  b.functions("func.func private @body(" + parameters + ") -> (" + types +
              ") attributes {pw.local_view} {\n" + statements + "  return " +
              absl::StrJoin(names, ", ") + " : " + types + "\n}\n");
  for (const auto& value : b.callMulti("body", arguments, result_types)) {
    b.result("out" + value.name.substr(1), value);
  }
  Load(operands, results, b.build(), rounding);
}

void Kernel::Load(const std::vector<Array>& operands,
                  const std::vector<Array>& results, const Program& program,
                  Rounding rounding) {
  CompileOptions options;
  options.topology = "1x1x1";
  options.rounding = rounding;
  Result<Compiled> compiled = compile(program, options);
  if (!compiled) Die(compiled.error().message);
  const PlanData plan = Must(ParsePlan(compiled->plan.bytes()));
  if (plan.tables.kernels_size() != 1 ||
      plan.tables.kernels(0).segments_size() != 1) {
    Die("expected one kernel of one segment");
  }
  const proto::Kernel& kernel = plan.tables.kernels(0);
  library_ = Must(KernelLibrary::Load(kernel, plan.blobs, proto::Target()));
  std::vector<bool> is_taken(operands.size());
  for (const Array& operand : operands) {
    size_t place = 0;
    auto fits = [&] {
      const auto& shape = kernel.segments(0).operands(place).shape();
      return !is_taken[place] &&
             std::equal(shape.begin(), shape.end(), operand.shape.begin(),
                        operand.shape.end());
    };
    while (place < operands.size() && !fits()) ++place;
    if (place == operands.size())
      Die("the kernel has no operand " + operand.type());
    is_taken[place] = true;
    places_.push_back(place);
  }
  pointers_.resize(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    memory_.push_back(Allocate(operands[i].count(), operands[i].element));
    pointers_[places_[i]] = memory_.back().get();
  }
  for (const Array& result : results) {
    memory_.push_back(Allocate(result.count(), result.element));
    pointers_.push_back(memory_.back().get());
  }
  operands_ = operands.size();
  scratch_bytes_ = kernel.segments(0).scratch_bytes();
  memory_.push_back(Allocate(scratch_bytes_ / 4));
}

void Kernel::Run() {
  const int32_t coordinates[1] = {0};
  if (library_->Lookup(0)(pointers_.data(), coordinates, memory_.back().get(),
                          /*step=*/0) != 0) {
    Die("a check of the kernel failed");
  }
}

void Widen(const std::string& element, const void* narrow, float* wide,
           int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, static_cast<const uint16_t*>(narrow) + i, 2);
    if (element == "bf16") {
      const uint32_t word = uint32_t{bits} << 16;
      std::memcpy(wide + i, &word, 4);
    } else {
      _Float16 half;
      std::memcpy(&half, &bits, 2);
      wide[i] = half;
    }
  }
}

std::string Empty(const std::string& name, const Array& array) {
  return "  %" + name + " = tensor.empty() : " + array.type() + "\n";
}

std::string Filled(const std::string& name, const Array& array,
                   const std::string& value) {
  return Empty(name + "_e", array) + "  %" + name + "_v = arith.constant " +
         value + " : " + array.element + "\n  %" + name +
         " = linalg.fill ins(%" + name + "_v : " + array.element + ") outs(%" +
         name + "_e : " + array.type() + ") -> " + array.type() + "\n";
}

std::pair<double, double> InTurns(double seconds,
                                  const std::function<void()>& one,
                                  const std::function<void()>& two) {
  constexpr size_t kLeast = 3;
  std::vector<double> first, second;
  one();
  two();
  const double end = Seconds() + seconds;
  while (Seconds() < end || first.size() < kLeast) {
    double start = Seconds();
    one();
    first.push_back(Seconds() - start);
    start = Seconds();
    two();
    second.push_back(Seconds() - start);
  }
  auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
  };
  return {median(first), median(second)};
}

void ExpectNear(const std::string& name, const float* ours, const float* theirs,
                int64_t count, double tolerance) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(std::fabs(ours[i] - theirs[i]) < tolerance)) {
      Die(name + ": element " + std::to_string(i) + " is " +
          std::to_string(ours[i]) + ", the other has " +
          std::to_string(theirs[i]));
    }
  }
}

static int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  openblas_set_num_threads(1);
  std::printf("OpenBLAS uses its %s kernels\n", openblas_get_corename());
  KernelBenchmarks all;
  auto append = [&](KernelBenchmarks some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  append(Products());
  append(MemoryBound());
  append(Attentions());
  append(Roundings());
  append(Frontend());
#ifdef PATHWAYS_HAS_ONEDNN
  if (!UseOneThread()) Die("oneDNN cannot be told to use one thread");
  append(NarrowProducts());
  append(Layers());
  append(Convolutions());
#endif
  for (const KernelBenchmark& each : all) {
    bool is_wanted = argc <= 2;
    for (int i = 2; i < argc; ++i)
      is_wanted |= each.name.rfind(argv[i], 0) == 0;
    if (is_wanted) each.run(seconds);
  }
  return 0;
}

}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
