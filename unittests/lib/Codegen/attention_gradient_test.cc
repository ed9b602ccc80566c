//===- attention_gradient_test.cc - Products that sum over blocks of rows -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the gradients of attention in one kernel that never holds a whole
// matrix of scores. The results have the same bits as those of one kernel per
// product.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace kernel_test;

namespace {

struct Case {
  int64_t heads, queries, keys, size, valueSize;
  std::string element = "f32"; ///< element type of the operands of products
  bool isCausal = false;
  bool adds = false; ///< adds the gradient of the keys to an existing one
  /// transposes matrices of scores before products over their rows
  bool turns = false;
  bool hasHeadsInside =
      false; ///< heads lie between rows and columns, except in scores
};

std::string tensorOf(std::vector<int64_t> shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// Writes the ops of a case. Values are named without %.
class Writer {
public:
  explicit Writer(const Case &c)
      : q(rowsOf(c, c.queries, c.size, c.element)),
        k(rowsOf(c, c.keys, c.size, c.element)),
        v(rowsOf(c, c.keys, c.valueSize, c.element)),
        dout(rowsOf(c, c.queries, c.valueSize, c.element)),
        dq(rowsOf(c, c.queries, c.size, "f32")),
        dk(rowsOf(c, c.keys, c.size, "f32")),
        dv(rowsOf(c, c.keys, c.valueSize, "f32")),
        wide(tensorOf({c.heads, c.queries, c.keys}, "f32")),
        square(tensorOf({c.heads, c.queries, c.keys}, c.element)),
        turned(tensorOf({c.heads, c.keys, c.queries}, c.element)),
        column(tensorOf({c.heads, c.queries}, "f32")), c(c) {}

  std::string weights() const {
    return product("raw", wide, "b, m, n", {"q", q, inRows("m", "k")},
                   {"k", k, inRows("n", "k")}) +
           masked() + "  %ep = tensor.empty() : " + wide +
           "\n  %pw = linalg.softmax dimension(2) ins(%s : " + wide +
           ") outs(%ep : " + wide + ") -> " + wide + "\n" + narrowed("p", "pw");
  }
  std::string ofValues() const {
    return overRows("dv", dv, "p", {"do", dout, inRows("k", "n")});
  }
  std::string ofWeights() const {
    return product("dp", wide, "b, m, n", {"do", dout, inRows("m", "k")},
                   {"v", v, inRows("n", "k")});
  }
  std::string ofScores() const {
    return "  %zc = arith.constant dense<0.0> : " + column +
           "\n  %ew = tensor.empty() : " + wide + "\n" + widened("p2", "p") +
           "  %pdp = arith.mulf %p2, %dp : " + wide +
           "\n  %c = linalg.reduce { arith.addf } ins(%pdp : " + wide +
           ") outs(%zc : " + column +
           ") dimensions = [2]\n  %cw = linalg.broadcast ins(%c : " + column +
           ") outs(%ew : " + wide +
           ") dimensions = [2]\n  %d = arith.subf %dp, %cw : " + wide +
           "\n  %dsw = arith.mulf %p2, %d : " + wide + "\n" +
           narrowed("ds", "dsw");
  }
  std::string ofQueries() const {
    return product("dq", dq, inRows("m", "n"), {"ds", square, "b, m, k"},
                   {"k", k, inRows("k", "n")});
  }
  std::string ofKeys() const {
    return overRows("dk", dk, "ds", {"q", q, inRows("k", "n")},
                    c.adds ? "dk0" : "");
  }

  const std::string q, k, v, dout, dq, dk, dv, wide, square, turned, column;

private:
  struct Operand {
    std::string value, type, dims;
  };
  static std::string rowsOf(const Case &c, int64_t count, int64_t size,
                            const std::string &element) {
    return c.hasHeadsInside ? tensorOf({count, c.heads, size}, element)
                            : tensorOf({c.heads, count, size}, element);
  }
  std::string inRows(const std::string &row, const std::string &column) const {
    return (c.hasHeadsInside ? row + ", b, " : "b, " + row + ", ") + column;
  }
  std::string product(const std::string &out, const std::string &type,
                      const std::string &dims, const Operand &a,
                      const Operand &b, const std::string &start = "") const {
    auto map = [](const std::string &of) {
      return "affine_map<(b, m, n, k) -> (" + of + ")>";
    };
    std::string text;
    if (start.empty())
      text = "  %z" + out + " = arith.constant dense<0.0> : " + type + "\n";
    return text + "  %" + out + " = linalg.contract indexing_maps = [" +
           map(a.dims) + ", " + map(b.dims) + ", " + map(dims) + "] ins(%" +
           a.value + ", %" + b.value + " : " + a.type + ", " + b.type +
           ") outs(%" + (start.empty() ? "z" + out : start) + " : " + type +
           ") -> " + type + "\n";
  }
  std::string overRows(const std::string &out, const std::string &type,
                       const std::string &scores, const Operand &b,
                       const std::string &start = "") const {
    if (!c.turns)
      return product(out, type, inRows("m", "n"), {scores, square, "b, k, m"},
                     b, start);
    return "  %e" + out + " = tensor.empty() : " + turned + "\n  %t" + out +
           " = linalg.transpose ins(%" + scores + " : " + square + ") outs(%e" +
           out + " : " + turned + ") permutation = [0, 2, 1]\n" +
           product(out, type, inRows("m", "n"), {"t" + out, turned, "b, m, k"},
                   b, start);
  }
  std::string masked() const {
    if (!c.isCausal)
      return "  %half = arith.constant dense<0.5> : " + wide +
             "\n  %s = arith.mulf %raw, %half : " + wide + "\n";
    return "  %low = arith.constant 0xFF800000 : f32\n"
           "  %em = tensor.empty() : " +
           wide +
           "\n  %s = linalg.generic {indexing_maps = "
           "[affine_map<(b, i, j) -> (b, i, j)>, "
           "affine_map<(b, i, j) -> (b, i, j)>], iterator_types = "
           "[\"parallel\", \"parallel\", \"parallel\"]} ins(%raw : " +
           wide + ") outs(%em : " + wide +
           ") {\n  ^bb0(%in: f32, %o: f32):\n"
           "    %i = linalg.index 1 : index\n    %j = linalg.index 2 : index\n"
           "    %behind = arith.cmpi ugt, %j, %i : index\n"
           "    %r = arith.select %behind, %low, %in : f32\n"
           "    linalg.yield %r : f32\n  } -> " +
           wide + "\n";
  }
  std::string narrowed(const std::string &out, const std::string &in) const {
    return "  %" + out + " = " +
           (c.element == "f32" ? "tensor.cast" : "arith.truncf") + " %" + in +
           " : " + wide + " to " + square + "\n";
  }
  std::string widened(const std::string &out, const std::string &in) const {
    return "  %" + out + " = " +
           (c.element == "f32" ? "tensor.cast" : "arith.extf") + " %" + in +
           " : " + square + " to " + wide + "\n";
  }

  const Case &c;
};

std::string
function(const std::string &name,
         const std::vector<std::pair<std::string, std::string>> &in,
         const std::string &body,
         const std::vector<std::pair<std::string, std::string>> &out) {
  std::string arguments, values, types;
  for (const auto &[value, type] : in)
    arguments += (arguments.empty() ? "%" : ", %") + value + ": " + type;
  for (const auto &[value, type] : out) {
    values += (values.empty() ? "%" : ", %") + value;
    types += (types.empty() ? "" : ", ") + type;
  }
  return "func.func @" + name + "(" + arguments + ") -> (" + types + ") {\n" +
         body + "  return " + values + " : " + types + "\n}\n";
}

Buffer random(const Case &c, int64_t count, unsigned seed) {
  std::vector<float> values = numbers<float>(count, seed);
  if (c.element == "f32")
    return Buffer::of(values);
  std::vector<_Float16> halves(values.begin(), values.end());
  std::vector<uint16_t> bits;
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t word;
    std::memcpy(&word, &values[i], 4);
    uint16_t half;
    std::memcpy(&half, &halves[i], 2);
    bits.push_back(c.element == "f16" ? half : word >> 16);
  }
  return Buffer::of(bits);
}

/// Compares the results. Sets `scratch` to the scratch bytes of the whole
/// kernel relative to the bytes of the matrix of scores.
void compare(const Case &c, double &scratch) {
  const Writer w(c);
  std::vector<std::pair<std::string, std::string>> inputs = {
      {"q", w.q}, {"k", w.k}, {"do", w.dout}, {"v", w.v}};
  std::vector<std::pair<std::string, std::string>> ofKeys = {{"ds", w.square},
                                                             {"q", w.q}};
  if (c.adds) {
    inputs.push_back({"dk0", w.dk});
    ofKeys.push_back({"dk0", w.dk});
  }
  Kernel kernel, parts;
  ASSERT_TRUE(
      kernel.compile(function("whole", inputs,
                              w.weights() + w.ofValues() + w.ofWeights() +
                                  w.ofScores() + w.ofQueries() + w.ofKeys(),
                              {{"dv", w.dv}, {"dq", w.dq}, {"dk", w.dk}})))
      << kernel.errors();
  ASSERT_TRUE(parts.compile(
      function("f0", {{"q", w.q}, {"k", w.k}}, w.weights(), {{"p", w.square}}) +
      function("f1", {{"p", w.square}, {"do", w.dout}}, w.ofValues(),
               {{"dv", w.dv}}) +
      function("f2", {{"do", w.dout}, {"v", w.v}}, w.ofWeights(),
               {{"dp", w.wide}}) +
      function("f3", {{"p", w.square}, {"dp", w.wide}}, w.ofScores(),
               {{"ds", w.square}}) +
      function("f4", {{"ds", w.square}, {"k", w.k}}, w.ofQueries(),
               {{"dq", w.dq}}) +
      function("f5", ofKeys, w.ofKeys(), {{"dk", w.dk}})))
      << parts.errors();
  const int64_t ofQ = c.heads * c.queries, ofK = c.heads * c.keys,
                scores = ofQ * c.keys, bytes = c.element == "f32" ? 4 : 2;
  scratch = double(kernel.code().segments[0].scratchBytes) / (4 * scores);
  Buffer q = random(c, ofQ * c.size, 1), k = random(c, ofK * c.size, 2),
         dout = random(c, ofQ * c.valueSize, 3),
         v = random(c, ofK * c.valueSize, 4),
         dk0 = Buffer::of(numbers<float>(ofK * c.size, 5));
  Buffer dv(ofK * c.valueSize * 4), dq(ofQ * c.size * 4), dk(ofK * c.size * 4);
  Buffer dv1(ofK * c.valueSize * 4), dq1(ofQ * c.size * 4),
      dk1(ofK * c.size * 4);
  Buffer p(scores * bytes), dp(scores * 4), ds(scores * bytes);
  std::vector<Buffer *> all = {&q, &k, &dout, &v}, last = {&ds, &q};
  if (c.adds) {
    all.push_back(&dk0);
    last.push_back(&dk0);
  }
  all.insert(all.end(), {&dv, &dq, &dk});
  last.push_back(&dk1);
  ASSERT_EQ(kernel.run(0, all), 0);
  ASSERT_EQ(parts.run(0, {&q, &k, &p}), 0);
  ASSERT_EQ(parts.run(1, {&p, &dout, &dv1}), 0);
  ASSERT_EQ(parts.run(2, {&dout, &v, &dp}), 0);
  ASSERT_EQ(parts.run(3, {&p, &dp, &ds}), 0);
  ASSERT_EQ(parts.run(4, {&ds, &k, &dq1}), 0);
  ASSERT_EQ(parts.run(5, last), 0);
  EXPECT_EQ(dv.as<uint32_t>(), dv1.as<uint32_t>());
  EXPECT_EQ(dq.as<uint32_t>(), dq1.as<uint32_t>());
  EXPECT_EQ(dk.as<uint32_t>(), dk1.as<uint32_t>());
}

TEST(AttentionGradient, BlocksOfScoresGiveTheBitsOfWholeOnes) {
  std::vector<Case> cases = {
      {6, 384, 320, 32, 48},
      {7, 301, 333, 17, 24},
      {6, 400, 400, 64, 64, "f32", /*isCausal=*/true},
      {6, 333, 290, 40, 40, "f32", true, /*adds=*/true},
      {6, 320, 352, 32, 32, "f32", false, true, /*turns=*/true},
      {6, 333, 300, 32, 32, "bf16"},
      {6, 400, 401, 33, 31, "bf16", true, true},
      {6, 333, 300, 32, 32, "f16"},
      {6, 384, 320, 32, 48, "f32", true, true, false, /*hasHeadsInside=*/true},
      {6, 333, 300, 32, 32, "bf16", true, false, false, true},
      {7, 301, 333, 17, 24, "f32", false, false, true, true},
  };
  const unsigned seed = pathways::TestSeed(std::random_device()());
  std::printf("PATHWAYS_TEST_SEED=%u\n", seed);
  std::mt19937 random(seed);
  const char *elements[] = {"f32", "f32", "bf16", "f16"};
  for (int i = 0; i < 4; ++i) {
    const int64_t size = 2 + random() % 70;
    cases.push_back({int64_t(5 + random() % 3), int64_t(290 + random() % 150),
                     int64_t(270 + random() % 150), size,
                     random() % 2 ? size : int64_t(2 + random() % 70),
                     elements[random() % 4], random() % 2 == 0,
                     random() % 2 == 0, random() % 3 == 0, random() % 2 == 0});
  }
  for (const Case &c : cases) {
    SCOPED_TRACE(testing::Message()
                 << c.heads << " " << c.queries << " " << c.keys << " "
                 << c.size << " " << c.element << (c.isCausal ? " causal" : "")
                 << (c.adds ? " adds" : "") << (c.turns ? " turns" : "")
                 << (c.hasHeadsInside ? " heads inside" : ""));
    double scratch = 2;
    compare(c, scratch);
    // Whole scores, their gradients and the values before the softmax would
    // take 3, or 2 if the elements are narrow.
    EXPECT_LT(scratch, 1.5);
  }
}

/// The initial value of a sum over rows may be carried by a loop of the
/// program, and be used elsewhere too.
TEST(AttentionGradient, SumsOverRowsGoAroundALoop) {
  const int64_t n = 320, d = 32;
  const std::string square = tensorOf({n, n}, "f32"),
                    rows = tensorOf({n, d}, "f32");
  auto step = [&](const std::string &start) {
    return "  %e = tensor.empty() : " + square +
           "\n  %z = arith.constant dense<0.0> : " + square +
           "\n  %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> "
           "(m, "
           "k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, "
           "n)>] ins(%q, %q : " +
           rows + ", " + rows + ") outs(%z : " + square + ") -> " + square +
           "\n  %p = linalg.softmax dimension(1) ins(%s : " + square +
           ") outs(%e : " + square + ") -> " + square +
           "\n  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> "
           "(k, "
           "m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, "
           "n)>] ins(%p, %q : " +
           square + ", " + rows + ") outs(" + start + " : " + rows + ") -> " +
           rows + "\n";
  };
  const std::string head =
      "(%q: " + rows + ", %x: " + rows + ", %y: " + rows + ") -> ";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(
      "func.func @loop" + head + "(" + rows + ", " + rows + R"() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> ()" +
      rows + ", " + rows + ") {\n" + step("%b") + "  scf.yield %g, %a : " +
      rows + ", " + rows + "\n  }\n  return %r#0, %r#1 : " + rows + ", " +
      rows + "\n}\nfunc.func @once" + head + rows + " {\n" + step("%y") +
      "  return %g : " + rows + "\n}\n"))
      << kernel.errors();
  Buffer q = Buffer::of(numbers<float>(n * d, 1)),
         x = Buffer::of(numbers<float>(n * d, 2)),
         y = Buffer::of(numbers<float>(n * d, 3)), a(n * d * 4), b(n * d * 4);
  ASSERT_EQ(kernel.run(0, {&q, &x, &y, &a, &b}), 0);
  Buffer first(n * d * 4), second(n * d * 4), third(n * d * 4);
  ASSERT_EQ(kernel.run(1, {&q, &x, &y, &first}), 0);
  ASSERT_EQ(kernel.run(1, {&q, &x, &x, &second}), 0);
  ASSERT_EQ(kernel.run(1, {&q, &x, &first, &third}), 0);
  EXPECT_EQ(a.as<uint32_t>(), third.as<uint32_t>());
  EXPECT_EQ(b.as<uint32_t>(), second.as<uint32_t>());
}

} // namespace
