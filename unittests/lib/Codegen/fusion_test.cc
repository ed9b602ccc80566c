//===- fusion_test.cc - Chains of ops that run row by row -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scratch memory shows whether ops run row by row: it holds rows, not whole
// tensors.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <utility>

using namespace kernel_test;

namespace {

std::vector<float> softmaxOfRows(std::vector<float> x, int columns) {
  for (size_t row = 0; row < x.size(); row += columns) {
    float most = *std::max_element(&x[row], &x[row] + columns);
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      sum += std::exp(double(x[row + j]) - most);
    for (int j = 0; j < columns; ++j)
      x[row + j] = std::exp(double(x[row + j]) - most) / sum;
  }
  return x;
}

std::vector<float> product(const std::vector<float> &a,
                           const std::vector<float> &b, int m, int n, int k) {
  std::vector<float> c(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(a[i * k + l]) * b[l * n + j];
      c[i * n + j] = sum;
    }
  return c;
}

void expectNear(const std::vector<float> &got,
                const std::vector<float> &expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

TEST(KernelFusion, SoftmaxKeepsOneRow) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<301x77xf32>) -> tensor<301x77xf32> {
      %e = tensor.empty() : tensor<301x77xf32>
      %r = linalg.softmax dimension(1) ins(%x : tensor<301x77xf32>)
             outs(%e : tensor<301x77xf32>) -> tensor<301x77xf32>
      return %r : tensor<301x77xf32>
    })"))
      << kernel.errors();
  EXPECT_LE(kernel.code().segments[0].scratchBytes, 4096u);
  auto xs = numbers<float>(301 * 77, 1, -5, 5);
  Buffer x = Buffer::of(xs), y(301 * 77 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  expectNear(y.as<float>(), softmaxOfRows(xs, 77), 1e-6);
}

/// Equal rows give equal bits wherever they are, also in the last block.
TEST(KernelFusion, RowsDoNotDependOnTheirPlace) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<300x40xf32>, %w: tensor<40x90xf32>) -> tensor<300x90xf32> {
      %z = arith.constant dense<0.0> : tensor<300x90xf32>
      %p = linalg.matmul ins(%x, %w : tensor<300x40xf32>, tensor<40x90xf32>)
             outs(%z : tensor<300x90xf32>) -> tensor<300x90xf32>
      %e = tensor.empty() : tensor<300x90xf32>
      %r = linalg.softmax dimension(1) ins(%p : tensor<300x90xf32>)
             outs(%e : tensor<300x90xf32>) -> tensor<300x90xf32>
      return %r : tensor<300x90xf32>
    })"))
      << kernel.errors();
  EXPECT_LT(kernel.code().segments[0].scratchBytes, 128u * 90 * 4 * 2 + 8192);
  auto row = numbers<float>(40, 1), ws = numbers<float>(40 * 90, 2);
  std::vector<float> xs;
  for (int i = 0; i < 300; ++i)
    xs.insert(xs.end(), row.begin(), row.end());
  Buffer x = Buffer::of(xs), w = Buffer::of(ws), y(300 * 90 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &w, &y}), 0);
  auto ys = y.as<float>();
  expectNear(ys, softmaxOfRows(product(xs, ws, 300, 90, 40), 90), 1e-5);
  for (int i = 1; i < 300; ++i)
    ASSERT_EQ(std::memcmp(&ys[0], &ys[i * 90], 90 * 4), 0) << "row " << i;
}

/// The rows of the last, partial block are added in the order of other rows.
TEST(KernelFusion, NoRowIsLeftAlone) {
  for (int rows : {65, 129, 193, 257, 385}) {
    SCOPED_TRACE(rows);
    const std::string n = std::to_string(rows), y = "tensor<" + n + "x90xf32>",
                      x = "tensor<" + n + "x40xf32>";
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(
        "func.func @f(%x: " + x + ", %w: tensor<90x40xf32>) -> " + y +
        " {\n  %z = arith.constant dense<0.0> : " + y +
        "\n  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, "
        "k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, "
        "n)>] ins(%x, %w : " +
        x + ", tensor<90x40xf32>) outs(%z : " + y + ") -> " + y +
        "\n  %e = tensor.empty() : " + y +
        "\n  %r = linalg.softmax dimension(1) ins(%p : " + y +
        ") outs(%e : " + y + ") -> " + y + "\n  return %r : " + y + "\n}"))
        << kernel.errors();
    auto row = numbers<float>(40, 1), ws = numbers<float>(40 * 90, 2);
    std::vector<float> xs;
    for (int i = 0; i < rows; ++i)
      xs.insert(xs.end(), row.begin(), row.end());
    Buffer a = Buffer::of(xs), w = Buffer::of(ws), b(rows * 90 * 4);
    ASSERT_EQ(kernel.run(0, {&a, &w, &b}), 0);
    auto bs = b.as<uint32_t>();
    for (int i = 1; i < rows; ++i)
      ASSERT_TRUE(std::equal(&bs[0], &bs[90], &bs[i * 90])) << "row " << i;
  }
}

/// softmax(Q K^T / 4) V of three heads.
const char kAttention[] = R"(
    func.func @f(%q: tensor<3x150x16xf32>, %k: tensor<3x200x16xf32>,
                 %v: tensor<3x200x24xf32>) -> tensor<3x150x24xf32> {
      %zs = arith.constant dense<0.0> : tensor<3x150x200xf32>
      %zo = arith.constant dense<0.0> : tensor<3x150x24xf32>
      %quarter = arith.constant dense<0.25> : tensor<3x150x200xf32>
      %s = linalg.batch_matmul
             indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                              affine_map<(b, m, n, k) -> (b, n, k)>,
                              affine_map<(b, m, n, k) -> (b, m, n)>]
             ins(%q, %k : tensor<3x150x16xf32>, tensor<3x200x16xf32>)
             outs(%zs : tensor<3x150x200xf32>) -> tensor<3x150x200xf32>
      %scaled = arith.mulf %s, %quarter : tensor<3x150x200xf32>
      %e = tensor.empty() : tensor<3x150x200xf32>
      %p = linalg.softmax dimension(2) ins(%scaled : tensor<3x150x200xf32>)
             outs(%e : tensor<3x150x200xf32>) -> tensor<3x150x200xf32>
      %o = linalg.batch_matmul ins(%p, %v : tensor<3x150x200xf32>, tensor<3x200x24xf32>)
             outs(%zo : tensor<3x150x24xf32>) -> tensor<3x150x24xf32>
      return %o : tensor<3x150x24xf32>
    })";
constexpr uint64_t kManyScores = 64 * 200 * 4; // bytes

/// Scratch memory holds the scores of one block of queries. The block has few
/// queries if keys and values stay in a cache. Keys are transposed once for
/// each head.
TEST(KernelFusion, AttentionKeepsOneBlockOfScores) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(kAttention)) << kernel.errors();
  EXPECT_LT(kernel.code().segments[0].scratchBytes, kManyScores);
  auto qs = numbers<float>(3 * 150 * 16, 1),
       ks = numbers<float>(3 * 200 * 16, 2),
       vs = numbers<float>(3 * 200 * 24, 3);
  Buffer q = Buffer::of(qs), k = Buffer::of(ks), v = Buffer::of(vs),
         o(3 * 150 * 24 * 4);
  ASSERT_EQ(kernel.run(0, {&q, &k, &v, &o}), 0);
  std::vector<float> expected;
  for (int head = 0; head < 3; ++head) {
    std::vector<float> qh(&qs[head * 2400], &qs[head * 2400] + 2400), kt(3200),
        vh(&vs[head * 4800], &vs[head * 4800] + 4800);
    for (int i = 0; i < 200; ++i)
      for (int j = 0; j < 16; ++j)
        kt[j * 200 + i] = ks[head * 3200 + i * 16 + j];
    auto scores = product(qh, kt, 150, 200, 16);
    for (float &score : scores)
      score *= 0.25f;
    auto part = product(softmaxOfRows(scores, 200), vh, 150, 24, 200);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  expectNear(o.as<float>(), expected, 1e-5);
}

/// Blocks have the rows of a register tile if the tiles of all targets have the
/// same number of rows.
TEST(KernelFusion, BlocksOfSeveralTargets) {
  auto target = [](const char *cpu) {
    pathways::proto::Target target;
    target.set_triple("x86_64-unknown-linux-gnu");
    target.set_cpu(cpu);
    return target;
  };
  auto scratchFor = [](const std::vector<pathways::proto::Target> &targets) {
    Kernel kernel;
    EXPECT_TRUE(kernel.compile(kAttention, targets)) << kernel.errors();
    return kernel.code().segments[0].scratchBytes;
  };
  EXPECT_LT(scratchFor({target("x86-64")}), kManyScores);
  EXPECT_LT(scratchFor({target("haswell"), target("skylake-avx512")}),
            kManyScores);
  EXPECT_GT(scratchFor({target("haswell"), target("x86-64")}), kManyScores);
}

/// Intermediate values are results too, an unrelated op stands between others,
/// and linalg.index counts rows of the whole tensor.
TEST(KernelFusion, ResultsInTheMiddle) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<90x64xf32>)
        -> (tensor<90x64xf32>, tensor<90xf32>, tensor<64xf32>, tensor<90x64xf32>) {
      %zr = arith.constant dense<0.0> : tensor<90xf32>
      %zc = arith.constant dense<0.0> : tensor<64xf32>
      %e = tensor.empty() : tensor<90x64xf32>
      %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                            affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
             ins(%x : tensor<90x64xf32>) outs(%e : tensor<90x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %i = linalg.index 0 : index
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        %s = arith.addf %in, %f : f32
        linalg.yield %s : f32
      } -> tensor<90x64xf32>
      %columns = linalg.reduce { arith.maximumf } ins(%a : tensor<90x64xf32>)
                   outs(%zc : tensor<64xf32>) dimensions = [0]
      %rows = linalg.reduce { arith.maximumf } ins(%a : tensor<90x64xf32>)
                outs(%zr : tensor<90xf32>) dimensions = [1]
      %wide = linalg.broadcast ins(%rows : tensor<90xf32>)
                outs(%e : tensor<90x64xf32>) dimensions = [1]
      %b = arith.subf %a, %wide : tensor<90x64xf32>
      return %a, %rows, %columns, %b
          : tensor<90x64xf32>, tensor<90xf32>, tensor<64xf32>, tensor<90x64xf32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(90 * 64, 1);
  Buffer x = Buffer::of(xs), a(90 * 64 * 4), rows(90 * 4), columns(64 * 4),
         b(90 * 64 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &a, &rows, &columns, &b}), 0);
  std::vector<float> as(xs), rowMax(90, 0.0f), columnMax(64, 0.0f), bs(xs);
  for (int i = 0; i < 90; ++i)
    for (int j = 0; j < 64; ++j) {
      float value = as[i * 64 + j] = xs[i * 64 + j] + i;
      rowMax[i] = std::max(rowMax[i], value);
      columnMax[j] = std::max(columnMax[j], value);
    }
  for (int i = 0; i < 90 * 64; ++i)
    bs[i] = as[i] - rowMax[i / 64];
  EXPECT_EQ(a.as<float>(), as);
  EXPECT_EQ(rows.as<float>(), rowMax);
  EXPECT_EQ(columns.as<float>(), columnMax);
  EXPECT_EQ(b.as<float>(), bs);
}

/// The attribute of row loops belongs to the code generator: in a program it
/// has no effect.
TEST(KernelFusion, MarksOfTheProgramSayNothing) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b)
          -> (tensor<4xf32>, tensor<4xf32>) {
        %z = arith.addf %x, %y : tensor<4xf32>
        scf.yield %y, %z : tensor<4xf32>, tensor<4xf32>
      } {row_loop}
      %e = tensor.empty() : tensor<4xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
             ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) attrs = {row_loop} {
      ^bb0(%x: f32, %out: f32):
        %d = arith.addf %x, %x : f32
        linalg.yield %d : f32
      } -> tensor<4xf32>
      return %r#0, %r#1, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    })"))
      << kernel.errors();
  std::vector<float> as = {1, 2, 3, 4}, bs = {1, 1, 0, -1};
  Buffer a = Buffer::of(as), b = Buffer::of(bs), x(16), y(16), s(16);
  ASSERT_EQ(kernel.run(0, {&a, &b, &x, &y, &s}), 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(x.as<float>()[i], as[i] + 2 * bs[i]);
    EXPECT_EQ(y.as<float>()[i], 2 * as[i] + 3 * bs[i]);
    EXPECT_EQ(s.as<float>()[i], 2 * as[i]);
  }
}

/// The chain has more ops than one loop takes.
TEST(KernelFusion, LongChains) {
  std::string type = "tensor<70x64xf32>", body, last = "%x";
  const int rounds = 25;
  for (int i = 0; i < rounds; ++i) {
    std::string n = std::to_string(i);
    body += "  %e" + n + " = tensor.empty() : " + type + "\n  %p" + n +
            " = linalg.softmax dimension(1) ins(" + last + " : " + type +
            ") outs(%e" + n + " : " + type + ") -> " + type + "\n  %r" + n +
            " = arith.addf %p" + n + ", %x : " + type + "\n";
    last = "%r" + n;
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile("func.func @f(%x: " + type + ") -> " + type +
                             " {\n" + body + "  return " + last + " : " + type +
                             "\n}\n"))
      << kernel.errors();
  EXPECT_LT(kernel.code().segments[0].scratchBytes, 6u * 70 * 64 * 4);
  auto xs = numbers<float>(70 * 64, 1);
  auto expected = xs;
  for (int i = 0; i < rounds; ++i) {
    expected = softmaxOfRows(expected, 64);
    for (int j = 0; j < 70 * 64; ++j)
      expected[j] += xs[j];
  }
  Buffer x = Buffer::of(xs), y(70 * 64 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  expectNear(y.as<float>(), expected, 1e-5);
}

/// Returns a chain in which each value is used by the next two. Fusing it into
/// one op takes as many rounds of rewriting as it has links.
std::string chainOfTwoUsers(int length, const std::string &type,
                            const std::string &add, const std::string &sub) {
  std::string text = "func.func @f" + std::to_string(length) + "(%x: " + type +
                     ") -> " + type + " {\n  %v0 = " + add +
                     " %x, %x : " + type + "\n  %v1 = " + sub +
                     " %v0, %x : " + type + "\n";
  for (int i = 2; i < length; ++i)
    text += "  %v" + std::to_string(i) + " = " + (i % 3 ? sub : add) + " %v" +
            std::to_string(i - 1) + ", %v" + std::to_string(i - 2) + " : " +
            type + "\n";
  return text + "  return %v" + std::to_string(length - 1) + " : " + type +
         "\n}\n";
}

template <typename T> T endOfChain(int length, T x) {
  T before = x + x, value = before - x;
  for (int i = 2; i < length; ++i)
    before =
        std::exchange(value, i % 3 ? T(value - before) : T(value + before));
  return value;
}

TEST(KernelFusion, ChainsOfAnyLengthCompile) {
  const int lengths[] = {2, 12, 60, 400};
  std::string floats, integers, bytes;
  for (int length : lengths) {
    floats +=
        chainOfTwoUsers(length, "tensor<19xf32>", "arith.addf", "arith.subf");
    integers +=
        chainOfTwoUsers(length, "tensor<19xi32>", "arith.addi", "arith.subi");
    bytes += chainOfTwoUsers(length, "tensor<i8>", "arith.addi", "arith.subi");
  }
  auto xs = numbers<float>(19, 1);
  auto is = numbers<uint32_t>(19, 2, 0, 1e9);
  Buffer x = Buffer::of(xs), y(19 * 4), i = Buffer::of(is);
  Buffer byte = Buffer::of(std::vector<uint8_t>{77}), z(1);
  Kernel f32, i32, i8;
  ASSERT_TRUE(f32.compile(floats)) << f32.errors();
  ASSERT_TRUE(i32.compile(integers)) << i32.errors();
  ASSERT_TRUE(i8.compile(bytes)) << i8.errors();
  for (auto [segment, length] : llvm::enumerate(lengths)) {
    SCOPED_TRACE(length);
    ASSERT_EQ(f32.run(segment, {&x, &y}), 0);
    for (int k = 0; k < 19; ++k)
      ASSERT_EQ(y.as<float>()[k], endOfChain(length, xs[k]));
    ASSERT_EQ(i32.run(segment, {&i, &y}), 0);
    for (int k = 0; k < 19; ++k)
      ASSERT_EQ(y.as<uint32_t>()[k], endOfChain(length, is[k]));
    ASSERT_EQ(i8.run(segment, {&byte, &z}), 0);
    EXPECT_EQ(z.as<uint8_t>()[0], endOfChain(length, uint8_t(77)));
  }
}

/// Puts the same chain before a sum.
TEST(KernelFusion, AChainBecomesPartOfASum) {
  std::string text =
      chainOfTwoUsers(60, "tensor<5x19xf32>", "arith.addf", "arith.subf");
  text.replace(text.find(") -> tensor<5x19xf32>"), 21, ") -> tensor<5xf32>");
  text.replace(text.find("  return"), std::string::npos, R"(
    %z = arith.constant dense<0.0> : tensor<5xf32>
    %s = linalg.reduce { arith.addf } ins(%v59 : tensor<5x19xf32>)
           outs(%z : tensor<5xf32>) dimensions = [1]
    return %s : tensor<5xf32>
  })");
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  EXPECT_EQ(kernel.code().segments[0].scratchBytes, 0u);
  auto xs = numbers<float>(95, 3);
  Buffer x = Buffer::of(xs), y(20);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  for (int row = 0; row < 5; ++row) {
    double sum = 0;
    for (int k = 0; k < 19; ++k)
      sum += endOfChain(60, xs[19 * row + k]);
    EXPECT_NEAR(y.as<float>()[row], sum, 1e-4 * std::abs(sum));
  }
}

/// A difference that is used by a sum and by an elementwise op is computed
/// inside of both and never stored.
TEST(KernelFusion, CheapOpsAreComputedWhereTheyAreUsed) {
  const int rows = 300, columns = 40;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<300x40xf32>) -> tensor<300x40xf32> {
      %z = arith.constant dense<0.0> : tensor<40xf32>
      %part = arith.constant dense<3.33333333e-03> : tensor<40xf32>
      %e = tensor.empty() : tensor<300x40xf32>
      %sum = linalg.reduce { arith.addf } ins(%x : tensor<300x40xf32>)
               outs(%z : tensor<40xf32>) dimensions = [0]
      %mean = arith.mulf %sum, %part : tensor<40xf32>
      %means = linalg.broadcast ins(%mean : tensor<40xf32>)
                 outs(%e : tensor<300x40xf32>) dimensions = [0]
      %d = arith.subf %x, %means : tensor<300x40xf32>
      %squares = arith.mulf %d, %d : tensor<300x40xf32>
      %total = linalg.reduce { arith.addf } ins(%squares : tensor<300x40xf32>)
                 outs(%z : tensor<40xf32>) dimensions = [0]
      %totals = linalg.broadcast ins(%total : tensor<40xf32>)
                  outs(%e : tensor<300x40xf32>) dimensions = [0]
      %r = arith.divf %d, %totals : tensor<300x40xf32>
      return %r : tensor<300x40xf32>
    })"))
      << kernel.errors();
  EXPECT_LT(kernel.code().segments[0].scratchBytes, rows * columns * 4u / 8);
  auto xs = numbers<float>(rows * columns, 5);
  Buffer x = Buffer::of(xs), y(rows * columns * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  auto ys = y.as<float>();
  for (int j = 0; j < columns; ++j) {
    // Sums of columns add in the order of the rows and give the same bits.
    float sum = 0, total = 0;
    for (int i = 0; i < rows; ++i)
      sum += xs[i * columns + j];
    float mean = sum * 3.33333333e-03f;
    for (int i = 0; i < rows; ++i) {
      volatile float square =
          (xs[i * columns + j] - mean) * (xs[i * columns + j] - mean);
      total += square;
    }
    for (int i = 0; i < rows; ++i)
      ASSERT_EQ((xs[i * columns + j] - mean) / total, ys[i * columns + j])
          << i << ", " << j;
  }
}

} // namespace
