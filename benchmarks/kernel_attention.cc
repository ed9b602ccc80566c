//===- kernel_attention.cc - Attention compared with its parts ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmarks/kernel_bench.h"

namespace pathways::bench {
namespace {

// An operand of a product: names its dimensions among b, m, n and k.
struct Operand {
  std::string value;
  Array array;
  std::string dims;
};

// Statements of attention by several heads of 64 columns. `inside`: the heads
// lie between rows and columns instead of before the rows. Products take
// numbers of type `element` and add in f32.
struct Heads {
  Heads(int64_t heads, int64_t length, const std::string& element = "f32",
        bool inside = false)
      : inside(inside),
        rows(inside ? std::vector<int64_t>{length, heads, 64}
                    : std::vector<int64_t>{heads, length, 64},
             element),
        sums(rows.shape),
        square({heads, length, length}),
        weights({heads, length, length}, element),
        column({heads, length}) {}

  // `dims` are two of m, n and k.
  Operand Rows(const std::string& value, const std::string& dims) const {
    return {value, rows, InRows(dims)};
  }
  Operand Square(const std::string& value, const std::string& dims) const {
    return {value, square, "b, " + dims};
  }
  std::string InRows(const std::string& dims) const {
    return inside ? dims.substr(0, 1) + ", b" + dims.substr(1) : "b, " + dims;
  }
  // Emits out = a b for each head, with rows m and columns n.
  std::string Product(const std::string& out, const Array& result,
                      const Operand& a, const Operand& b) const {
    auto map = [](const std::string& dims) {
      return "affine_map<(b, m, n, k) -> (" + dims + ")>";
    };
    const bool is_square = result.shape == square.shape;
    return Filled("z" + out, result, "0.0") + "  %" + out +
           " = linalg.contract indexing_maps = [" + map(a.dims) + ", " +
           map(b.dims) + ", " + map(is_square ? "b, m, n" : InRows("m, n")) +
           "] ins(" + a.value + ", " + b.value + " : " + a.array.type() + ", " +
           b.array.type() + ") outs(%z" + out + " : " + result.type() +
           ") -> " + result.type() + "\n";
  }
  // Emits out = in / 8.
  std::string Eighth(const std::string& out, const std::string& in) const {
    return "  %eighth" + out +
           " = arith.constant dense<0.125> : " + square.type() + "\n  %" + out +
           " = arith.mulf " + in + ", %eighth" + out + " : " + square.type() +
           "\n";
  }
  // Emits out = Q K^T / 8.
  std::string Scores(const std::string& out, const std::string& q,
                     const std::string& k) const {
    return Product("raw", square, Rows(q, "m, k"), Rows(k, "n, k")) +
           Eighth(out, "%raw");
  }
  std::string Softmax(const std::string& out, const std::string& in) const {
    const std::string s = square.type();
    return Empty("ep", square) + "  %" + out +
           " = linalg.softmax dimension(2) ins(" + in + " : " + s +
           ") outs(%ep : " + s + ") -> " + s + "\n";
  }
  // Emits out = p (dp - c) / 8, where c is the row sum of p dp.
  std::string ScoresGradient(const std::string& out, const std::string& p,
                             const std::string& dp) const {
    const std::string s = square.type(), c = column.type();
    return Filled("zc", column, "0.0") + Empty("ew", square) +
           "  %pdp = arith.mulf " + p + ", " + dp + " : " + s +
           "\n  %c = linalg.reduce { arith.addf } ins(%pdp : " + s +
           ") outs(%zc : " + c +
           ") dimensions = [2]\n  %cw = linalg.broadcast ins(%c : " + c +
           ") outs(%ew : " + s + ") dimensions = [2]\n  %d = arith.subf " + dp +
           ", %cw : " + s + "\n  %g = arith.mulf " + p + ", %d : " + s + "\n" +
           Eighth(out, "%g");
  }

  // Emits scores in the type that products take.
  std::string Narrowed(const std::string& out, const std::string& in) const {
    return "  %" + out + " = arith.truncf " + in + " : " + square.type() +
           " to " + weights.type() + "\n";
  }

  const bool inside;
  const Array rows, sums, square, weights, column;
};

// Compares softmax(Q K^T / 8) V in one kernel and as three, each of which reads
// from memory what the previous one wrote.
void Attention(const std::string& name, const Heads& h, double seconds) {
  const int64_t heads = h.square.shape[0], length = h.square.shape[1];
  Kernel kernel({h.rows, h.rows, h.rows}, h.rows,
                h.Scores("s", "%a0", "%a1") + h.Softmax("p", "%s") +
                    h.Product("r", h.rows, h.Square("%p", "m, k"),
                              h.Rows("%a2", "k, n")));
  Kernel first({h.rows, h.rows}, h.square, h.Scores("r", "%a0", "%a1"));
  Kernel second({h.square}, h.square, h.Softmax("r", "%a0"));
  Kernel third(
      {h.square, h.rows}, h.rows,
      h.Product("r", h.rows, h.Square("%a0", "m, k"), h.Rows("%a1", "k, n")));
  second.UseOperand(0, first.out());
  third.UseOperand(0, second.out());
  const auto [ours_s, parts_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        first.Run();
        second.Run();
        third.Run();
      });
  ExpectNear(name, kernel.out(), third.out(), h.rows.count(), 1e-5);
  Figure("kernel." + name + ".gflops",
         4e-9 * heads * length * length * 64 / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_parts", parts_s / ours_s, "x");
}

// Compares attention in a narrower type with f32.
void NarrowAttention(const std::string& element, double seconds) {
  auto of = [](const Heads& h) {
    const bool is_narrow = h.rows.element != "f32";
    return h.Scores("s", "%a0", "%a1") + h.Softmax("p", "%s") +
           (is_narrow ? h.Narrowed("w", "%p") : "") +
           h.Product("r", h.sums,
                     {is_narrow ? "%w" : "%p", h.weights, "b, m, k"},
                     h.Rows("%a2", "k, n"));
  };
  const Heads narrow(8, 512, element), wide(8, 512);
  Kernel ours({narrow.rows, narrow.rows, narrow.rows}, narrow.sums, of(narrow));
  Kernel f32({wide.rows, wide.rows, wide.rows}, wide.sums, of(wide));
  for (int i = 0; i < 3; ++i) {
    Widen(element, ours.operand(i), f32.operand(i), wide.rows.count());
  }
  const auto [ours_s, f32_s] =
      InTurns(seconds, [&] { ours.Run(); }, [&] { f32.Run(); });
  ExpectNear("attention_" + element, ours.out(), f32.out(), wide.sums.count(),
             2e-2);
  Figure("kernel.attention_" + element + ".vs_f32", ours_s / f32_s, "x");
}

// Compares the gradients of Q, K and V, computed from that of the result and
// with the scores recomputed, in one kernel and as six.
void AttentionGradient(const std::string& name, int64_t heads, int64_t length,
                       double seconds) {
  const Heads h(heads, length);
  auto of_values = [&](const std::string& out, const std::string& p,
                       const std::string& dout) {
    return h.Product(out, h.rows, h.Square(p, "k, m"), h.Rows(dout, "k, n"));
  };
  auto of_weights = [&](const std::string& out, const std::string& dout,
                        const std::string& v) {
    return h.Product(out, h.square, h.Rows(dout, "m, k"), h.Rows(v, "n, k"));
  };
  auto of_queries = [&](const std::string& out, const std::string& ds,
                        const std::string& k) {
    return h.Product(out, h.rows, h.Square(ds, "m, k"), h.Rows(k, "k, n"));
  };
  auto of_keys = [&](const std::string& out, const std::string& ds,
                     const std::string& q) {
    return h.Product(out, h.rows, h.Square(ds, "k, m"), h.Rows(q, "k, n"));
  };
  // %a0 is Q, %a1 K, %a2 the gradient of the result, %a3 V.
  Kernel kernel(
      {h.rows, h.rows, h.rows, h.rows}, {h.rows, h.rows, h.rows},
      h.Scores("s", "%a0", "%a1") + h.Softmax("p", "%s") +
          of_values("r0", "%p", "%a2") + of_weights("dp", "%a2", "%a3") +
          h.ScoresGradient("ds", "%p", "%dp") + of_queries("r1", "%ds", "%a1") +
          of_keys("r2", "%ds", "%a0"));
  Kernel weights({h.rows, h.rows}, h.square,
                 h.Scores("s", "%a0", "%a1") + h.Softmax("r", "%s"));
  Kernel values({h.square, h.rows}, h.rows, of_values("r", "%a0", "%a1"));
  Kernel dweights({h.rows, h.rows}, h.square, of_weights("r", "%a0", "%a1"));
  Kernel scores({h.square, h.square}, h.square,
                h.ScoresGradient("r", "%a0", "%a1"));
  Kernel queries({h.square, h.rows}, h.rows, of_queries("r", "%a0", "%a1"));
  Kernel keys({h.square, h.rows}, h.rows, of_keys("r", "%a0", "%a1"));
  values.UseOperand(0, weights.out());
  scores.UseOperand(0, weights.out());
  scores.UseOperand(1, dweights.out());
  queries.UseOperand(0, scores.out());
  keys.UseOperand(0, scores.out());
  const auto [ours_s, parts_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        for (Kernel* part :
             {&weights, &values, &dweights, &scores, &queries, &keys}) {
          part->Run();
        }
      });
  ExpectNear(name, kernel.out(0), values.out(), h.rows.count(), 1e-5);
  ExpectNear(name, kernel.out(1), queries.out(), h.rows.count(), 1e-5);
  ExpectNear(name, kernel.out(2), keys.out(), h.rows.count(), 1e-5);
  Figure("kernel." + name + ".gflops",
         10e-9 * heads * length * length * 64 / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_parts", parts_s / ours_s, "x");
  Figure("kernel." + name + ".scratch_vs_scores",
         1.0 * kernel.scratch_bytes() / h.square.bytes(), "x");
}

}  // namespace

KernelBenchmarks Attentions() {
  KernelBenchmarks all;
  const std::pair<int64_t, int64_t> sizes[] = {{32, 128}, {8, 512}, {2, 2048}};
  for (const auto& [heads, length] : sizes) {
    const std::string rows = std::to_string(length);
    all.push_back({"attention" + rows, [=](double seconds) {
                     Attention("attention" + rows, Heads(heads, length),
                               seconds);
                   }});
  }
  for (const auto& [heads, length] : sizes) {
    const std::string rows = "_gradient" + std::to_string(length);
    all.push_back({"attention" + rows, [=](double seconds) {
                     AttentionGradient("attention" + rows, heads, length,
                                       seconds);
                   }});
  }
  all.push_back({"attention_inside512", [](double seconds) {
                   Attention("attention_inside512",
                             Heads(8, 512, "f32", /*inside=*/true), seconds);
                 }});
  for (const std::string element : {"bf16", "f16"}) {
    all.push_back({"attention_" + element,
                   [=](double seconds) { NarrowAttention(element, seconds); }});
  }
  return all;
}

}  // namespace pathways::bench
