//===- layer_statements.cc - Statements of the layers of networks ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes contractions and reductions over any dimensions in any order,
// concatenations, and rows that are written or added to a table by number.
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

using namespace kernel_test;

/// Writes a contraction over several dimensions in any order, as
/// linalg.generic, sometimes of another semiring.
bool KernelGenerator::contraction() {
  Element e = main == Element::I1 ? Element::F32 : main;
  Shape loops(2 + below(4));
  Map lhs, rhs, out;
  for (int d : anyOrder(loops.size())) {
    // The dimension is a batch, is in one operand only, or is summed.
    const int role = below(8);
    if (role <= 2 || role >= 5)
      lhs.insert(lhs.begin() + below(lhs.size() + 1), d);
    if (role == 0 || role == 3 || role == 4 || role >= 6)
      rhs.insert(rhs.begin() + below(rhs.size() + 1), d);
    if (role <= 4)
      out.insert(out.begin() + below(out.size() + 1), d);
    loops[d] = sizeUpTo(chance(25) ? 40 : 7);
  }
  if (countOf(loops) > 100000)
    return false;
  const bool isOther = chance(10) && isFloat(e);
  const BinaryOp &times =
      isFloat(e) ? kFloatBinary[isOther ? 0 : 1] : kIntBinary[1];
  const BinaryOp &plus =
      isFloat(e) ? kFloatBinary[isOther ? 2 : 0] : kIntBinary[0];
  int a = operand(e, select(lhs, loops)), b = operand(e, select(rhs, loops));
  Element sum = e == Element::I8 && chance(60) ? Element::I32 : e;
  std::string text, pad(2 * depth + 2, ' '), p = "%" + fresh("b"),
                                             to = nameOf(sum);
  std::vector<Evaluation> before;
  int init =
      destination(sum, select(out, loops), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), sum, values[init].shape);
  const size_t n = loops.size();
  text += ref(r) + " = linalg.generic {indexing_maps = [" + mapText(lhs, n) +
          ", " + mapText(rhs, n) + ", " + mapText(out, n) +
          "], iterator_types = " + iterators(n, out) + "} ins(" + ref(a) +
          ", " + ref(b) + " : " + type(a) + ", " + type(b) + ") outs(" +
          ref(init) + " : " + type(init) + ") {\n" + pad + "^bb0(" + p +
          "x: " + nameOf(e) + ", " + p + "y: " + nameOf(e) + ", " + p +
          "s: " + to + "):\n";
  std::string x = p + "x", y = p + "y";
  if (sum != e) {
    text += pad + "  " + p + "v = arith.extsi " + x + " : i8 to i32\n" + pad +
            "  " + p + "w = arith.extsi " + y + " : i8 to i32\n";
    x = p + "v", y = p + "w";
  }
  text += pad + "  " + p + "p = " + times.name + " " + x + ", " + y + " : " +
          to + "\n" + pad + "  " + p + "q = " + plus.name + " " + p + "s, " +
          p + "p : " + to + "\n" + pad + "  linalg.yield " + p + "q : " + to +
          "\n" + pad + "} -> " + type(r);
  return emit(text, {r}, [=, &times, &plus](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    joinTerms(plus, loops, out, env[init], env[r], [&](const Shape &index) {
      const Cell &one = cellOf(env[a], lhs, index),
                 &other = cellOf(env[b], rhs, index);
      return isOther ? times.apply(sum, one, other)
                     : termOf(times, sum, one, other);
    });
  });
}

/// Reduces values computed from elements over any dimensions, into a result
/// whose dimensions are in any order.
bool KernelGenerator::reduceInBody() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (shape.empty() || e == Element::I1)
    return false;
  Map all, some, out;
  for (size_t d = 0; d < shape.size(); ++d) {
    all.push_back(d);
    if (chance(50))
      some.push_back(d);
    if (chance(50))
      out.insert(out.begin() + below(out.size() + 1), d);
  }
  const int kReducers = isFloat(e) ? kFloatReducers : kIntReducers;
  const BinaryOp &join = isFloat(e) ? kFloatBinary[below(kReducers)]
                                    : kIntBinary[below(kReducers)];
  const BinaryOp &with = isFloat(e) ? pick(kFloatBinary) : pick(kIntBinary);
  const UnaryOp *first =
      isFloat(e) && chance(40) ? &pick(kFloatUnary) : nullptr;
  const bool isTerm = std::string(with.name) == "arith.mulf" &&
                      std::string(join.name) == "arith.addf";
  int y = operand(e, select(some, shape));
  std::string text, pad(2 * depth + 2, ' '), p = "%" + fresh("b"),
                                             to = nameOf(e);
  std::vector<Evaluation> before;
  int init = destination(e, select(out, shape), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), e, values[init].shape);
  const size_t n = shape.size();
  text += ref(r) + " = linalg.generic {indexing_maps = [" + mapText(all, n) +
          ", " + mapText(some, n) + ", " + mapText(out, n) +
          "], iterator_types = " + iterators(n, out) + "} ins(" + ref(x) +
          ", " + ref(y) + " : " + type(x) + ", " + type(y) + ") outs(" +
          ref(init) + " : " + type(init) + ") {\n" + pad + "^bb0(" + p +
          "x: " + to + ", " + p + "y: " + to + ", " + p + "s: " + to + "):\n";
  if (first)
    text +=
        pad + "  " + p + "f = " + first->name + " " + p + "x : " + to + "\n";
  text += pad + "  " + p + "p = " + with.name + " " + p + (first ? "f" : "x") +
          ", " + p + "y : " + to + "\n" + pad + "  " + p + "q = " + join.name +
          " " + p + "s, " + p + "p : " + to + "\n" + pad + "  linalg.yield " +
          p + "q : " + to + "\n" + pad + "} -> " + type(r);
  return emit(text, {r}, [=, &join, &with](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    joinTerms(join, shape, out, env[init], env[r], [&](const Shape &index) {
      Cell one = env[x].cells[offsetOf(shape, index)];
      const Cell &other = cellOf(env[y], some, index);
      if (first)
        one = first->apply(e, one);
      return isTerm ? termOf(with, e, one, other) : with.apply(e, one, other);
    });
  });
}

/// Concatenates values along a dimension.
bool KernelGenerator::concatenate() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (shape.empty())
    return false;
  const size_t dim = below(shape.size());
  std::vector<int> parts = {x};
  for (int i = below(3); i > 0; --i) {
    Shape part = values[x].shape;
    if (chance(60))
      part[dim] = sizeUpTo(20);
    parts.insert(parts.begin() + below(parts.size() + 1), operand(e, part));
  }
  shape[dim] = 0;
  std::string names, types;
  for (int part : parts) {
    shape[dim] += values[part].shape[dim];
    names += (names.empty() ? "" : ", ") + ref(part);
    types += (types.empty() ? "" : ", ") + type(part);
  }
  if (countOf(shape) > 12000)
    return false;
  int r = addValue(fresh("v"), e, shape);
  return emit(ref(r) + " = tensor.concat dim(" + std::to_string(dim) + ") " +
                  names + " : (" + types + ") -> " + type(r),
              {r}, [=](Env &env) {
                int64_t at = 0;
                for (int part : parts) {
                  const Shape from = env[part].shape;
                  forEach(from, [&](const Shape &index) {
                    Shape to = index;
                    to[dim] += at;
                    env[r].cells[offsetOf(shape, to)] =
                        env[part].cells[offsetOf(from, index)];
                  });
                  at += from[dim];
                }
              });
}

/// Writes rows to a table by number. Of several rows with the same number, the
/// last one remains.
bool KernelGenerator::scatter() {
  int table = anyValue();
  Element e = values[table].element;
  Shape to = values[table].shape;
  if (to.empty() || to[0] == 0 || countOf(to) > 6000)
    return false;
  const int64_t rows = sizeUpTo(12), size = countOf(to) / to[0];
  int at = argument(chance(50) ? Element::I32 : Element::I64, {rows, 1});
  for (Cell &cell : env[at].cells)
    cell = integer(below(to[0]));
  Shape from = to;
  from[0] = rows;
  int source = operand(e, from), r = addValue(fresh("v"), e, to);
  return emit(ref(r) + " = tensor.scatter " + ref(source) + " into " +
                  ref(table) + "[" + ref(at) +
                  "] scatter_dims([0]) unique : (" + type(source) + ", " +
                  type(table) + ", " + type(at) + ") -> " + type(r),
              {r}, [=](Env &env) {
                env[r].cells = env[table].cells;
                for (int64_t row = 0; row < rows; ++row)
                  for (int64_t i = 0; i < size; ++i)
                    env[r].cells[env[at].cells[row].integer * size + i] =
                        env[source].cells[row * size + i];
              });
}

/// Writes the gradient of a lookup: adds rows to a table by number, one after
/// the other.
bool KernelGenerator::addRows() {
  int table = anyValue();
  Element e = values[table].element;
  Shape to = values[table].shape;
  // A slice of a row without elements does not verify.
  if (to.empty() || countOf(to) == 0 || countOf(to) > 6000 || e == Element::I1)
    return false;
  const int64_t rows = sizeUpTo(12), size = countOf(to) / to[0];
  const Element number = chance(50) ? Element::I32 : Element::I64;
  int at = argument(number, {rows});
  for (Cell &cell : env[at].cells)
    cell = integer(below(to[0]));
  Shape from = to, row(to.begin() + 1, to.end());
  from[0] = rows;
  int source = operand(e, from), r = addValue(fresh("v"), e, to);
  const BinaryOp &plus = isFloat(e) ? kFloatBinary[0] : kIntBinary[0];
  std::string p = "%" + fresh("l"), pad(2 * depth + 2, ' '), rest, sizes = "1",
              ones = "1", rowType = typeText(e, row);
  for (int64_t each : row)
    rest += ", 0", sizes += ", " + std::to_string(each), ones += ", 1";
  std::string where = rest + "] [" + sizes + "] [" + ones + "] : ";
  std::string text =
      p + "_0 = arith.constant 0 : index\n" + pad + p +
      "_1 = arith.constant 1 : index\n" + pad + p + "_n = arith.constant " +
      std::to_string(rows) + " : index\n" + pad + ref(r) + " = scf.for " + p +
      " = " + p + "_0 to " + p + "_n step " + p + "_1 iter_args(" + p +
      "t = " + ref(table) + ") -> (" + type(r) + ") {\n" + pad + "  " + p +
      "i = tensor.extract " + ref(at) + "[" + p + "] : " + type(at) + "\n" +
      pad + "  " + p + "j = arith.index_cast " + p + "i : " + nameOf(number) +
      " to index\n" + pad + "  " + p + "x = tensor.extract_slice " + p + "t[" +
      p + "j" + where + type(r) + " to " + rowType + "\n" + pad + "  " + p +
      "y = tensor.extract_slice " + ref(source) + "[" + p + where +
      type(source) + " to " + rowType + "\n" + pad + "  " + p +
      "z = " + plus.name + " " + p + "x, " + p + "y : " + rowType + "\n" + pad +
      "  " + p + "u = tensor.insert_slice " + p + "z into " + p + "t[" + p +
      "j" + where + rowType + " into " + type(r) + "\n" + pad + "  scf.yield " +
      p + "u : " + type(r) + "\n" + pad + "}";
  return emit(text, {r}, [=, &plus](Env &env) {
    env[r].cells = env[table].cells;
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t i = 0; i < size; ++i) {
        Cell &cell = env[r].cells[env[at].cells[k].integer * size + i];
        cell = plus.apply(e, cell, env[source].cells[k * size + i]);
      }
  });
}
