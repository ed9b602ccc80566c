//===- elementwise_statements.cc - Elementwise statements -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

#include <sstream>

using namespace kernel_test;

bool KernelGenerator::elementwise() {
  int x = anyValue();
  Element e = values[x].element;
  int r = addValue(fresh("v"), e, values[x].shape);
  if (isFloat(e) && chance(45)) {
    const UnaryOp &op = pick(kFloatUnary);
    return emit(ref(r) + " = " + op.name + " " + ref(x) + " : " + type(x), {r},
                [=](Env &env) {
                  for (size_t i = 0; i < env[r].cells.size(); ++i)
                    env[r].cells[i] = op.apply(e, env[x].cells[i]);
                });
  }
  const BinaryOp &op = isFloat(e) ? pick(kFloatBinary) : pick(kIntBinary);
  int y = operand(e, values[x].shape);
  return emit(
      ref(r) + " = " + op.name + " " + ref(x) + ", " + ref(y) + " : " + type(x),
      {r}, [=](Env &env) {
        for (size_t i = 0; i < env[r].cells.size(); ++i)
          env[r].cells[i] = op.apply(e, env[x].cells[i], env[y].cells[i]);
      });
}

/// Shifts by amounts that the compiler may or may not know to be below the
/// width.
bool KernelGenerator::shift() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (isFloat(e))
    return false;
  int width = widthOf(e);
  const char *ops[] = {"arith.shli", "arith.shrsi", "arith.shrui"};
  int kind = below(3);
  int r = addValue(fresh("v"), e, shape);
  std::string text, amount;
  int n;
  if (chance(50)) {
    n = argument(e, shape);
    for (Cell &cell : env[n].cells)
      cell = integer(below(width));
    amount = ref(n);
  } else {
    n = operand(e, shape);
    std::string mask = "%" + fresh("c"), pad(2 * depth + 2, ' ');
    amount = "%" + fresh("n");
    text = mask + " = arith.constant dense<" +
           (e == Element::I1 ? "false" : std::to_string(width - 1)) +
           "> : " + type(n) + "\n" + pad + amount + " = arith.andi " + ref(n) +
           ", " + mask + " : " + type(n) + "\n" + pad;
  }
  return emit(text + ref(r) + " = " + ops[kind] + " " + ref(x) + ", " + amount +
                  " : " + type(x),
              {r}, [=](Env &env) {
                for (size_t i = 0; i < env[r].cells.size(); ++i) {
                  int64_t value = env[x].cells[i].integer;
                  if (e == Element::I1 && kind == 1)
                    value = -value;
                  uint64_t bits = value;
                  if (width < 64)
                    bits &= (uint64_t(1) << width) - 1;
                  int by = env[n].cells[i].integer & (width - 1);
                  uint64_t results[] = {bits << by, uint64_t(value >> by),
                                        bits >> by};
                  env[r].cells[i] = integer(wrapped(e, results[kind]));
                }
              });
}

/// Returns 1 if `a` predicate `b` holds, 0 if not, -1 if that is not certain.
/// Predicates of floats hold for NaN if they begin with u.
static int holds(const std::string &predicate, Element e, Cell a, Cell b) {
  if (isFloat(e) && (std::isnan(a.real) || std::isnan(b.real)))
    return predicate[0] == 'u';
  const int order = compare(e, a, b);
  const bool isCertain = order != 0 || (a.error == 0 && b.error == 0);
  const std::string what = predicate.substr(1);
  if (what == "rd" || what == "no")
    return predicate == "ord";
  if (!isCertain)
    return -1;
  return what == "gt"   ? order > 0
         : what == "ge" ? order >= 0
         : what == "lt" ? order < 0
         : what == "le" ? order <= 0
         : what == "eq" ? order == 0
                        : order != 0;
}

bool KernelGenerator::compareAndSelect() {
  int x = anyValue(), y = operand(values[x].element, values[x].shape);
  Element e = values[x].element;
  int c = addValue(fresh("v"), Element::I1, values[x].shape);
  const char *ofFloats[] = {"ogt", "oge", "olt", "oeq", "one", "ord",
                            "ugt", "ule", "ult", "ueq", "une", "uno"},
             *ofIntegers[] = {"sgt", "sge", "slt", "sle"};
  const std::string predicate = isFloat(e) ? pick(ofFloats) : pick(ofIntegers);
  if (!emit(ref(c) + (isFloat(e) ? " = arith.cmpf " : " = arith.cmpi ") +
                predicate + ", " + ref(x) + ", " + ref(y) + " : " + type(x),
            {c}, [=](Env &env) {
              for (size_t i = 0; i < env[c].cells.size(); ++i) {
                int known =
                    holds(predicate, e, env[x].cells[i], env[y].cells[i]);
                env[c].cells[i] = integer(known > 0);
                // The error marks all results that depend on it as uncertain.
                if (known < 0)
                  env[c].cells[i].error = 1;
              }
            }))
    return false;
  // Keep the value out of scope: its choice may be uncertain.
  scope.pop_back();
  bool isCertain =
      std::all_of(env[c].cells.begin(), env[c].cells.end(),
                  [](const Cell &cell) { return cell.error == 0; });
  if (isCertain && depth == 0)
    scope.push_back(c);
  int a = operand(e, values[x].shape), b = operand(e, values[x].shape);
  int r = addValue(fresh("v"), e, values[x].shape);
  return emit(ref(r) + " = arith.select " + ref(c) + ", " + ref(a) + ", " +
                  ref(b) + " : " + type(c) + ", " + type(r),
              {r}, [=](Env &env) {
                for (size_t i = 0; i < env[r].cells.size(); ++i) {
                  const Cell &one = env[a].cells[i], &other = env[b].cells[i];
                  Cell &out = env[r].cells[i];
                  out = env[c].cells[i].integer ? one : other;
                  if (env[c].cells[i].error != 0)
                    out.error = std::fabs(one.real - other.real) + one.error +
                                other.error;
                }
              });
}

bool KernelGenerator::convert() {
  int x = anyValue();
  Element from = values[x].element;
  std::vector<std::pair<const char *, Element>> ways;
  if (from == Element::I1)
    ways = {{"arith.extui", Element::I32}, {"arith.uitofp", Element::F32}};
  else if (from == Element::I8)
    ways = {{"arith.extsi", Element::I32}, {"arith.sitofp", Element::F32}};
  else if (from == Element::I16)
    ways = {{"arith.extsi", Element::I32},
            {"arith.trunci", Element::I8},
            {"arith.extui", Element::I64}};
  else if (from == Element::I32)
    ways = {{"arith.extsi", Element::I64},
            {"arith.trunci", Element::I8},
            {"arith.trunci", Element::I16},
            {"arith.extui", Element::I64}};
  else if (from == Element::I64)
    ways = {{"arith.trunci", Element::I32}};
  else if (isNarrow(from))
    ways = {{"arith.extf", Element::F32}};
  else if (from == Element::F32)
    ways = {{"arith.truncf", Element::BF16},
            {"arith.truncf", Element::F16},
            {"arith.extf", Element::F64}};
  else
    ways = {{"arith.truncf", Element::F32}};
  auto [op, to] = pick(ways);
  bool isZero =
      std::string(op) == "arith.extui" || std::string(op) == "arith.uitofp";
  int r = addValue(fresh("v"), to, values[x].shape);
  Element target = to;
  return emit(
      ref(r) + " = " + op + " " + ref(x) + " : " + type(x) + " to " + type(r),
      {r}, [=](Env &env) {
        for (size_t i = 0; i < env[r].cells.size(); ++i) {
          const Cell &in = env[x].cells[i];
          Cell &out = env[r].cells[i];
          uint64_t bits = in.integer;
          if (isZero && widthOf(from) < 64)
            bits &= (uint64_t(1) << widthOf(from)) - 1;
          if (!isFloat(from) && !isFloat(target)) {
            out = integer(wrapped(target, bits));
          } else if (!isFloat(from)) {
            out = real((long double)(int64_t)bits, 0);
          } else if (isNarrow(target)) {
            auto [fraction, least] = formatOf(target);
            out =
                real(in.real,
                     in.error + std::ldexp(std::fabs(in.real), -fraction - 1) +
                         std::ldexp(1.0L, least - fraction - 1));
            // An exact number rounds to exactly one number.
            if (isExact(from, {in}) ||
                (in.error == 0 && (in.real == 0 || !std::isfinite(in.real))))
              out = real(narrowed(target, in.real), 0);
            else if (std::isinf(
                         narrowed(target, std::fabs(in.real) + in.error)))
              out = unknown();
          } else if (in.error == 0) {
            out = real(target == Element::F32 ? (float)in.real : in.real, 0);
          } else if (from == Element::F64) {
            out = rounded(target, in.real, in.error);
          } else {
            out = in;
          }
        }
      });
}

/// Rounds towards zero, to the nearest number of the type.
static int64_t saturated(Element to, bool isSigned, long double value) {
  if (std::isnan(value))
    return 0;
  int width = widthOf(to);
  long double end = std::ldexp(1.0L, isSigned ? width - 1 : width);
  uint64_t most = isSigned ? 0 : 1;
  for (int bit = 1; bit < width; ++bit)
    most = 2 * most + 1;
  long double whole = std::trunc(value);
  if (whole >= end)
    return wrapped(to, most);
  if (whole < (isSigned ? -end : 0))
    return wrapped(to, isSigned ? ~most : 0);
  return wrapped(to, whole < 0 ? uint64_t(int64_t(whole)) : uint64_t(whole));
}

/// Converts floats to integers if the result is certain.
bool KernelGenerator::roundToInteger() {
  int x = anyValue();
  Element from = values[x].element;
  if (!isFloat(from) || depth > 0)
    return false;
  const Element all[] = {Element::I1, Element::I8, Element::I16, Element::I32,
                         Element::I64};
  Element to = pick(all);
  bool isSigned = chance(60);
  // Use large numbers too; the product is exact.
  const int exponents[] = {0, 0, 6, 31, 63, 70};
  int exponent = isNarrow(from) ? 0 : pick(exponents);
  auto convert = [=](const Cell &cell, int side) {
    return saturated(to, isSigned,
                     std::ldexp(cell.real + side * cell.error, exponent));
  };
  for (const Cell &cell : env[x].cells)
    if (convert(cell, -1) != convert(cell, 1))
      return false;
  int r = addValue(fresh("v"), to, values[x].shape);
  std::string text, in = ref(x);
  if (exponent != 0) {
    std::string scale = "%" + fresh("c"), pad(2 * depth + 2, ' ');
    in = "%" + fresh("n");
    std::ostringstream number;
    number.precision(20);
    number << std::scientific << std::ldexp(1.0L, exponent);
    text = scale + " = arith.constant dense<" + number.str() +
           "> : " + type(x) + "\n" + pad + in + " = arith.mulf " + ref(x) +
           ", " + scale + " : " + type(x) + "\n" + pad;
  }
  return emit(text + ref(r) + " = arith." + (isSigned ? "fptosi " : "fptoui ") +
                  in + " : " + type(x) + " to " + type(r),
              {r}, [=](Env &env) {
                for (size_t i = 0; i < env[r].cells.size(); ++i)
                  env[r].cells[i] = integer(convert(env[x].cells[i], 0));
              });
}
