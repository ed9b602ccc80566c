//===- kernel_generator.h - Functions of random statements ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_KERNEL_GENERATOR_H
#define UNITTESTS_LIB_CODEGEN_KERNEL_GENERATOR_H

#include "cells.h"

#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace kernel_test {

/// Writes a function statement by statement and evaluates each statement at
/// once. Drops statements whose results leave the range in which errors stay
/// small.
class KernelGenerator {
public:
  KernelGenerator(const std::string &name, uint64_t seed, View view, Mix mix)
      : name(name), view(view), mix(mix), random(seed) {}
  RandomKernel run();

private:
  /// A value by its number. Its tensor is in `env`.
  struct Value {
    std::string name;
    Element element;
    Shape shape;
  };
  using Env = std::vector<Tensor>;
  using Evaluation = std::function<void(Env &)>;

  int64_t below(int64_t n) { return random() % n; }
  bool chance(int percent) { return below(100) < percent; }
  template <typename C> auto &pick(C &&from) {
    return from[below(std::size(from))];
  }

  int64_t anySize();
  Shape anyShape(int least, int most);
  std::vector<int> anyOrder(int n);
  Cell anyCell(Element e);
  /// Returns a size up to `most`, sometimes 0.
  int64_t sizeUpTo(int64_t most) { return chance(2) ? 0 : 1 + below(most); }

  int addValue(const std::string &name, Element e, Shape shape);
  int argument(Element e, Shape shape);
  /// Returns a value of the given type, usually an existing one.
  int operand(Element e, Shape shape);
  /// Returns any existing value, or an argument.
  int anyValue();

  std::string ref(int v) { return "%" + values[v].name; }
  std::string type(int v) {
    return typeText(values[v].element, values[v].shape);
  }
  /// Returns "[\"parallel\", \"reduction\"]": the loops that `out` lacks are
  /// reductions.
  static std::string iterators(size_t loops, const Map &out);
  std::string fresh(const char *prefix) {
    return prefix + std::to_string(next++);
  }

  /// Adds a statement that defines `results`, unless their values are
  /// unsuitable.
  bool emit(const std::string &text, const std::vector<int> &results,
            Evaluation evaluation);
  bool isGood(const Tensor &tensor);
  /// Returns a tensor to write into: empty (its elements are never read),
  /// filled or an existing value.
  int destination(Element e, const Shape &shape, bool isRead, std::string &text,
                  std::vector<Evaluation> &evaluations);

  bool statement();
  bool layerStatement();
  bool elementwise();
  bool shift();
  bool compareAndSelect();
  bool convert();
  bool roundToInteger();
  bool generic();
  bool reduce();
  bool reduceInBody();
  bool product();
  bool contraction();
  bool window();
  bool move();
  bool slice();
  bool reshape();
  bool branch();
  bool loop();
  bool shardIndex();
  bool divide();
  bool lookUp();
  bool lookUpInBody();
  bool concatenate();
  bool scatter();
  bool addRows();
  bool softmax();

  std::string name;
  View view;
  Mix mix;
  std::mt19937_64 random;
  unsigned next = 0;
  int depth = 0;
  bool isSpecial = false; ///< operands include special numbers
  Element main = Element::F32;
  std::vector<Value> values;
  Env env;
  std::vector<int> arguments, scope;
  std::string body;
  std::vector<Evaluation> *evaluations = nullptr;
  int32_t coordinate = 0;
};

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_KERNEL_GENERATOR_H
