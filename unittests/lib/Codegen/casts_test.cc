//===- casts_test.cc - Casts between all elements -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels cast every element type to every other one, on tensors and in bodies,
// and are compared with plain C++. PATHWAYS_TEST_SEED chooses other sizes,
// numbers and chains of casts than the usual ones.
//
//===----------------------------------------------------------------------===//

#include "cells.h"
#include "codegen_harness.h"

#include "runtime/kernel/target.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"
#include <cfloat>
#include <random>

using namespace kernel_test;
using pathways::proto::Target;

namespace {

struct Cast {
  std::string op;
  Element from, to;
};

/// Returns all casts that the dialect allows, except those through index.
std::vector<Cast> allCasts() {
  std::vector<Cast> casts;
  for (Element from : kElements)
    for (Element to : kElements) {
      auto add = [&](const char *op) { casts.push_back({op, from, to}); };
      const bool isWider = widthOf(from) < widthOf(to);
      const bool isNarrower = widthOf(from) > widthOf(to);
      if (!isFloat(from) && !isFloat(to)) {
        if (isWider)
          add("extsi"), add("extui");
        if (isNarrower)
          add("trunci");
      } else if (!isFloat(from)) {
        add("sitofp"), add("uitofp");
      } else if (!isFloat(to)) {
        add("fptosi"), add("fptoui");
      } else {
        if (isWider)
          add("extf");
        // f64 is rounded to f32 first: see FromF64ToNarrow.
        if (isNarrower && !(from == Element::F64 && isNarrow(to)))
          add("truncf");
      }
      if (isFloat(from) != isFloat(to) && widthOf(from) == widthOf(to) &&
          widthOf(to) >= 16)
        add("bitcast");
      if (isNarrow(from) && isNarrow(to) && from != to)
        add("bitcast");
    }
  return casts;
}

/// Return the bits of an integer as a signed, or as an unsigned, number.
int64_t signedOf(Element e, const Cell &cell) {
  return e == Element::I1 ? -(cell.integer & 1) : cell.integer;
}
uint64_t unsignedOf(Element e, const Cell &cell) {
  const int width = widthOf(e);
  return width == 64 ? uint64_t(cell.integer)
                     : uint64_t(cell.integer) & ((uint64_t(1) << width) - 1);
}

/// Rounds towards zero, to the nearest number of the type; NaN becomes 0.
Cell saturated(Element to, bool isSigned, long double value) {
  if (std::isnan(value))
    return integer(0);
  const int width = widthOf(to);
  const long double end = std::ldexp(1.0L, isSigned ? width - 1 : width);
  const long double begin = isSigned ? -end : 0;
  const long double whole = std::trunc(value);
  if (whole >= end)
    return integer(wrapped(to, isSigned ? (uint64_t(1) << (width - 1)) - 1
                                        : ~uint64_t(0)));
  if (whole <= begin)
    return integer(wrapped(to, isSigned ? uint64_t(1) << (width - 1) : 0));
  return integer(
      wrapped(to, whole < 0 ? uint64_t(int64_t(whole)) : uint64_t(whole)));
}

/// Converts an integer to a float. Integers become narrow floats through f32,
/// which a kernel rounds when it stores the result.
Cell fromInteger(Element to, auto value) {
  return real(to == Element::F64 ? (long double)(double)value
                                 : (long double)(float)value,
              0);
}

template <typename To, typename From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

Cell apply(const Cast &cast, const Cell &in) {
  const auto &[op, from, to] = cast;
  if (op == "extsi" || op == "trunci")
    return integer(wrapped(to, signedOf(from, in)));
  if (op == "extui")
    return integer(wrapped(to, unsignedOf(from, in)));
  if (op == "sitofp")
    return fromInteger(to, signedOf(from, in));
  if (op == "uitofp")
    return fromInteger(to, unsignedOf(from, in));
  if (op == "fptosi" || op == "fptoui")
    return saturated(to, op == "fptosi", in.real);
  // The bits are those of the rounded number.
  if (op == "bitcast" && widthOf(to) == 16) {
    const uint16_t bits = isFloat(from) ? narrowBits(from, in.real)
                                        : static_cast<uint16_t>(in.integer);
    return isFloat(to) ? real(narrowValue(to, bits), 0)
                       : integer(wrapped(to, bits));
  }
  if (op == "bitcast" && to == Element::F32)
    return real(bitsAs<float>(int32_t(in.integer)), 0);
  if (op == "bitcast" && to == Element::F64)
    return real(bitsAs<double>(in.integer), 0);
  if (op == "bitcast" && to == Element::I32)
    return integer(bitsAs<int32_t>(float(in.real)));
  if (op == "bitcast")
    return integer(bitsAs<int64_t>(double(in.real)));
  if (op == "truncf" && isNarrow(to))
    return real(narrowed(to, in.real), 0);
  return real(to == Element::F32 ? float(in.real) : in.real, 0);
}

/// Returns the value that a kernel stores for `cell`.
Cell stored(Element e, Cell cell) {
  if (isNarrow(e))
    cell.real = narrowed(e, cell.real);
  return cell;
}

class CastsTest : public testing::Test {
protected:
  CastsTest() {
    seed = pathways::TestSeed(20261128);
    random.seed(seed);
    std::printf("seed %llu\n", (unsigned long long)seed);
  }

  int64_t below(int64_t n) { return random() % n; }

  /// Returns an end of a range or a number near it, a half, or any number.
  Cell number(Element e) {
    if (!isFloat(e)) {
      const uint64_t most = (uint64_t(1) << (widthOf(e) - 1)) - 1;
      const uint64_t some[] = {
          0,        1,        uint64_t(-1), most,
          most + 1, most / 3, random(),     random() >> 40};
      return integer(wrapped(e, some[below(std::size(some))]));
    }
    const int power = below(140) - 70;
    const long double end = std::ldexp(1.0L, below(66));
    const long double some[] = {
        0,          0.5L,
        1,          1.5L,
        end,        end - 1,
        end + 1,    end - 0.5L,
        INFINITY,   NAN,
        FLT_MAX,    DBL_MAX,
        65504,      65520,
        0x1p-24L,   0x1p-130L,
        0x1p-1074L, std::ldexp((long double)(random() >> 11), power - 53)};
    long double value = some[below(std::size(some))];
    value = below(2) ? value : -value;
    // Use only numbers that the element type can represent.
    return stored(e, real(e == Element::F64 ? (long double)(double)value
                                            : (long double)(float)value,
                          0));
  }

  /// Returns true if an integer would show the bits of a NaN.
  static bool showsNaN(const Cast &cast) {
    return cast.op == "bitcast" && isFloat(cast.from);
  }

  /// Returns true if `chain` computes a NaN of 16 bits and shows its bits.
  static bool showsNarrowNaN(const std::vector<Cast> &chain, Cell cell) {
    for (const Cast &cast : chain) {
      if (showsNaN(cast) && isNarrow(cast.from) && std::isnan(cell.real))
        return true;
      cell = apply(cast, cell);
    }
    return false;
  }

  /// Returns a function that applies `casts` one after the other, on tensors or
  /// in the body of a loop.
  std::string textOf(const std::string &name, const std::vector<Cast> &casts,
                     int64_t size, bool isBody) {
    auto tensor = [&](const char *e) {
      return "tensor<" + std::to_string(size) + "x" + e + ">";
    };
    const std::string in = tensor(nameOf(casts.front().from)),
                      out = tensor(nameOf(casts.back().to));
    std::string text = "func.func @" + name + "(%x: " + in + ") -> " + out +
                       " {\n",
                last = "%x";
    if (isBody)
      text += "  %e = tensor.empty() : " + out +
              "\n  %r = linalg.generic {indexing_maps = [affine_map<(i) -> "
              "(i)>, affine_map<(i) -> (i)>], iterator_types = "
              "[\"parallel\"]} ins(%x : " +
              in + ") outs(%e : " + out +
              ") {\n^bb0(%b0: " + nameOf(casts.front().from) +
              ", %o: " + nameOf(casts.back().to) + "):\n",
          last = "%b0";
    for (size_t i = 0; i < casts.size(); ++i) {
      const Cast &cast = casts[i];
      auto line = [&](const std::string &op, const char *from, const char *to) {
        const std::string value = last + "_" + std::to_string(i);
        text += "  " + value + " = arith." + op + " " + last + " : " +
                (isBody ? from : tensor(from)) + " to " +
                (isBody ? to : tensor(to)) + "\n";
        last = value;
      };
      const size_t slash = cast.op.find('/');
      if (slash == std::string::npos) {
        line(cast.op, nameOf(cast.from), nameOf(cast.to));
      } else {
        line(cast.op.substr(0, slash), nameOf(cast.from), "index");
        line(cast.op.substr(slash + 1), "index", nameOf(cast.to));
      }
    }
    if (isBody)
      text += "  linalg.yield " + last + " : " + nameOf(casts.back().to) +
              "\n} -> " + out + "\n",
          last = "%r";
    return text + "  return " + last + " : " + out + "\n}\n";
  }

  /// Compiles all `chains`, on tensors and in bodies, for this machine and for
  /// one without instructions for f16, and compares each result with `expect`.
  void check(const std::vector<std::vector<Cast>> &chains,
             Cell (*expect)(const std::vector<Cast> &, Cell)) {
    std::vector<Target> targets = {pathways::HostTarget()};
#if defined(__x86_64__)
    targets.emplace_back().set_triple(targets.front().triple());
    targets.back().set_cpu("x86-64");
#endif
    const int64_t sizes[] = {1, 2, 3, 8, 16, 31, 64, 100, 257};
    std::string text;
    std::vector<int64_t> chosen;
    for (size_t i = 0; i < chains.size(); ++i)
      for (bool isBody : {false, true}) {
        chosen.push_back(sizes[below(std::size(sizes))]);
        text += textOf("f" + std::to_string(chosen.size()), chains[i],
                       chosen.back(), isBody);
      }
    for (const Target &target : targets) {
      Kernel kernel;
      ASSERT_TRUE(kernel.compile(text, {target}) && kernel.load(target))
          << kernel.errors();
      for (size_t f = 0; f < chosen.size(); ++f) {
        const std::vector<Cast> &chain = chains[f / 2];
        Tensor in{chain.front().from, {chosen[f]}, {}},
            out{chain.back().to, {chosen[f]}, {}};
        while (int64_t(in.cells.size()) < chosen[f]) {
          Cell cell = number(in.element);
          if (std::isnan(cell.real) &&
              std::any_of(chain.begin(), chain.end(), showsNaN))
            continue;
          if (showsNarrowNaN(chain, cell))
            continue;
          in.cells.push_back(cell);
          out.cells.push_back(stored(out.element, expect(chain, cell)));
        }
        Buffer x = Buffer::of(in.bytes()), y(out.bytes().size());
        ASSERT_EQ(kernel.run(f, {&x, &y}), 0);
        EXPECT_EQ(difference(out, y.as<uint8_t>()), "")
            << "seed " << seed << " for " << target.cpu() << "\n"
            << textOf("f", chain, chosen[f], f % 2 == 1);
      }
    }
  }

  static Cell applyAll(const std::vector<Cast> &chain, Cell cell) {
    for (const Cast &cast : chain)
      cell = apply(cast, cell);
    return cell;
  }

  uint64_t seed;
  std::mt19937_64 random;
};

TEST_F(CastsTest, EveryElementToEveryOther) {
  std::vector<std::vector<Cast>> chains;
  for (const Cast &cast : allCasts())
    chains.push_back({cast});
  ASSERT_EQ(chains.size(), 128u);
  check(chains, applyAll);
}

/// Casts integers to index and back, with or without a sign.
TEST_F(CastsTest, ByWayOfIndex) {
  std::vector<std::vector<Cast>> chains;
  for (Element from : kElements)
    for (Element to : kElements) {
      if (isFloat(from) || isFloat(to))
        continue;
      for (const char *in : {"index_cast", "index_castui"})
        for (const char *out : {"index_cast", "index_castui"})
          chains.push_back({{std::string(in) + "/" + out, from, to}});
    }
  check(chains, [](const std::vector<Cast> &chain, Cell cell) {
    const auto &[op, from, to] = chain.front();
    return integer(wrapped(to, op.starts_with("index_castui")
                                   ? unsignedOf(from, cell)
                                   : signedOf(from, cell)));
  });
}

/// Folders and LLVM join casts of casts where they can.
TEST_F(CastsTest, Chains) {
  const std::vector<Cast> all = allCasts();
  std::vector<std::vector<Cast>> chains;
  // LLVM derives from the first cast which bits the second one needs.
  for (const Cast &first : all)
    for (const Cast &second : all)
      if (first.op.starts_with("ext") && second.op.ends_with("itofp") &&
          first.to == second.from)
        chains.push_back({first, second});
  for (int count = 100; count > 0; --count) {
    std::vector<Cast> chain = {all[below(all.size())]};
    for (int i = 1 + below(3); i > 0;) {
      const Cast &next = all[below(all.size())];
      if (next.from != chain.back().to)
        continue;
      chain.push_back(next);
      --i;
    }
    chains.push_back(chain);
  }
  check(chains, applyAll);
}

/// No cast from f64 to f16 or bf16 rounds only once.
TEST_F(CastsTest, FromF64ToNarrow) {
  for (const char *type : {"f16", "bf16"}) {
    Kernel kernel;
    EXPECT_FALSE(kernel.compile(
        std::string("func.func @f(%x: tensor<4xf64>) -> tensor<4x") + type +
        "> {\n  %r = arith.truncf %x : tensor<4xf64> to tensor<4x" + type +
        ">\n  return %r : tensor<4x" + type + ">\n}\n"));
    EXPECT_NE(kernel.errors().find(std::string("rounds f64 to '") + type +
                                   "', which a kernel does not support; round "
                                   "to f32 first"),
              std::string::npos)
        << kernel.errors();
  }
}

} // namespace
