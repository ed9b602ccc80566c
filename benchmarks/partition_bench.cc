//===- partition_bench.cc - Global views compared with local ones ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// partition_bench hand [ROUNDS]  steps of a perceptron and of an attention
//                                block written on whole arrays, over those of
//                                the same written for one shard by hand, with
//                                the same collectives, on two devices
// partition_bench bytes          bytes that collectives of known cases receive
//                                on a device, over what the textbook says
//
// Bytes of a collective are those of rings (Thakur et al., 2005): of n bytes in
// a group of g, all-gather and reduce-scatter receive n (g - 1) / g, an
// all-reduce twice that.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "benchmarks/api.h"
#include "benchmarks/bench.h"
#include "pathways/Pathways.h"
#include "runtime/plan/plan_file.h"

namespace pathways::bench {
namespace {

std::string Matrix(int64_t rows, int64_t columns) {
  return absl::StrCat("tensor<", rows, "x", columns, "xf32>");
}

// Returns a product of two matrices; the flags say which is transposed.
std::string Product(const std::string& result, const std::string& a,
                    const std::string& b, int64_t m, int64_t n, int64_t k,
                    bool transposes_a = false, bool transposes_b = false) {
  const std::string left = transposes_a ? Matrix(k, m) : Matrix(m, k);
  const std::string right = transposes_b ? Matrix(n, k) : Matrix(k, n);
  return absl::Substitute(
      "  $0_zero = arith.constant dense<0.0> : $1\n"
      "  $0 = linalg.matmul indexing_maps = ["
      "affine_map<(m, n, k) -> ($6)>, affine_map<(m, n, k) -> ($7)>, "
      "affine_map<(m, n, k) -> (m, n)>] ins($2, $3 : $4, $5) "
      "outs($0_zero : $1) -> $1\n",
      result, Matrix(m, n), a, b, left, right, transposes_a ? "k, m" : "m, k",
      transposes_b ? "n, k" : "k, n");
}

// Returns tanh(x v) w for rows of `d` numbers, with `hidden` columns between.
std::string Perceptron(int64_t rows, int64_t d, int64_t hidden,
                       const std::string& end) {
  return absl::StrCat(Product("%h", "%x", "%v", rows, hidden, d),
                      "  %a = math.tanh %h : ", Matrix(rows, hidden), "\n",
                      Product("%y", "%a", "%w", rows, d, hidden), end);
}

// Returns attention of `heads` heads of 64 over `batch` sequences of `length`,
// with the projections before and after it.
std::string Attention(int64_t batch, int64_t length, int64_t d, int64_t heads,
                      const std::string& end) {
  const int64_t rows = batch * length, width = heads * 64;
  std::string text;
  for (const char* name : {"q", "k", "v"}) {
    text += Product(absl::StrCat("%", name, "_flat"), "%x",
                    absl::StrCat("%w", name), rows, width, d);
    text += absl::Substitute(
        "  %$0 = tensor.expand_shape %$0_flat [[0, 1], [2, 3]] output_shape "
        "[$1, $2, $3, 64] : $4 into tensor<$1x$2x$3x64xf32>\n",
        name, batch, length, heads, Matrix(rows, width));
  }
  const std::string split =
      absl::Substitute("tensor<$0x$1x$2x64xf32>", batch, length, heads);
  const std::string scores =
      absl::Substitute("tensor<$0x$1x$2x$2xf32>", batch, heads, length);
  const std::string row =
      absl::Substitute("tensor<$0x$1x$2xf32>", batch, heads, length);
  const std::string einsum =
      R"("parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins($2, $3 : $4, $5) outs($0_zero : $1) {
  ^bb0(%left: f32, %right: f32, %before: f32):
    %both = arith.mulf %left, %right : f32
    %after = arith.addf %before, %both : f32
    linalg.yield %after : f32
  } -> $1
)";
  text += absl::Substitute(
      "  %s_zero = arith.constant dense<0.0> : $1\n"
      "  %s = linalg.generic {indexing_maps = ["
      "affine_map<(b, h, q, k, e) -> (b, q, h, e)>, "
      "affine_map<(b, h, q, k, e) -> (b, k, h, e)>, "
      "affine_map<(b, h, q, k, e) -> (b, h, q, k)>], iterator_types = [" +
          einsum,
      "%s", scores, "%q", "%k", split, split);
  text += absl::Substitute(
      R"(  %scale = arith.constant dense<0.125> : $0
  %scaled = arith.mulf %s, %scale : $0
  %lowest = arith.constant dense<0xFF800000> : $1
  %top = linalg.reduce { arith.maximumf } ins(%scaled : $0) outs(%lowest : $1) dimensions = [3]
  %wide = tensor.empty() : $0
  %tops = linalg.broadcast ins(%top : $1) outs(%wide : $0) dimensions = [3]
  %less = arith.subf %scaled, %tops : $0
  %e = math.exp %less : $0
  %none = arith.constant dense<0.0> : $1
  %sum = linalg.reduce { arith.addf } ins(%e : $0) outs(%none : $1) dimensions = [3]
  %sums = linalg.broadcast ins(%sum : $1) outs(%wide : $0) dimensions = [3]
  %share = arith.divf %e, %sums : $0
)",
      scores, row);
  text += absl::Substitute(
      "  %o_zero = arith.constant dense<0.0> : $1\n"
      "  %o = linalg.generic {indexing_maps = ["
      "affine_map<(b, q, h, e, k) -> (b, h, q, k)>, "
      "affine_map<(b, q, h, e, k) -> (b, k, h, e)>, "
      "affine_map<(b, q, h, e, k) -> (b, q, h, e)>], iterator_types = [" +
          einsum,
      "%o", split, "%share", "%v", scores, split);
  text += absl::Substitute(
      "  %flat = tensor.collapse_shape %o [[0, 1], [2, 3]] : $0 into $1\n",
      split, Matrix(rows, width));
  return text + Product("%y", "%flat", "%wo", rows, d, width) + end;
}

// Returns a program that calls @f once on `arguments`, which are names and
// types.
std::string Program(
    int64_t devices, const std::string& axis,
    const std::vector<std::pair<std::string, std::string>>& arguments,
    const std::vector<std::string>& results, const std::string& function) {
  std::string given, names, taken, made, returned;
  for (const auto& [name, type] : arguments) {
    const char* comma = given.empty() ? "" : ", ";
    absl::StrAppend(&given, comma, "%", name, ": ", type);
    absl::StrAppend(&names, comma, "%", name);
    absl::StrAppend(&taken, comma, type);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const char* comma = i ? ", " : "";
    absl::StrAppend(&made, comma, results[i]);
    absl::StrAppend(&returned, comma, "%r#", i);
  }
  return absl::Substitute(
      "pw.slice @s mesh <$0>\n$1\npw.program @p($2) -> ($3) {\n"
      "  %r:$4 = pw.call @f($5) : ($6) -> ($3)\n  pw.return $7 : $3\n}\n",
      axis.empty() ? absl::StrCat("\"m\" = ", devices) : axis, function, given,
      made, results.size(), names, taken, returned);
}

std::string Array(int64_t rows, int64_t columns, const std::string& sharding) {
  return absl::StrCat("!pw.array<", rows, "x", columns, "xf32, @s, ", sharding,
                      ">");
}

std::string Function(
    const std::vector<std::pair<std::string, std::string>>& arguments,
    const std::vector<std::string>& results, const std::string& body,
    bool is_local) {
  std::string given, made;
  for (const auto& [name, type] : arguments) {
    absl::StrAppend(&given, given.empty() ? "%" : ", %", name, ": ", type);
  }
  for (const std::string& type : results) {
    absl::StrAppend(&made, made.empty() ? "" : ", ", type);
  }
  return absl::StrCat("func.func private @f(", given, ") -> (", made, ")",
                      is_local ? " attributes {pw.local_view}" : "", " {\n",
                      body, "}\n");
}

// A program loaded on two devices, with values that look random.
class Steps {
 public:
  Steps(const std::string& text,
        const std::vector<std::pair<std::string, std::vector<int64_t>>>& shapes)
      : session_(Take(Session::open({.topology = "1x1x2"}))),
        executable_(Take(session_.load(
            Take(compile({text, "bench.mlir"}, {.topology = "1x1x2"})).plan))) {
    for (const auto& [name, shape] : shapes) {
      HostArray array{ElementType::kF32, shape, {}};
      int64_t count = 1;
      for (int64_t size : shape) count *= size;
      std::vector<float> values(count);
      for (int64_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i * 2654435761u % 1000) * 1e-4f - 0.05f;
      }
      array.data.resize(count * sizeof(float));
      std::copy_n(reinterpret_cast<const char*>(values.data()),
                  array.data.size(),
                  reinterpret_cast<char*>(array.data.data()));
      arguments_.emplace(name, std::move(array));
    }
  }

  // Returns the seconds of one of `steps` steps, and sets the result.
  double Run(int64_t steps, HostArray* result) {
    const double start = Seconds();
    pathways::Run run = Take(executable_.launch(arguments_, steps));
    if (Status status = run.await(); !status) Die(status.error().message);
    const double seconds = (Seconds() - start) / static_cast<double>(steps);
    *result = Take(run.fetch("result0"));
    return seconds;
  }

 private:
  Session session_;
  Executable executable_;
  std::map<std::string, Argument> arguments_;
};

// Prints the median of the ratio of both times, measured in turns.
void Compare(
    const std::string& name, const std::string& global,
    const std::string& local,
    const std::vector<std::pair<std::string, std::vector<int64_t>>>& shapes,
    int rounds) {
  Steps partitioned(global, shapes), by_hand(local, shapes);
  HostArray ours, theirs;
  std::vector<double> ratios;
  for (int i = 0; i <= rounds; ++i) {
    const double a = partitioned.Run(20, &ours);
    const double b = by_hand.Run(20, &theirs);
    if (ours.data != theirs.data) {
      Die(absl::StrCat(name, ": the two do not have the same bits"));
    }
    if (i > 0) ratios.push_back(a / b);  // the first turn is a warm-up
  }
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2,
                   ratios.end());
  Figure(absl::StrCat("partition.vs_hand.", name), ratios[ratios.size() / 2],
         "x");
}

void ByHand(int rounds) {
  constexpr int64_t kRows = 512, kD = 256, kHidden = 1024, kHeads = 4;
  const std::string whole = Array(kRows, kD, "[{}, {}]");
  {
    const std::vector<std::pair<std::string, std::string>> arrays = {
        {"x", whole},
        {"v", Array(kD, kHidden, "[{}, {\"m\"}]")},
        {"w", Array(kHidden, kD, "[{\"m\"}, {}]")}};
    auto function = [&](int64_t hidden, bool is_local) {
      const std::string type = Matrix(kRows, kD);
      const std::string end = is_local
                                  ? absl::Substitute(
                                        "  %z = pw.all_reduce %y add over "
                                        "[\"m\"] : $0\n  return %z : $0\n",
                                        type)
                                  : absl::StrCat("  return %y : ", type, "\n");
      return Function(
          {{"x", type}, {"v", Matrix(kD, hidden)}, {"w", Matrix(hidden, kD)}},
          {type}, Perceptron(kRows, kD, hidden, end), is_local);
    };
    Compare("mlp", Program(2, "", arrays, {whole}, function(kHidden, false)),
            Program(2, "", arrays, {whole}, function(kHidden / 2, true)),
            {{"x", {kRows, kD}}, {"v", {kD, kHidden}}, {"w", {kHidden, kD}}},
            rounds);
  }
  const std::string columns = Array(kD, kD, "[{}, {\"m\"}]");
  const std::vector<std::pair<std::string, std::string>> arrays = {
      {"x", whole},
      {"wq", columns},
      {"wk", columns},
      {"wv", columns},
      {"wo", Array(kD, kD, "[{\"m\"}, {}]")}};
  auto function = [&](int64_t heads, bool is_local) {
    const std::string type = Matrix(kRows, kD), w = Matrix(kD, heads * 64);
    const std::string end = is_local
                                ? absl::Substitute(
                                      "  %z = pw.all_reduce %y add over "
                                      "[\"m\"] : $0\n  return %z : $0\n",
                                      type)
                                : absl::StrCat("  return %y : ", type, "\n");
    return Function({{"x", type},
                     {"wq", w},
                     {"wk", w},
                     {"wv", w},
                     {"wo", Matrix(heads * 64, kD)}},
                    {type}, Attention(4, kRows / 4, kD, heads, end), is_local);
  };
  const std::vector<int64_t> square = {kD, kD};
  Compare("attention", Program(2, "", arrays, {whole}, function(kHeads, false)),
          Program(2, "", arrays, {whole}, function(kHeads / 2, true)),
          {{"x", {kRows, kD}},
           {"wq", square},
           {"wk", square},
           {"wv", square},
           {"wo", square}},
          rounds);
}

// Returns the bytes that collectives of a program receive on one device.
double Received(const std::string& text, const std::string& topology) {
  const Compiled compiled =
      Take(compile({text, "bench.mlir"}, {.topology = topology}));
  const std::string& file = compiled.plan.bytes();
  const PlanData data =
      Must(ParsePlan(absl::string_view(file.data(), file.size())));
  const proto::Plan& plan = data.tables;
  double bytes = 0;
  for (const proto::Action& action : plan.actions()) {
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_collective()) continue;
      const proto::Collective& c = step.collective();
      double group = 1;
      for (const proto::Axis& axis :
           plan.slices(plan.buffers(c.source()).slice()).axes()) {
        if (std::count(c.axes().begin(), c.axes().end(), axis.name()) > 0) {
          group *= static_cast<double>(axis.size());
        }
      }
      const bool grows = c.kind() == proto::ALL_GATHER;
      const double most = static_cast<double>(
          plan.buffers(grows ? c.result() : c.source()).bytes());
      bytes +=
          most * (group - 1) / group * (c.kind() == proto::ALL_REDUCE ? 2 : 1);
    }
  }
  return bytes;
}

void Bytes() {
  constexpr int64_t kRows = 512, kD = 256, kHidden = 1024;
  constexpr double kFour = 3.0 / 4, kTwo = 1.0 / 2;
  auto print = [](const std::string& name, const std::string& text,
                  const std::string& topology, double textbook) {
    Figure(absl::StrCat("partition.bytes_vs_textbook.", name),
           Received(text, topology) / textbook, "x");
  };
  auto types = [](const std::vector<std::pair<int64_t, int64_t>>& shapes) {
    std::vector<std::string> list;
    for (auto [rows, columns] : shapes) list.push_back(Matrix(rows, columns));
    return list;
  };
  const double activation = kRows * kD * 4.0, weight = kD * kHidden * 4.0;

  // Forward and backward of tanh(x v) w with matrices cut over "m": one
  // all-reduce each. Gradients are cut like their matrices.
  auto make_mlp = [&](int64_t rows) {
    const std::string backward = absl::StrCat(
        Product("%da", "%dy", "%w", rows, kHidden, kD, false, true),
        "  %one = arith.constant dense<1.0> : ", Matrix(rows, kHidden), "\n",
        "  %aa = arith.mulf %a, %a : ", Matrix(rows, kHidden), "\n",
        "  %slope = arith.subf %one, %aa : ", Matrix(rows, kHidden), "\n",
        "  %dh = arith.mulf %da, %slope : ", Matrix(rows, kHidden), "\n",
        Product("%dw", "%a", "%dy", kHidden, kD, rows, true),
        Product("%dv", "%x", "%dh", kD, kHidden, rows, true),
        Product("%dx", "%dh", "%v", rows, kD, kHidden, false, true),
        "  return %y, %dx, %dv, %dw : ", Matrix(rows, kD), ", ",
        Matrix(rows, kD), ", ", Matrix(kD, kHidden), ", ", Matrix(kHidden, kD),
        "\n");
    const std::vector<std::pair<std::string, std::string>> tensors = {
        {"x", Matrix(rows, kD)},
        {"dy", Matrix(rows, kD)},
        {"v", Matrix(kD, kHidden)},
        {"w", Matrix(kHidden, kD)}};
    return Function(
        tensors, types({{rows, kD}, {rows, kD}, {kD, kHidden}, {kHidden, kD}}),
        Perceptron(rows, kD, kHidden, backward), false);
  };
  const std::string mlp = make_mlp(kRows);
  const std::string x = Array(kRows, kD, "[{}, {}]");
  const std::string v = Array(kD, kHidden, "[{}, {\"m\"}]");
  const std::string w = Array(kHidden, kD, "[{\"m\"}, {}]");
  print("megatron_mlp",
        Program(4, "", {{"x", x}, {"dy", x}, {"v", v}, {"w", w}}, {x, x, v, w},
                mlp),
        "1x1x4", 2 * 2 * kFour * activation);

  // Rows are cut over "m" and matrices are replicated: one all-reduce per
  // gradient.
  const std::string rows = Array(kRows, kD, "[{\"m\"}, {}]");
  const std::string v_whole = Array(kD, kHidden, "[{}, {}]");
  const std::string w_whole = Array(kHidden, kD, "[{}, {}]");
  print("data_parallel",
        Program(4, "",
                {{"x", rows}, {"dy", rows}, {"v", v_whole}, {"w", w_whole}},
                {rows, rows, v_whole, w_whole}, mlp),
        "1x1x4", 2 * 2 * kFour * weight);

  // Matrices are cut over the same axis as the rows, of which there are many:
  // matrices are gathered once, gradients are scattered. With few rows, these
  // would be gathered instead, which moves less.
  constexpr int64_t kMany = 8 * kRows;
  const std::string many = Array(kMany, kD, "[{\"m\"}, {}]");
  const std::string v_rows = Array(kD, kHidden, "[{\"m\"}, {}]");
  const std::string w_rows = Array(kHidden, kD, "[{\"m\"}, {}]");
  print(
      "sharded_optimizer",
      Program(4, "", {{"x", many}, {"dy", many}, {"v", v_rows}, {"w", w_rows}},
              {many, many, v_rows, w_rows}, make_mlp(kMany)),
      "1x1x4", 2 * (1 + 1) * kFour * weight);

  // Rows between blocks are cut over "m" too: gathered before a block,
  // scattered after it.
  const std::string sequence = Function(
      {{"cut", Matrix(kRows, kD)},
       {"v", Matrix(kD, kHidden)},
       {"w", Matrix(kHidden, kD)}},
      types({{kRows, kD}}),
      absl::StrCat(
          "  %x = pw.constrain %cut [{}, {}] : ", Matrix(kRows, kD), "\n",
          Perceptron(kRows, kD, kHidden,
                     absl::StrCat("  return %y : ", Matrix(kRows, kD), "\n"))),
      false);
  print("sequence_parallel",
        Program(4, "", {{"cut", rows}, {"v", v}, {"w", w}}, {rows}, sequence),
        "1x1x4", 2 * kFour * activation);

  // A product of matrices that are cut both ways: gathers a row and a column of
  // the grid.
  const std::string tile = Array(kHidden, kHidden, "[{\"r\"}, {\"c\"}]");
  print(
      "product2d",
      Program(4, "\"r\" = 2, \"c\" = 2", {{"x", tile}, {"v", tile}}, {tile},
              Function({{"x", Matrix(kHidden, kHidden)},
                        {"v", Matrix(kHidden, kHidden)}},
                       types({{kHidden, kHidden}}),
                       absl::StrCat(
                           Product("%y", "%x", "%v", kHidden, kHidden, kHidden),
                           "  return %y : ", Matrix(kHidden, kHidden), "\n"),
                       false)),
      "1x1x4", 2 * kTwo * kHidden * kHidden / 2 * 4.0);
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "hand") {
    ByHand(argc > 2 ? std::atoi(argv[2]) : 15);
  } else if (what == "bytes") {
    Bytes();
  } else {
    std::fprintf(stderr, "usage: partition_bench hand [ROUNDS] | bytes\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
