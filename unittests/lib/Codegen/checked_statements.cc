//===- checked_statements.cc - Statements that fail for some elements -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes divisions and lookups with operands for which they do not fail.
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

#include <numeric>

using namespace kernel_test;

/// Returns the quotient of two elements, rounded down, up or towards zero.
static int64_t quotient(Element e, const std::string &op, int64_t a,
                        int64_t b) {
  const uint64_t mask =
      widthOf(e) == 64 ? ~uint64_t{0} : (uint64_t{1} << widthOf(e)) - 1;
  const uint64_t ua = a & mask, ub = b & mask;
  const bool isExact = a % b == 0, isBelow = (a < 0) != (b < 0);
  if (op == "arith.divsi")
    return a / b;
  if (op == "arith.remsi")
    return a % b;
  if (op == "arith.floordivsi")
    return a / b - (!isExact && isBelow);
  if (op == "arith.ceildivsi")
    return a / b + (!isExact && !isBelow);
  if (op == "arith.divui")
    return wrapped(e, ua / ub);
  if (op == "arith.remui")
    return wrapped(e, ua % ub);
  return wrapped(e, ua / ub + (ua % ub != 0)); // arith.ceildivui
}

/// Divides by an argument without 0 and -1, which would fail.
bool KernelGenerator::divide() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (isFloat(e) || e == Element::I1)
    return false;
  const char *ops[] = {"arith.divsi",     "arith.remsi", "arith.floordivsi",
                       "arith.ceildivsi", "arith.divui", "arith.remui",
                       "arith.ceildivui"};
  std::string op = pick(ops);
  int by = argument(e, shape);
  for (Cell &cell : env[by].cells)
    cell = integer(chance(50) ? 1 + below(60) : -2 - below(60));
  std::string text;
  std::vector<Evaluation> before;
  int r = addValue(fresh("v"), e, shape);
  if (chance(50)) {
    text =
        ref(r) + " = " + op + " " + ref(x) + ", " + ref(by) + " : " + type(x);
  } else {
    int empty = destination(e, shape, /*isRead=*/false, text, before);
    Map all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    std::string map = mapText(all, shape.size()), iterators,
                pad(2 * depth + 2, ' '), b = "%" + fresh("b"), t = nameOf(e);
    for (size_t d = 0; d < shape.size(); ++d)
      iterators += d ? ", \"parallel\"" : "\"parallel\"";
    text += ref(r) + " = linalg.generic {indexing_maps = [" + map + ", " + map +
            ", " + map + "], iterator_types = [" + iterators + "]} ins(" +
            ref(x) + ", " + ref(by) + " : " + type(x) + ", " + type(by) +
            ") outs(" + ref(empty) + " : " + type(empty) + ") {\n" + pad +
            "^bb0(" + b + "x: " + t + ", " + b + "y: " + t + ", " + b +
            "o: " + t + "):\n" + pad + "  " + b + "r = " + op + " " + b +
            "x, " + b + "y : " + t + "\n" + pad + "  linalg.yield " + b +
            "r : " + t + "\n" + pad + "} -> " + type(r);
  }
  return emit(text, {r}, [=](Env &env) {
    for (size_t i = 0; i < env[r].cells.size(); ++i)
      env[r].cells[i] = integer(
          quotient(e, op, env[x].cells[i].integer, env[by].cells[i].integer));
  });
}

/// Looks up rows of a value by an argument with their numbers.
bool KernelGenerator::lookUp() {
  int table = anyValue();
  Element e = values[table].element;
  Shape from = values[table].shape;
  if (from.empty() || from[0] == 0)
    return false;
  const int64_t rows = anySize(), size = countOf(from) / from[0];
  if (rows * size > 3000)
    return false;
  int at = argument(chance(50) ? Element::I32 : Element::I64, {rows, 1});
  for (Cell &cell : env[at].cells)
    cell = integer(below(from[0]));
  Shape shape = from;
  shape[0] = rows;
  int r = addValue(fresh("v"), e, shape);
  return emit(ref(r) + " = tensor.gather " + ref(table) + "[" + ref(at) +
                  "] gather_dims([0]) : (" + type(table) + ", " + type(at) +
                  ") -> " + type(r),
              {r}, [=](Env &env) {
                for (int64_t row = 0; row < rows; ++row)
                  for (int64_t i = 0; i < size; ++i)
                    env[r].cells[row * size + i] =
                        env[table].cells[env[at].cells[row].integer * size + i];
              });
}

/// Looks up elements of a value of rank 1 in the body of an operation.
bool KernelGenerator::lookUpInBody() {
  int table = anyValue();
  Element e = values[table].element;
  if (values[table].shape.size() != 1 || values[table].shape[0] == 0)
    return false;
  const int64_t size = values[table].shape[0];
  Shape shape = anyShape(1, 2);
  int at = argument(Element::I32, shape);
  for (Cell &cell : env[at].cells)
    cell = integer(below(size));
  std::string text;
  std::vector<Evaluation> before;
  int empty = destination(e, shape, /*isRead=*/false, text, before);
  int r = addValue(fresh("v"), e, shape);
  Map all(shape.size());
  std::iota(all.begin(), all.end(), 0);
  std::string map = mapText(all, shape.size()), pad(2 * depth + 2, ' '),
              b = "%" + fresh("b"), t = nameOf(e);
  text += ref(r) + " = linalg.generic {indexing_maps = [" + map + ", " + map +
          "], iterator_types = [\"parallel\"" +
          (shape.size() == 2 ? ", \"parallel\"" : "") + "]} ins(" + ref(at) +
          " : " + type(at) + ") outs(" + ref(empty) + " : " + type(empty) +
          ") {\n" + pad + "^bb0(" + b + "i: i32, " + b + "o: " + t + "):\n" +
          pad + "  " + b + "j = arith.index_cast " + b + "i : i32 to index\n" +
          pad + "  " + b + "r = tensor.extract " + ref(table) + "[" + b +
          "j] : " + type(table) + "\n" + pad + "  linalg.yield " + b +
          "r : " + t + "\n" + pad + "} -> " + type(r);
  return emit(text, {r}, [=](Env &env) {
    for (size_t i = 0; i < env[r].cells.size(); ++i)
      env[r].cells[i] = env[table].cells[env[at].cells[i].integer];
  });
}
