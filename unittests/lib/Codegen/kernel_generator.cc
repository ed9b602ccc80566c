//===- kernel_generator.cc - Functions of random statements ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

#include <algorithm>

using namespace kernel_test;

int64_t KernelGenerator::anySize() {
  const int64_t sizes[] = {1, 1,  2,  3,  4,  5,  7,  8,
                           9, 15, 16, 17, 24, 31, 33, 40};
  if (chance(2))
    return 0;
  return pick(sizes);
}

Shape KernelGenerator::anyShape(int least, int most) {
  if (least <= 2 && most >= 2 &&
      chance(8)) // large enough to be cut into blocks
    return {60 + below(90), 40 + below(90)};
  const int ranks[] = {0, 1, 1, 2, 2, 2, 2, 2, 3, 3},
            layerRanks[] = {0, 1, 2, 2, 2, 3, 3, 4, 4, 4};
  while (true) {
    const int rank = mix == Mix::Layers ? pick(layerRanks) : pick(ranks);
    Shape shape(std::clamp(rank, least, most));
    for (int64_t &size : shape)
      size = anySize();
    if (countOf(shape) <= 3000)
      return shape;
  }
}

std::vector<int> KernelGenerator::anyOrder(int n) {
  std::vector<int> order;
  for (int i = 0; i < n; ++i)
    order.insert(order.begin() + below(i + 1), i);
  return order;
}

Cell KernelGenerator::anyCell(Element e) {
  if (!isFloat(e)) {
    const int64_t ends[] = {0,         1,   -1,   INT64_MIN,
                            INT64_MAX, 127, -128, INT32_MIN};
    return integer(wrapped(e, chance(10) ? pick(ends) : below(200) - 100));
  }
  long double value = (long double)(below(4001) - 2000) / 1000;
  if (isNarrow(e))
    return real(narrowed(e, value), 0);
  return real(e == Element::F32 ? (float)value : (double)value, 0);
}

int KernelGenerator::addValue(const std::string &name, Element e, Shape shape) {
  values.push_back({name, e, shape});
  env.push_back({e, shape, std::vector<Cell>(countOf(shape))});
  return values.size() - 1;
}

int KernelGenerator::argument(Element e, Shape shape) {
  int v = addValue("a" + std::to_string(arguments.size()), e, shape);
  const int percents[] = {0, 5, 2, 30};
  const int kind = isSpecial && isFloat(e) ? below(4) : 0;
  for (Cell &cell : env[v].cells)
    cell = kind != 0 && chance(percents[kind])
               ? real(specialNumber(e, /*isWild=*/kind > 1, random()), 0)
               : anyCell(e);
  arguments.push_back(v);
  // Insert before the values of inner scopes: the argument is visible there
  // too.
  scope.insert(scope.begin(), v);
  return v;
}

int KernelGenerator::operand(Element e, Shape shape) {
  std::vector<int> found;
  for (int v : scope)
    if (values[v].element == e && values[v].shape == shape)
      found.push_back(v);
  // Prefer recent values, which makes long chains.
  if (!found.empty() && chance(85))
    return chance(60) ? found.back() : pick(found);
  return argument(e, shape);
}

int KernelGenerator::anyValue() {
  if (scope.empty() || chance(10))
    return argument(main, anyShape(0, mix == Mix::Layers ? 4 : 3));
  return chance(50) ? scope.back() : pick(scope);
}

bool KernelGenerator::isGood(const Tensor &tensor) {
  if (!isFloat(tensor.element))
    return true;
  long double most = tensor.element == Element::F16 ? 2e4L : 1e6L;
  const long double units = tensor.element == Element::F64 ? 1e-9L : 1e-3L;
  for (const Cell &cell : tensor.cells) {
    if (isSpecial && cell.error == 0)
      continue;
    if (!(isSpecial || std::fabs(cell.real) < most) ||
        !(cell.error <= units * (1 + std::fabs(cell.real))))
      return false;
  }
  return true;
}

bool KernelGenerator::emit(const std::string &text,
                           const std::vector<int> &results,
                           Evaluation evaluation) {
  evaluation(env);
  for (int v : results)
    if (!isGood(env[v]))
      return false;
  body += std::string(2 * depth + 2, ' ') + text + "\n";
  evaluations->push_back(std::move(evaluation));
  scope.insert(scope.end(), results.begin(), results.end());
  return true;
}

int KernelGenerator::destination(Element e, const Shape &shape, bool isRead,
                                 std::string &text,
                                 std::vector<Evaluation> &evaluations) {
  if (isRead && chance(30))
    return operand(e, shape);
  int empty = addValue(fresh("e"), e, shape);
  text += ref(empty) + " = tensor.empty() : " + type(empty) + "\n" +
          std::string(2 * depth + 2, ' ');
  if (!isRead)
    return empty;
  int filled = addValue(fresh("f"), e, shape);
  std::string c = "%" + fresh("c");
  // This number is exact in every type.
  int64_t number = below(3);
  if (e == Element::I1)
    number &= 1;
  text +=
      c + " = arith.constant " +
      (e == Element::I1 ? (number ? "true" : "false")
                        : std::to_string(number) + (isFloat(e) ? ".0" : "") +
                              " : " + nameOf(e)) +
      "\n" + std::string(2 * depth + 2, ' ');
  text += ref(filled) + " = linalg.fill ins(" + c + " : " + nameOf(e) +
          ") outs(" + ref(empty) + " : " + type(empty) + ") -> " +
          type(filled) + "\n" + std::string(2 * depth + 2, ' ');
  evaluations.push_back([=](Env &env) {
    for (Cell &cell : env[filled].cells)
      cell = isFloat(e) ? real(number, 0) : integer(number);
  });
  return filled;
}

std::string KernelGenerator::iterators(size_t loops, const Map &out) {
  std::string text;
  for (size_t d = 0; d < loops; ++d) {
    const bool isKept = std::count(out.begin(), out.end(), d) != 0;
    text += std::string(d ? ", " : "") +
            (isKept ? "\"parallel\"" : "\"reduction\"");
  }
  return "[" + text + "]";
}

bool KernelGenerator::layerStatement() {
  switch (below(20)) {
  case 0:
  case 1:
  case 2:
    return window();
  case 3:
  case 4:
    return contraction();
  case 5:
  case 6:
    return reduceInBody();
  case 7:
    return reduce();
  case 8:
  case 9:
    return concatenate();
  case 10:
    return chance(70) ? lookUp() : lookUpInBody();
  case 11:
    return scatter();
  case 12:
    return addRows();
  case 13:
  case 14:
    return move();
  case 15:
    return softmax();
  case 16:
    return product();
  default:
    return elementwise();
  }
}

bool KernelGenerator::statement() {
  if (mix == Mix::Layers && chance(85))
    return layerStatement();
  switch (below(20)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return chance(15) ? shift() : elementwise();
  case 4:
    return compareAndSelect();
  case 5:
    return chance(40) ? roundToInteger() : convert();
  case 6:
  case 7:
  case 8:
  case 9:
    return generic();
  case 10:
  case 11:
    return reduce();
  case 12:
  case 13:
    return view == View::Local && chance(30) ? window() : product();
  case 14:
    return move();
  case 15:
    return slice();
  case 16:
    return reshape();
  case 17:
    return chance(50) ? branch() : loop();
  case 18:
    if (view == View::Local && chance(50))
      return shardIndex();
    return chance(50) ? divide() : chance(50) ? lookUp() : lookUpInBody();
  default:
    return softmax();
  }
}

RandomKernel KernelGenerator::run() {
  const Element elements[] = {Element::F32,  Element::F32, Element::F32,
                              Element::F32,  Element::F64, Element::F16,
                              Element::BF16, Element::I32, Element::I8,
                              Element::I64,  Element::I16};
  main = pick(elements);
  isSpecial = mix == Mix::Layers && chance(50);
  coordinate = below(4);
  std::vector<Evaluation> all;
  evaluations = &all;
  argument(main, anyShape(0, 3));
  // Some functions only return their operands.
  int wanted = chance(3) ? 0 : 1 + below(9);
  for (int tries = 0; wanted > 0 && tries < 60; ++tries)
    wanted -= statement();

  RandomKernel kernel;
  std::vector<int> results;
  for (int i = 1 + below(3); i > 0; --i) {
    int v = results.empty() ? scope.back() : pick(scope);
    results.push_back(v);
  }
  std::string parameters, types, names;
  for (int v : arguments) {
    parameters += (parameters.empty() ? "" : ", ") + ref(v) + ": " + type(v);
    kernel.operands.push_back(env[v]);
  }
  for (int v : results) {
    types += (types.empty() ? "" : ", ") + type(v);
    names += (names.empty() ? "" : ", ") + ref(v);
    kernel.results.push_back(env[v]);
  }
  // A result may share memory with an operand.
  std::string pairs;
  if (view == View::Local && chance(40))
    for (size_t r = 0; r < results.size(); ++r)
      for (size_t a = 0; a < arguments.size(); ++a) {
        bool isTaken = false;
        for (auto [operand, result] : kernel.shared)
          isTaken |= size_t(operand) == a || size_t(result) == r;
        if (!isTaken && type(results[r]) == type(arguments[a]) && chance(70)) {
          kernel.shared.push_back({a, r});
          pairs += (pairs.empty() ? " " : ", ") + std::to_string(a) + ", " +
                   std::to_string(r);
        }
      }
  kernel.text =
      "func.func @" + name + "(" + parameters + ") -> (" + types + ")";
  if (view == View::Local)
    kernel.text +=
        " attributes {pw.local_view, segment_mesh = #pw.mesh<\"x\" = 4>" +
        (pairs.empty() ? ""
                       : ", segment_may_alias = array<i64:" + pairs + ">") +
        "}";
  kernel.text += " {\n" + body + "  return " + names + " : " + types + "\n}\n";
  kernel.coordinates = {coordinate};
  return kernel;
}
