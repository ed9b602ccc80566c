//===- kernel_bench.cc - Generated code against libraries -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// kernel_bench [SECONDS]: compiles bodies as a program has them, takes the
// kernel out of the plan and calls it on one thread, in turns with what it is
// compared with. vs_openblas, vs_onednn and vs_naive are speed over the
// other's, above 1 the generated code is faster; vs_memcpy (of the operand),
// vs_matmul and vs_f32 are time over the other's. Results are compared too.
//
//===----------------------------------------------------------------------===//

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/bench.h"
#include "benchmarks/onednn.h"
#include "pathways/Compile.h"
#include "runtime/kernel/kernel_library.h"
#include "runtime/plan/plan_file.h"

extern "C" char* openblas_get_corename();

namespace pathways::bench {
namespace {

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float, Free>;

Memory Allocate(uint64_t bytes) {
  Memory memory(
      static_cast<float*>(std::aligned_alloc(128, (bytes + 255) / 128 * 128)));
  for (uint64_t i = 0; i < bytes / 4; ++i) {
    memory.get()[i] = float((i * 2654435761u >> 8) % 2001) / 1000 - 1;
  }
  return memory;
}

// The kernel of a program of one call, with memory for its operands.
class Kernel {
 public:
  // `body` is named @body and is for the whole array, on one device.
  Kernel(const std::string& body, const std::vector<std::vector<int64_t>>& in,
         const std::vector<int64_t>& out,
         ElementType element = ElementType::kF32) {
    ProgramBuilder b("bench");
    b.slice("s", {{"x", 1}});
    b.functions(body);
    auto type = [&](const std::vector<int64_t>& shape) {
      return ProgramBuilder::arrayType(
          element, shape, "s", std::vector<ProgramBuilder::Axes>(shape.size()));
    };
    std::vector<ProgramBuilder::Array> arguments;
    for (size_t i = 0; i < in.size(); ++i) {
      arguments.push_back(b.argument("a" + std::to_string(i), type(in[i])));
    }
    b.result("out", b.call("body", arguments, type(out)));
    CompileOptions options;
    options.topology = "1x1x1";
    Result<Compiled> compiled = compile(b.build(), options);
    if (!compiled) Die(compiled.error().message);
    absl::StatusOr<PlanData> plan = ParsePlan(compiled->plan.bytes());
    if (!plan.ok()) Die(plan.status().ToString());
    if (plan->tables.kernels_size() != 1 ||
        plan->tables.kernels(0).segments_size() != 1) {
      Die("expected one kernel of one segment");
    }
    const proto::Kernel& kernel = plan->tables.kernels(0);
    auto loaded = KernelLibrary::Load(kernel, plan->blobs, proto::Target());
    if (!loaded.ok()) Die(loaded.status().ToString());
    library_ = *std::move(loaded);
    const proto::Segment& segment = kernel.segments(0);
    for (const proto::KernelOperand& operand : segment.operands()) {
      uint64_t bytes = 4;
      for (int64_t size : operand.shape()) bytes *= size;
      memory_.push_back(Allocate(bytes));
      pointers_.push_back(memory_.back().get());
      if (operand.written()) out_ = memory_.back().get();
    }
    memory_.push_back(Allocate(segment.scratch_bytes()));
  }

  void Run() {
    const int32_t coordinates[1] = {0};
    if (library_->Lookup(0)(pointers_.data(), coordinates, memory_.back().get(),
                            /*step=*/0) != 0) {
      Die("a check of the kernel failed");
    }
  }
  float* operand(int i) { return static_cast<float*>(pointers_[i]); }
  void UseOperand(int i, float* memory) { pointers_[i] = memory; }
  float* out() { return out_; }

 private:
  std::shared_ptr<const KernelLibrary> library_;
  std::vector<Memory> memory_;
  std::vector<void*> pointers_;
  float* out_ = nullptr;
};

// Seconds of a call of each, in turns; the median, as others use the machine.
std::pair<double, double> InTurns(double seconds,
                                  const std::function<void()>& one,
                                  const std::function<void()>& two) {
  std::vector<double> first, second;
  one();
  two();
  const double end = Seconds() + seconds;
  while (Seconds() < end || first.size() < 5) {
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

std::string Shape(const std::vector<int64_t>& shape,
                  const std::string& element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + element + ">";
}

// A product that defines %r, from %a and %b, and the types of all three.
struct Product {
  Product(int64_t m, int64_t n, int64_t k, const std::string& element = "f32")
      : a(Shape({m, k}, element)),
        b(Shape({k, n}, element)),
        c(Shape({m, n}, element)),
        text("  %zero = arith.constant 0.0 : " + element +
             "\n  %e = tensor.empty() : " + c +
             "\n  %z = linalg.fill ins(%zero : " + element + ") outs(%e : " +
             c + ") -> " + c + "\n  %r = linalg.matmul ins(%a, %b : " + a +
             ", " + b + ") outs(%z : " + c + ") -> " + c + "\n") {}

  std::string Function() const {
    return "func.func private @body(%a: " + a + ", %b: " + b + ") -> " + c +
           " attributes {pw.local_view} {\n" + text + "  return %r : " + c +
           "\n}\n";
  }

  std::string a, b, c, text;
};

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

void Matmul(const std::string& name, int64_t m, int64_t n, int64_t k,
            double seconds) {
  Kernel kernel(Product(m, n, k).Function(), {{m, k}, {k, n}}, {m, n});
  Memory theirs = Allocate(m * n * 4);
  const auto [ours_s, theirs_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1,
                    kernel.operand(0), k, kernel.operand(1), n, 0, theirs.get(),
                    n);
      });
  ExpectNear(name, kernel.out(), theirs.get(), m * n, 1e-2);
  Figure("kernel." + name + ".gflops", 2e-9 * m * n * k / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_openblas", theirs_s / ours_s, "x");
}

#ifdef PATHWAYS_HAS_ONEDNN
// Padding, convolution of an image in nhwc.
void Convolution(const std::string& name, const ConvolutionShape& shape,
                 double seconds) {
  const int64_t padded = shape.size + 2 * shape.padding, k = shape.window;
  const std::vector<int64_t> in = {1, shape.size, shape.size, shape.channels},
                             out = {1, shape.out_size(), shape.out_size(),
                                    shape.filters};
  std::vector<int64_t> filter = {k, k, shape.channels};
  if (!shape.is_depthwise) filter.push_back(shape.filters);
  const std::string x = Shape(in), w = Shape(filter), o = Shape(out),
                    p = Shape({1, padded, padded, shape.channels}),
                    width = std::to_string(shape.padding);
  const std::string widths = "[0, " + width + ", " + width + ", 0]";
  Kernel kernel(
      "func.func private @body(%x: " + x + ", %w: " + w + ") -> " + o +
          " attributes {pw.local_view} {\n  %zero = arith.constant 0.0 : f32\n"
          "  %p = tensor.pad %x low" +
          widths + " high" + widths +
          " {\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n"
          "    tensor.yield %zero : f32\n  } : " +
          x + " to " + p + "\n  %e = tensor.empty() : " + o +
          "\n  %z = linalg.fill ins(%zero : f32) outs(%e : " + o + ") -> " + o +
          "\n  %r = linalg." +
          (shape.is_depthwise ? "depthwise_conv_2d_nhwc_hwc"
                              : "conv_2d_nhwc_hwcf") +
          " {strides = dense<" + std::to_string(shape.stride) +
          "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, "
          "%w : " +
          p + ", " + w + ") outs(%z : " + o + ") -> " + o +
          "\n  return %r : " + o + "\n}\n",
      {in, filter}, out);
  const int64_t count = out[1] * out[2] * out[3];
  Memory theirs = Allocate(count * 4);
  const std::function<void()> other = OneDnnConvolution(
      shape, kernel.operand(0), kernel.operand(1), theirs.get());
  const auto [ours_s, theirs_s] =
      InTurns(seconds, [&] { kernel.Run(); }, other);
  ExpectNear(name, kernel.out(), theirs.get(), count, 1e-2);
  const int64_t terms = k * k * (shape.is_depthwise ? 1 : shape.channels);
  Figure("kernel." + name + ".gflops", 2e-9 * count * terms / ours_s,
         "GFLOP/s");
  Figure("kernel." + name + ".vs_onednn", theirs_s / ours_s, "x");
}

void Convolutions(double seconds) {
  if (!UseOneThread()) Die("oneDNN cannot be told to use one thread");
  Convolution("conv3x3_56", {56, 64, 64, 3, 1, 1}, seconds);
  Convolution("conv3x3_28", {28, 128, 128, 3, 1, 1}, seconds);
  Convolution("conv3x3_14", {14, 256, 256, 3, 1, 1}, seconds);
  Convolution("conv1x1", {56, 64, 256, 1, 1, 0}, seconds);
  Convolution("conv7x7s2", {224, 3, 64, 7, 2, 3}, seconds);
  Convolution("depthwise", {56, 128, 128, 3, 1, 1, true}, seconds);
}
#endif

constexpr int64_t kSize = 512;  // of matrices that are compared with themselves

// The largest of 0 and the product with a bias added, next to the product
// alone.
void BiasRelu(double seconds) {
  const Product product(kSize, kSize, kSize);
  Kernel plain(product.Function(), {{kSize, kSize}, {kSize, kSize}},
               {kSize, kSize});
  const std::string bias = Shape({kSize}), &c = product.c;
  Kernel kernel(
      "func.func private @body(%a: " + c + ", %b: " + c + ", %bias: " + bias +
          ") -> " + c + " attributes {pw.local_view} {\n" + product.text +
          "  %wide = linalg.broadcast ins(%bias : " + bias + ") outs(%e : " +
          c + ") dimensions = [0]\n  %sum = arith.addf %r, %wide : " + c +
          "\n  %zeros = arith.constant dense<0.0> : " + c +
          "\n  %relu = arith.maximumf %sum, %zeros : " + c +
          "\n  return %relu : " + c + "\n}\n",
      {{kSize, kSize}, {kSize, kSize}, {kSize}}, {kSize, kSize});
  const auto [ours_s, plain_s] =
      InTurns(seconds, [&] { kernel.Run(); }, [&] { plain.Run(); });
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    plain.out()[i] =
        std::max(plain.out()[i] + kernel.operand(2)[i % kSize], 0.0f);
  }
  ExpectNear("matmul_bias_relu", kernel.out(), plain.out(), kSize * kSize,
             1e-3);
  Figure("kernel.matmul_bias_relu.vs_matmul", ours_s / plain_s, "x");
}

// Operands and result of half the width, sums in f32.
void MatmulNarrow(const std::string& element, ElementType type,
                  double seconds) {
  Kernel plain(Product(kSize, kSize, kSize).Function(),
               {{kSize, kSize}, {kSize, kSize}}, {kSize, kSize});
  Kernel kernel(Product(kSize, kSize, kSize, element).Function(),
                {{kSize, kSize}, {kSize, kSize}}, {kSize, kSize}, type);
  // 1 everywhere: any other number would have to be rounded here too.
  const uint16_t one = element == "f16" ? 0x3c00 : 0x3f80;
  for (int i : {0, 1}) {
    auto* numbers = reinterpret_cast<uint16_t*>(kernel.operand(i));
    std::fill(numbers, numbers + kSize * kSize, one);
  }
  const auto [ours_s, plain_s] =
      InTurns(seconds, [&] { kernel.Run(); }, [&] { plain.Run(); });
  const uint16_t sum = element == "f16" ? 0x6000 : 0x4400;  // 512
  const auto* sums = reinterpret_cast<const uint16_t*>(kernel.out());
  if (std::count(sums, sums + kSize * kSize, sum) != kSize * kSize) {
    Die("matmul_" + element + ": a sum of 512 ones is not 512");
  }
  Figure("kernel.matmul_" + element + ".vs_f32", ours_s / plain_s, "x");
}

// softmax(Q K^T / 8) V for some heads of 64 columns, in one kernel and as
// three, each of which reads what the one before it left in memory.
void Attention(const std::string& name, int64_t heads, int64_t length,
               double seconds) {
  const std::vector<int64_t> rows = {heads, length, 64},
                             square = {heads, length, length};
  const std::string r = Shape(rows), s = Shape(square);
  auto function = [](const std::string& arguments, const std::string& result,
                     const std::string& text) {
    return "func.func private @body(" + arguments + ") -> " + result +
           " attributes {pw.local_view} {\n"
           "  %zero = arith.constant 0.0 : f32\n" +
           text + "  return %o : " + result + "\n}\n";
  };
  auto empty = [](const std::string& name, const std::string& type) {
    return "  " + name + "_e = tensor.empty() : " + type + "\n  " + name +
           " = linalg.fill ins(%zero : f32) outs(" + name + "_e : " + type +
           ") -> " + type + "\n";
  };
  auto scores = [&](const std::string& out) {
    return empty("%zs", s) +
           "  %raw = linalg.batch_matmul indexing_maps = ["
           "affine_map<(b, m, n, k) -> (b, m, k)>, "
           "affine_map<(b, m, n, k) -> (b, n, k)>, "
           "affine_map<(b, m, n, k) -> (b, m, n)>] ins(%q, %k : " +
           r + ", " + r + ") outs(%zs : " + s + ") -> " + s +
           "\n  %eighth = arith.constant dense<0.125> : " + s + "\n  " + out +
           " = arith.mulf %raw, %eighth : " + s + "\n";
  };
  auto softmax = [&](const std::string& in, const std::string& out) {
    return "  %ep = tensor.empty() : " + s + "\n  " + out +
           " = linalg.softmax dimension(2) ins(" + in + " : " + s +
           ") outs(%ep : " + s + ") -> " + s + "\n";
  };
  auto weighted = [&](const std::string& in) {
    return empty("%zo", r) + "  %o = linalg.batch_matmul ins(" + in +
           ", %v : " + s + ", " + r + ") outs(%zo : " + r + ") -> " + r + "\n";
  };
  Kernel kernel(function("%q: " + r + ", %k: " + r + ", %v: " + r, r,
                         scores("%s") + softmax("%s", "%p") + weighted("%p")),
                {rows, rows, rows}, rows);
  Kernel first(function("%q: " + r + ", %k: " + r, s, scores("%o")),
               {rows, rows}, square);
  Kernel second(function("%s: " + s, s, softmax("%s", "%o")), {square}, square);
  Kernel third(function("%p: " + s + ", %v: " + r, r, weighted("%p")),
               {square, rows}, rows);
  second.UseOperand(0, first.out());
  third.UseOperand(0, second.out());
  const auto [ours_s, naive_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        first.Run();
        second.Run();
        third.Run();
      });
  ExpectNear(name, kernel.out(), third.out(), heads * length * 64, 1e-5);
  Figure("kernel." + name + ".gflops",
         4e-9 * heads * length * length * 64 / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_naive", naive_s / ours_s, "x");
}

constexpr int64_t kRows = 1024, kColumns = 1024;

std::pair<double, double> NextToMemcpy(Kernel& kernel, double seconds) {
  Memory copy = Allocate(kRows * kColumns * 4);
  return InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        std::memcpy(copy.get(), kernel.operand(0), kRows * kColumns * 4);
      });
}

// Statements on %x, the operand, that define %r. %zero, %row and %full are
// there; reductions go along dimension 1.
void Rows(const std::string& name, const std::string& statements,
          double seconds) {
  const std::string x = Shape({kRows, kColumns});
  Kernel kernel("func.func private @body(%x: " + x + ") -> " + x +
                    " attributes {pw.local_view} {\n"
                    "  %zero = arith.constant 0.0 : f32\n"
                    "  %row = tensor.empty() : tensor<1024xf32>\n"
                    "  %full = tensor.empty() : tensor<1024x1024xf32>\n" +
                    statements + "  return %r : " + x + "\n}\n",
                {{kRows, kColumns}}, {kRows, kColumns});
  const auto [ours_s, copy_s] = NextToMemcpy(kernel, seconds);
  // Rows of a softmax add up to 1, those of a layer norm to 0.
  double sum = 0;
  for (int64_t i = 0; i < kColumns; ++i) sum += kernel.out()[i];
  if (!(std::fabs(sum - (name == "softmax" ? 1 : 0)) < 1e-2)) {
    Die(name + ": the first row adds up to " + std::to_string(sum));
  }
  Figure("kernel." + name + ".vs_memcpy", ours_s / copy_s, "x");
}

void Transpose(double seconds) {
  const std::string x = Shape({kRows, kColumns});
  Kernel kernel("func.func private @body(%x: " + x + ") -> " + x +
                    " attributes {pw.local_view} {\n"
                    "  %e = tensor.empty() : " +
                    x + "\n  %r = linalg.transpose ins(%x : " + x +
                    ") outs(%e : " + x +
                    ") permutation = [1, 0]\n  return %r : " + x + "\n}\n",
                {{kRows, kColumns}}, {kColumns, kRows});
  const auto [ours_s, copy_s] = NextToMemcpy(kernel, seconds);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    if (kernel.out()[i] !=
        kernel.operand(0)[i % kRows * kColumns + i / kRows]) {
      Die("transpose: element " + std::to_string(i) + " is another one's");
    }
  }
  Figure("kernel.transpose.vs_memcpy", ours_s / copy_s, "x");
}

void ReduceColumns(double seconds) {
  const std::string x = Shape({kRows, kColumns}), y = Shape({kColumns});
  Kernel kernel("func.func private @body(%x: " + x + ") -> " + y +
                    " attributes {pw.local_view} {\n"
                    "  %zero = arith.constant 0.0 : f32\n"
                    "  %e = tensor.empty() : " +
                    y + "\n  %z = linalg.fill ins(%zero : f32) outs(%e : " + y +
                    ") -> " + y +
                    "\n  %r = linalg.reduce { arith.addf } ins(%x : " + x +
                    ") outs(%z : " + y +
                    ") dimensions = [0]\n  return %r : " + y + "\n}\n",
                {{kRows, kColumns}}, {kColumns});
  const auto [ours_s, copy_s] = NextToMemcpy(kernel, seconds);
  std::vector<float> sums(kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    sums[i % kColumns] += kernel.operand(0)[i];
  }
  ExpectNear("reduce_cols", kernel.out(), sums.data(), kColumns, 1e-2);
  Figure("kernel.reduce_cols.vs_memcpy", ours_s / copy_s, "x");
}

const char kSoftmax[] = R"(
  %lowest = arith.constant 0xFF800000 : f32
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<1024x1024xf32>)
      outs(%max_init : tensor<1024xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %shifted = arith.subf %x, %maxes : tensor<1024x1024xf32>
  %e = math.exp %shifted : tensor<1024x1024xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1024x1024xf32>)
      outs(%sum_init : tensor<1024xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %r = arith.divf %e, %sums : tensor<1024x1024xf32>
)";

const char kLayerNorm[] = R"(
  %scale = arith.constant dense<9.765625e-04> : tensor<1024xf32>
  %epsilon = arith.constant dense<1.0e-05> : tensor<1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<1024x1024xf32>)
      outs(%init : tensor<1024xf32>) dimensions = [1]
  %mean = arith.mulf %sum, %scale : tensor<1024xf32>
  %means = linalg.broadcast ins(%mean : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %centred = arith.subf %x, %means : tensor<1024x1024xf32>
  %squares = arith.mulf %centred, %centred : tensor<1024x1024xf32>
  %total = linalg.reduce { arith.addf } ins(%squares : tensor<1024x1024xf32>)
      outs(%init : tensor<1024xf32>) dimensions = [1]
  %variance = arith.mulf %total, %scale : tensor<1024xf32>
  %safe = arith.addf %variance, %epsilon : tensor<1024xf32>
  %inverse = math.rsqrt %safe : tensor<1024xf32>
  %inverses = linalg.broadcast ins(%inverse : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %r = arith.mulf %centred, %inverses : tensor<1024x1024xf32>
)";

int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  openblas_set_num_threads(1);
  std::printf("OpenBLAS uses its %s kernels\n", openblas_get_corename());
  Matmul("matmul512", 512, 512, 512, seconds);
  Matmul("matmul1024", 1024, 1024, 1024, seconds);
  Matmul("matmul_odd", 511, 509, 507, seconds);
  Rows("softmax", kSoftmax, seconds);
  Rows("layernorm", kLayerNorm, seconds);
  BiasRelu(seconds);
  MatmulNarrow("f16", ElementType::kF16, seconds);
  MatmulNarrow("bf16", ElementType::kBF16, seconds);
  Attention("attention512", 8, 512, seconds);
  Attention("attention2048", 2, 2048, seconds);
  Transpose(seconds);
  ReduceColumns(seconds);
#ifdef PATHWAYS_HAS_ONEDNN
  Convolutions(seconds);
#endif
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
