//===- kernel_bench.h - Kernels and their references ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_KERNEL_BENCH_H
#define BENCHMARKS_KERNEL_BENCH_H

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench.h"
#include "pathways/Compile.h"
#include "runtime/kernel/kernel_library.h"

namespace pathways::bench {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float, Free>;

// Returns memory for numbers of that type ("f32", "bf16", "i8", ...). They are
// set to values that are exact in it and no larger than 1, or to integers.
Memory Allocate(int64_t count, const std::string& element = "f32");

// Type of an operand or a result.
struct Array {
  Array(std::vector<int64_t> shape, std::string element = "f32")
      : shape(std::move(shape)), element(std::move(element)) {}

  std::string type() const;  // "tensor<2x3xf32>"
  int64_t count() const;
  int64_t bytes() const;

  std::vector<int64_t> shape;
  std::string element;
};

// The kernel of a program with one call, on one device, with memory for its
// operands.
class Kernel {
 public:
  // `statements` define the result %r from the operands %a0, %a1, ..., which
  // they use in this order.
  Kernel(const std::vector<Array>& operands, const Array& result,
         const std::string& statements, Rounding rounding = Rounding::kEachOp);
  // Takes statements that define several results %r0, %r1, ...
  Kernel(const std::vector<Array>& operands, const std::vector<Array>& results,
         const std::string& statements);

  // Takes the text of a module of StableHLO. Operands of the same shape must be
  // used in this order.
  static Kernel OfModule(const std::vector<Array>& operands,
                         const Array& result, const std::string& text);

  void Run();
  float* operand(int i) { return static_cast<float*>(pointers_[places_[i]]); }
  void UseOperand(int i, float* memory) { pointers_[places_[i]] = memory; }
  float* out(int i = 0) {
    return static_cast<float*>(pointers_[operands_ + i]);
  }
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  Kernel() = default;
  void Define(const std::vector<Array>& operands,
              const std::vector<Array>& results,
              const std::vector<std::string>& names,
              const std::string& statements, Rounding rounding);
  void Load(const std::vector<Array>& operands,
            const std::vector<Array>& results, const Program& program,
            Rounding rounding);

  size_t operands_ = 0;
  std::vector<size_t> places_;  // position of each operand in the kernel
  int64_t scratch_bytes_ = 0;
  std::shared_ptr<const KernelLibrary> library_;
  std::vector<Memory> memory_;
  std::vector<void*> pointers_;
};

// Converts `count` numbers of a 16-bit type to f32.
void Widen(const std::string& element, const void* narrow, float* wide,
           int64_t count);

// Statements on rows of 1024x1024 numbers, %a0; they use %row, %full and %zero.
extern const char kSoftmax[], kLayerNorm[];

// Both return statements that define a tensor of that name: empty, or filled
// with `value`.
std::string Empty(const std::string& name, const Array& array);
std::string Filled(const std::string& name, const Array& array,
                   const std::string& value);

// Returns the median seconds of a call of each. Calls alternate, since other
// processes use the machine.
std::pair<double, double> InTurns(double seconds,
                                  const std::function<void()>& one,
                                  const std::function<void()>& two);

// Ends the program unless the two agree.
void ExpectNear(const std::string& name, const float* ours, const float* theirs,
                int64_t count, double tolerance);

// One benchmark. All its figures begin with kernel. and its name.
struct KernelBenchmark {
  std::string name;
  std::function<void(double seconds)> run;
};
using KernelBenchmarks = std::vector<KernelBenchmark>;

KernelBenchmarks Products();
KernelBenchmarks MemoryBound();
KernelBenchmarks Attentions();
KernelBenchmarks Roundings();
KernelBenchmarks Frontend();
// The next three need oneDNN.
KernelBenchmarks Convolutions();
KernelBenchmarks NarrowProducts();
KernelBenchmarks Layers();

}  // namespace pathways::bench

#endif  // BENCHMARKS_KERNEL_BENCH_H
