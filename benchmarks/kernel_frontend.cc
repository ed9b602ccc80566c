//===- kernel_frontend.cc - Kernels of modules of StableHLO ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "benchmarks/kernel_bench.h"

namespace pathways::bench {
namespace {

// Rows of f32 that are looked up and written: 1 KiB each, 16 MiB in all.
constexpr int64_t kTableRows = 16384, kTableColumns = 256;

// Puts all row numbers into `rows`, in an order that is always the same.
void Shuffle(int32_t* rows) {
  std::iota(rows, rows + kTableRows, 0);
  std::shuffle(rows, rows + kTableRows, std::mt19937(1));
}

// Returns the text of a module whose @main has these operands, %a0, %a1, ...,
// and returns %r.
std::string Module(const std::vector<Array>& operands, const Array& result,
                   const std::string& statements) {
  std::string text = "func.func public @main(";
  for (size_t i = 0; i < operands.size(); ++i) {
    text +=
        (i > 0 ? ", %a" : "%a") + std::to_string(i) + ": " + operands[i].type();
  }
  return text + ") -> " + result.type() + " {\n" + statements +
         "  return %r : " + result.type() + "\n}\n";
}

const Array& Table() {
  static const Array& table = *new Array({kTableRows, kTableColumns});
  return table;
}

void GatherRows(double seconds) {
  const Array rows({kTableRows, 1}, "i32"), &table = Table();
  Kernel kernel = Kernel::OfModule(
      {table, rows}, table,
      Module({table, rows}, table,
             R"(  %r = "stablehlo.gather"(%a0, %a1) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0],
        index_vector_dim = 1>,
    slice_sizes = array<i64: 1, )" +
                 std::to_string(kTableColumns) + ">}> : (" + table.type() +
                 ", " + rows.type() + ") -> " + table.type() + "\n"));
  const auto* at = reinterpret_cast<const int32_t*>(kernel.operand(1));
  Shuffle(reinterpret_cast<int32_t*>(kernel.operand(1)));
  const Memory copy = Allocate(table.count());
  const auto [ours_s, copy_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] { std::memcpy(copy.get(), kernel.operand(0), table.bytes()); });
  Figure("gather.rows.vs_copy", copy_s / ours_s, "x");
  for (int64_t i = 0; i < kTableRows; ++i) {
    if (std::memcmp(kernel.out() + i * kTableColumns,
                    kernel.operand(0) + at[i] * kTableColumns,
                    kTableColumns * 4) != 0) {
      Die("gather.rows: row " + std::to_string(i) + " is another one");
    }
  }
}

// Adds a row to each row. What is copied for comparison is what must be read:
// the table and the rows.
void ScatterRows(double seconds) {
  const Array rows({kTableRows, 1}, "i32"), &table = Table();
  Kernel kernel =
      Kernel::OfModule({table, rows, table}, table,
                       Module({table, rows, table}, table,
                              R"(  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : ()" + table.type() + ", " + rows.type() +
                                  ", " + table.type() + ") -> " + table.type() +
                                  "\n"));
  const auto* at = reinterpret_cast<const int32_t*>(kernel.operand(1));
  Shuffle(reinterpret_cast<int32_t*>(kernel.operand(1)));
  const Memory copy = Allocate(2 * table.count());
  const auto [ours_s, copy_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        std::memcpy(copy.get(), kernel.operand(0), table.bytes());
        std::memcpy(copy.get() + table.count(), kernel.operand(2),
                    table.bytes());
      });
  Figure("scatter.rows.vs_copy", copy_s / ours_s, "x");
  for (int64_t i = 0; i < kTableRows; ++i) {
    for (int64_t c = 0; c < kTableColumns; ++c) {
      const int64_t j = at[i] * kTableColumns + c;
      if (kernel.out()[j] !=
          kernel.operand(0)[j] + kernel.operand(2)[i * kTableColumns + c]) {
        Die("scatter.rows: element " + std::to_string(j) + " is another sum");
      }
    }
  }
}

void Sort(double seconds) {
  const Array x({1 << 20});
  Kernel kernel = Kernel::OfModule(
      {x}, x,
      Module({x}, x,
             R"(  %r = "stablehlo.sort"(%a0) <{dimension = 0 : i64,
                                is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y, TOTALORDER
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : ()" + x.type() +
                 ") -> " + x.type() + "\n"));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  std::generate_n(kernel.operand(0), x.count(), [&] { return number(random); });
  std::vector<float> sorted(x.count());
  const auto [ours_s, std_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        std::copy_n(kernel.operand(0), x.count(), sorted.begin());
        std::stable_sort(sorted.begin(), sorted.end());
      });
  Figure("sort.1M.vs_std", ours_s / std_s, "x");
  if (!std::equal(sorted.begin(), sorted.end(), kernel.out())) {
    Die("sort.1M: another order");
  }
}

// One step of gradient descent of y = tanh(x w) v for the mean of squares,
// which returns v.
constexpr int64_t kBatch = 256, kIn = 512, kHidden = 512, kOut = 64;

struct Step {
  Array x{{kBatch, kIn}}, y{{kBatch, kOut}}, w{{kIn, kHidden}},
      v{{kHidden, kOut}}, h{{kBatch, kHidden}};
};

// Writes the two kinds of operations of a step.
struct Writer {
  // out = name(operands), of this type.
  std::function<std::string(const std::string& out, const std::string& name,
                            const std::string& operands, const Array& type)>
      op;
  // out[m, n] = the sum over k of a times b, whose dimensions are named.
  std::function<std::string(const std::string& out, const std::string& a,
                            const std::string& b, const std::string& a_dims,
                            const std::string& b_dims, const Array& left,
                            const Array& right, const Array& result)>
      dot;
};

std::string StepOf(const Step& s, const Writer& w) {
  return w.op("one", "constant", "dense<1.0>", s.h) +
         w.op("scale", "constant", "dense<0.0078125>", s.y) +
         w.op("rate", "constant", "dense<0.125>", s.v) +
         w.op("rate_w", "constant", "dense<0.125>", s.w) +
         w.dot("h", "a0", "a1", "m, k", "k, n", s.x, s.w, s.h) +
         w.op("t", "tanh", "%h", s.h) +
         w.dot("p", "t", "a2", "m, k", "k, n", s.h, s.v, s.y) +
         w.op("e", "subtract", "%p, %a3", s.y) +
         w.op("dp", "multiply", "%e, %scale", s.y) +
         w.dot("dv", "t", "dp", "k, m", "k, n", s.h, s.y, s.v) +
         w.dot("dt", "dp", "a2", "m, k", "n, k", s.y, s.v, s.h) +
         w.op("t2", "multiply", "%t, %t", s.h) +
         w.op("slope", "subtract", "%one, %t2", s.h) +
         w.op("dh", "multiply", "%dt, %slope", s.h) +
         w.dot("dw", "a0", "dh", "k, m", "k, n", s.x, s.h, s.w) +
         w.op("sw", "multiply", "%rate_w, %dw", s.w) +
         w.op("w", "subtract", "%a1, %sw", s.w) +
         w.dot("q", "a0", "w", "m, k", "k, n", s.x, s.w, s.h) +
         w.dot("dq", "q", "dp", "k, m", "k, n", s.h, s.y, s.v) +
         w.op("sum", "add", "%dv, %dq", s.v) +
         w.op("sv", "multiply", "%rate, %sum", s.v) +
         w.op("r", "subtract", "%a2, %sv", s.v);
}

std::string StepInStableHlo(const Step& s) {
  Writer writer;
  writer.op = [](const std::string& out, const std::string& name,
                 const std::string& operands, const Array& type) {
    return "  %" + out + " = stablehlo." + name + " " + operands + " : " +
           type.type() + "\n";
  };
  writer.dot = [](const std::string& out, const std::string& a,
                  const std::string& b, const std::string& a_dims,
                  const std::string& b_dims, const Array& left,
                  const Array& right, const Array& result) {
    auto sum = [](const std::string& dims) {
      return dims[0] == 'k' ? "[0]" : "[1]";
    };
    return "  %" + out + " = stablehlo.dot_general %" + a + ", %" + b +
           ", contracting_dims = " + sum(a_dims) + " x " + sum(b_dims) +
           " : (" + left.type() + ", " + right.type() + ") -> " +
           result.type() + "\n";
  };
  return StepOf(s, writer);
}

std::string StepInBody(const Step& s) {
  Writer writer;
  writer.op = [](const std::string& out, const std::string& name,
                 const std::string& operands, const Array& type) {
    static const std::map<std::string, std::string> names = {
        {"constant", "arith.constant"},
        {"tanh", "math.tanh"},
        {"add", "arith.addf"},
        {"subtract", "arith.subf"},
        {"multiply", "arith.mulf"}};
    return "  %" + out + " = " + names.at(name) + " " + operands + " : " +
           type.type() + "\n";
  };
  writer.dot = [](const std::string& out, const std::string& a,
                  const std::string& b, const std::string& a_dims,
                  const std::string& b_dims, const Array& left,
                  const Array& right, const Array& result) {
    auto map = [](const std::string& dims) {
      return "affine_map<(m, n, k) -> (" + dims + ")>";
    };
    return Filled("z" + out, result, "0.0") + "  %" + out +
           " = linalg.contract indexing_maps = [" + map(a_dims) + ", " +
           map(b_dims) + ", " + map("m, n") + "] ins(%" + a + ", %" + b +
           " : " + left.type() + ", " + right.type() + ") outs(%z" + out +
           " : " + result.type() + ") -> " + result.type() + "\n";
  };
  return StepOf(s, writer);
}

// The results must have the same bits.
void StepOverhead(double seconds) {
  const Step s;
  const std::vector<Array> operands{s.x, s.w, s.v, s.y};
  Kernel hlo = Kernel::OfModule(operands, s.v,
                                Module(operands, s.v, StepInStableHlo(s)));
  Kernel body(operands, s.v, StepInBody(s));
  const auto [hlo_s, body_s] =
      InTurns(seconds, [&] { hlo.Run(); }, [&] { body.Run(); });
  Figure("frontend.step.overhead", hlo_s / body_s, "x");
  if (std::memcmp(hlo.out(), body.out(), s.v.bytes()) != 0) {
    Die("frontend.step: the results differ");
  }
}

}  // namespace

KernelBenchmarks Frontend() {
  return {{"frontend.gather", GatherRows},
          {"frontend.scatter", ScatterRows},
          {"frontend.sort", Sort},
          {"frontend.step", StepOverhead}};
}

}  // namespace pathways::bench
