//===- structured_statements.cc - Loops over tensors ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

using namespace kernel_test;

/// Writes loops over parallel dimensions in any order, with operands that have
/// some of them.
bool KernelGenerator::generic() {
  int first = anyValue();
  Element e = values[first].element;
  if (e == Element::I1)
    return false;
  // The loops are the dimensions of the first operand and perhaps one more.
  Shape loops = values[first].shape;
  Map map;
  for (size_t d = 0; d < loops.size(); ++d)
    map.push_back(d);
  if (loops.size() < 3 && countOf(loops) < 500 && chance(30)) {
    size_t at = below(loops.size() + 1);
    loops.insert(loops.begin() + at, 1 + below(6));
    for (int &d : map)
      d += static_cast<size_t>(d) >= at;
  }
  std::vector<int> inputs = {first};
  std::vector<Map> maps = {map};
  for (int i = below(3); i > 0; --i) {
    Map some;
    for (int d : anyOrder(loops.size()))
      if (chance(70))
        some.push_back(d);
    inputs.push_back(operand(e, select(some, loops)));
    maps.push_back(some);
  }
  int count = chance(15) ? 2 : 1; // number of results
  std::vector<Map> outMaps;
  std::vector<int> results, empties;
  std::string text;
  std::vector<Evaluation> before;
  for (int i = 0; i < count; ++i) {
    outMaps.push_back(anyOrder(loops.size()));
    if (chance(60))
      std::sort(outMaps.back().begin(), outMaps.back().end());
    empties.push_back(destination(e, select(outMaps.back(), loops),
                                  /*isRead=*/false, text, before));
    results.push_back(addValue(fresh("v"), e, select(outMaps.back(), loops)));
  }
  // The body is a chain of scalar operations on the arguments and a loop index.
  struct Step {
    const UnaryOp *unary;
    const BinaryOp *binary;
    int a, b;
  };
  std::vector<Step> steps;
  std::string inner, pad(2 * depth + 4, ' '), p = fresh("b");
  auto scalar = [&](int i) { return "%" + p + "_" + std::to_string(i); };
  int available = inputs.size();
  int indexLoop = -1;
  if (!loops.empty() && chance(20)) {
    indexLoop = below(loops.size());
    inner += pad + scalar(available) + "i = linalg.index " +
             std::to_string(indexLoop) + " : index\n";
    const char *to = isFloat(e) ? "i32" : nameOf(e);
    inner += pad + scalar(available) + (isFloat(e) ? "j" : "") +
             " = arith.index_cast " + scalar(available) + "i : index to " + to +
             "\n";
    if (isFloat(e))
      inner += pad + scalar(available) + " = arith.sitofp " +
               scalar(available) + "j : i32 to " + nameOf(e) + "\n";
    ++available;
  }
  for (int i = 1 + below(4); i > 0; --i) {
    int other = below(available);
    if (other == available - 1) // use a value twice only sometimes
      other = below(available);
    Step step{nullptr, nullptr, available - 1, other};
    if (isFloat(e) && chance(35))
      step.unary = &pick(kFloatUnary);
    else
      step.binary = isFloat(e) ? &pick(kFloatBinary) : &pick(kIntBinary);
    inner += pad + scalar(available) + " = " +
             (step.unary ? step.unary->name : step.binary->name) + " " +
             scalar(step.a) + (step.binary ? ", " + scalar(step.b) : "") +
             " : " + nameOf(e) + "\n";
    steps.push_back(step);
    ++available;
  }
  std::vector<int> yields = {available - 1};
  if (count == 2)
    yields.push_back(below(available));

  std::string resultText, types;
  auto join = [&](std::string &to, const std::string &item) {
    to += (to.empty() ? "" : ", ") + item;
  };
  std::string ins, insTypes, outs, outTypes, mapList, iterators, parameters,
      names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    join(ins, ref(inputs[i])), join(insTypes, type(inputs[i]));
    join(mapList, mapText(maps[i], loops.size()));
    join(parameters, scalar(i) + ": " + nameOf(e));
  }
  for (int i = 0; i < count; ++i) {
    join(outs, ref(empties[i])), join(outTypes, type(empties[i]));
    join(mapList, mapText(outMaps[i], loops.size()));
    join(parameters, scalar(i) + "o: " + nameOf(e));
    join(names, ref(results[i]));
  }
  for (size_t d = 0; d < loops.size(); ++d)
    join(iterators, "\"parallel\"");
  std::string yielded, yieldTypes;
  for (int y : yields)
    join(yielded, scalar(y)), join(yieldTypes, nameOf(e));
  text += names + " = linalg.generic {indexing_maps = [" + mapList +
          "], iterator_types = [" + iterators + "]} ins(" + ins + " : " +
          insTypes + ") outs(" + outs + " : " + outTypes + ") {\n" +
          std::string(2 * depth + 2, ' ') + "^bb0(" + parameters + "):\n" +
          inner + pad + "linalg.yield " + yielded + " : " + yieldTypes + "\n" +
          std::string(2 * depth + 2, ' ') + "} -> " +
          (count == 1 ? outTypes : "(" + outTypes + ")");
  return emit(text, results, [=](Env &env) {
    forEach(loops, [&](const Shape &index) {
      std::vector<Cell> cells;
      for (size_t i = 0; i < inputs.size(); ++i)
        cells.push_back(env[inputs[i]].cells[offsetOf(env[inputs[i]].shape,
                                                      select(maps[i], index))]);
      if (indexLoop >= 0)
        cells.push_back(isFloat(e) ? real(index[indexLoop], 0)
                                   : integer(wrapped(e, index[indexLoop])));
      for (const Step &step : steps)
        cells.push_back(
            step.unary ? step.unary->apply(e, cells[step.a])
                       : step.binary->apply(e, cells[step.a], cells[step.b]));
      for (int i = 0; i < count; ++i)
        env[results[i]]
            .cells[offsetOf(env[results[i]].shape, select(outMaps[i], index))] =
            cells[yields[i]];
    });
  });
}

bool KernelGenerator::reduce() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (shape.empty() || e == Element::I1)
    return false;
  std::vector<int64_t> dims;
  Map kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (chance(50))
      dims.push_back(d);
    else
      kept.push_back(d);
  if (dims.empty())
    dims.push_back(shape.size() - 1), kept.pop_back();
  const BinaryOp &op = isFloat(e) ? kFloatBinary[below(kFloatReducers)]
                                  : kIntBinary[below(kIntReducers)];
  std::string text;
  std::vector<Evaluation> before;
  int init = destination(e, select(kept, shape), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), e, values[init].shape);
  text += ref(r) + " = linalg.reduce { " + op.name + " } ins(" + ref(x) +
          " : " + type(x) + ") outs(" + ref(init) + " : " + type(init) +
          ") dimensions = [" + list(dims) + "]";
  return emit(text, {r}, [=](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    std::vector<std::vector<Cell>> lanes(env[r].cells.size());
    forEach(shape, [&](const Shape &index) {
      lanes[offsetOf(env[r].shape, select(kept, index))].push_back(
          env[x].cells[offsetOf(shape, index)]);
    });
    for (size_t i = 0; i < lanes.size(); ++i)
      env[r].cells[i] = combine(op, e, env[init].cells[i], lanes[i]);
  });
}

/// Writes matrix products of all forms.
bool KernelGenerator::product() {
  Element e = main == Element::I1 ? Element::F32 : main;
  bool isBatch = chance(30), isLeft = chance(30), isRight = chance(30);
  // A vector is a matrix of one row; a batch is one more leading dimension.
  int form = below(10); // 0: dot, 1: matvec, 2: vecmat, others: matrices
  int64_t m = sizeUpTo(40), n = sizeUpTo(70), k = sizeUpTo(50),
          batch = sizeUpTo(4);
  if (chance(6)) // more than one block of rows
    m = 130 + below(150), n = 1 + below(40), k = 1 + below(20);
  if (chance(6)) { // rows so far apart that they are packed
    k = 4 + below(9), m = 32 + below(8), n = 768 + below(30);
    if (chance(40))
      m = 768 + below(30), n = 128, k = 4, isLeft = true;
    else if (chance(30))
      m = 1 + below(4), n = 128, k = 768 + below(40);
  }
  Map lhs, rhs, out;
  const char *op = "linalg.matmul";
  Shape loops;
  if (form == 0) {
    op = "linalg.dot";
    loops = {k}, lhs = {0}, rhs = {0};
  } else if (form == 1) {
    op = "linalg.matvec";
    loops = {m, k}, lhs = {0, 1}, rhs = {1}, out = {0};
  } else if (form == 2) {
    op = "linalg.vecmat";
    loops = {n, k}, lhs = {1}, rhs = {1, 0}, out = {0};
  } else if (isBatch) {
    op = "linalg.batch_matmul";
    m = std::min<int64_t>(m, 40);
    loops = {batch, m, n, k};
    lhs = isLeft ? Map{0, 3, 1} : Map{0, 1, 3};
    rhs = isRight ? Map{0, 2, 3} : Map{0, 3, 2};
    out = {0, 1, 2};
  } else {
    loops = {m, n, k};
    lhs = isLeft ? Map{2, 0} : Map{0, 2};
    rhs = isRight ? Map{1, 2} : Map{2, 1};
    out = {0, 1};
  }
  // Use an existing value on the left if one has this rank.
  for (int v : scope)
    if (values[v].element == e && values[v].shape.size() == lhs.size() &&
        countOf(values[v].shape) > 0 && countOf(values[v].shape) < 20000 &&
        chance(50))
      for (size_t d = 0; d < lhs.size(); ++d)
        loops[lhs[d]] = values[v].shape[d];
  if (countOf(loops) > 420000)
    return false;
  int a = operand(e, select(lhs, loops)), b = operand(e, select(rhs, loops));
  std::string text;
  std::vector<Evaluation> before;
  // Sums of bytes may be wider.
  Element sum = e == Element::I8 && chance(60) ? Element::I32 : e;
  int init =
      destination(sum, select(out, loops), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), sum, values[init].shape);
  std::string maps;
  if (loops.size() > 2 && (isLeft || isRight))
    maps = " indexing_maps = [" + mapText(lhs, loops.size()) + ", " +
           mapText(rhs, loops.size()) + ", " + mapText(out, loops.size()) + "]";
  text += ref(r) + " = " + op + maps + " ins(" + ref(a) + ", " + ref(b) +
          " : " + type(a) + ", " + type(b) + ") outs(" + ref(init) + " : " +
          type(init) + ") -> " + type(r);
  const BinaryOp &times = isFloat(e) ? kFloatBinary[1] : kIntBinary[1];
  const BinaryOp &plus = isFloat(e) ? kFloatBinary[0] : kIntBinary[0];
  return emit(text, {r}, [=](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    joinTerms(plus, loops, out, env[init], env[r], [&](const Shape &index) {
      return termOf(times, sum, cellOf(env[a], lhs, index),
                    cellOf(env[b], rhs, index));
    });
  });
}

bool KernelGenerator::softmax() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  if (!isFloat(e) || shape.empty() || countOf(shape) == 0)
    return false;
  size_t dim = chance(70) ? shape.size() - 1 : below(shape.size());
  std::string text;
  std::vector<Evaluation> before;
  int init = destination(e, shape, /*isRead=*/false, text, before);
  int r = addValue(fresh("v"), e, shape);
  text += ref(r) + " = linalg.softmax dimension(" + std::to_string(dim) +
          ") ins(" + ref(x) + " : " + type(x) + ") outs(" + ref(init) + " : " +
          type(init) + ") -> " + type(r);
  return emit(text, {r}, [=](Env &env) {
    Map kept;
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim)
        kept.push_back(d);
    Shape outer = select(kept, shape);
    std::vector<std::vector<Cell>> rows(countOf(outer));
    forEach(shape, [&](const Shape &index) {
      rows[offsetOf(outer, select(kept, index))].push_back(
          env[x].cells[offsetOf(shape, index)]);
    });
    auto op = [&](const char *name, Cell a, Cell b) {
      for (const BinaryOp &each : kFloatBinary)
        if (std::string(each.name) == name)
          return each.apply(e, a, b);
      return Cell();
    };
    std::vector<Cell> sums(rows.size()), most(rows.size());
    auto powerOf = [&](const Cell &cell, const Cell &top) {
      Cell shifted = op("arith.subf", cell, top);
      return monotone(e, shifted, [](long double v) { return std::exp(v); }, 8);
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      most[i] = rows[i][0];
      for (const Cell &cell : rows[i])
        most[i] = op("arith.maximumf", most[i], cell);
      std::vector<Cell> powers;
      for (const Cell &cell : rows[i])
        powers.push_back(powerOf(cell, most[i]));
      sums[i] = combine(kFloatBinary[0], e, Cell(), powers);
    }
    forEach(shape, [&](const Shape &index) {
      int64_t row = offsetOf(outer, select(kept, index));
      int64_t i = offsetOf(shape, index);
      env[r].cells[i] =
          op("arith.divf", powerOf(env[x].cells[i], most[row]), sums[row]);
    });
  });
}
