//===- control_statements.cc - Branches and loops -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

using namespace kernel_test;

/// Writes an scf.if that yields values on both sides and is decided by an
/// element of an argument.
bool KernelGenerator::branch() {
  if (depth > 1)
    return false;
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  int flags = argument(Element::I1, {4});
  int64_t at = below(4);
  std::string c = fresh("c"), pad(2 * depth + 2, ' ');
  std::string outerBody = std::move(body);
  std::vector<Evaluation> *outerEvaluations = evaluations;
  std::vector<int> outerScope = scope;
  size_t argumentsBefore = arguments.size();
  ++depth;
  std::string texts[2];
  std::vector<Evaluation> sides[2];
  int yields[2];
  for (int side = 0; side < 2; ++side) {
    body.clear();
    evaluations = &sides[side];
    scope = outerScope;
    scope.insert(scope.begin(), arguments.begin() + argumentsBefore,
                 arguments.end());
    scope.push_back(x);
    for (int i = below(4); i > 0; --i)
      statement();
    yields[side] = operand(e, shape);
    texts[side] = body;
  }
  --depth;
  body = std::move(outerBody);
  evaluations = outerEvaluations;
  scope = std::move(outerScope);
  scope.insert(scope.begin(), arguments.begin() + argumentsBefore,
               arguments.end());
  int r = addValue(fresh("v"), e, shape);
  std::string text = "%" + c + "i = arith.constant " + std::to_string(at) +
                     " : index\n" + pad + "%" + c + " = tensor.extract " +
                     ref(flags) + "[%" + c + "i] : " + type(flags) + "\n" +
                     pad + ref(r) + " = scf.if %" + c + " -> (" + type(r) +
                     ") {\n" + texts[0] + pad + "  scf.yield " +
                     ref(yields[0]) + " : " + type(r) + "\n" + pad +
                     "} else {\n" + texts[1] + pad + "  scf.yield " +
                     ref(yields[1]) + " : " + type(r) + "\n" + pad + "}";
  return emit(text, {r}, [=](Env &env) {
    int side = env[flags].cells[at].integer ? 0 : 1;
    for (const Evaluation &each : sides[side])
      each(env);
    env[r].cells = env[yields[side]].cells;
  });
}

/// Writes a loop that carries tensors. Its body may use the row of the
/// iteration.
bool KernelGenerator::loop() {
  if (depth > 1)
    return false;
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape;
  int carried = 1 + below(2);
  std::vector<int> inits = {x};
  for (int i = 1; i < carried; ++i)
    inits.push_back(operand(e, shape));
  int64_t trips = below(4);
  std::string p = fresh("l"), pad(2 * depth + 2, ' ');
  std::string outerBody = std::move(body);
  std::vector<Evaluation> *outerEvaluations = evaluations;
  std::vector<int> outerScope = scope;
  size_t argumentsBefore = arguments.size();
  ++depth;
  body.clear();
  std::vector<Evaluation> inside;
  evaluations = &inside;
  const int iteration = addValue(p, Element::I64, {});
  std::vector<int> iters;
  for (int i = 0; i < carried; ++i) {
    iters.push_back(addValue(fresh("t"), e, shape));
    env[iters[i]].cells = env[inits[i]].cells;
    scope.push_back(iters[i]);
  }
  if (chance(60)) {
    // Extract a row of a tensor with a row for each iteration.
    Shape rows = shape;
    rows.insert(rows.begin(), trips + 1);
    if (countOf(rows) > 0 && countOf(rows) < 6000) {
      int table = operand(e, rows);
      int row = addValue(fresh("v"), e, shape);
      std::string offsets = "%" + p, sizes = "1", strides = "1";
      for (int64_t size : shape)
        offsets += ", 0", sizes += ", " + std::to_string(size),
            strides += ", 1";
      emit(ref(row) + " = tensor.extract_slice " + ref(table) + "[" + offsets +
               "] [" + sizes + "] [" + strides + "] : " + type(table) + " to " +
               type(row),
           {row}, [=](Env &env) {
             int64_t count = countOf(shape);
             int64_t at = env[iteration].cells[0].integer;
             for (int64_t i = 0; i < count; ++i)
               env[row].cells[i] = env[table].cells[at * count + i];
           });
    }
  }
  for (int i = 1 + below(4); i > 0; --i)
    statement();
  std::vector<int> yields;
  for (int i = 0; i < carried; ++i)
    yields.push_back(operand(e, shape));
  --depth;
  std::string inner = std::move(body);
  body = std::move(outerBody);
  evaluations = outerEvaluations;
  scope = std::move(outerScope);
  scope.insert(scope.begin(), arguments.begin() + argumentsBefore,
               arguments.end());
  std::vector<int> results;
  std::string carriedText, types, yielded;
  for (int i = 0; i < carried; ++i) {
    carriedText += (i ? ", " : "") + ref(iters[i]) + " = " + ref(inits[i]);
    types += (i ? ", " : "") + type(x);
    yielded += (i ? ", " : "") + ref(yields[i]);
  }
  std::string name = fresh("v");
  for (int i = 0; i < carried; ++i)
    results.push_back(addValue(name + "#" + std::to_string(i), e, shape));
  std::string text =
      "%" + p + "_0 = arith.constant 0 : index\n" + pad + "%" + p +
      "_1 = arith.constant 1 : index\n" + pad + "%" + p +
      "_n = arith.constant " + std::to_string(trips) + " : index\n" + pad +
      "%" + name + ":" + std::to_string(carried) + " = scf.for %" + p + " = %" +
      p + "_0 to %" + p + "_n step %" + p + "_1 iter_args(" + carriedText +
      ") -> (" + types + ") {\n" + inner + pad + "  scf.yield " + yielded +
      " : " + types + "\n" + pad + "}";
  return emit(text, results, [=](Env &env) {
    for (int i = 0; i < carried; ++i)
      env[iters[i]].cells = env[inits[i]].cells;
    for (int64_t trip = 0; trip < trips; ++trip) {
      env[iteration].cells[0].integer = trip;
      for (const Evaluation &each : inside)
        each(env);
      std::vector<std::vector<Cell>> around;
      for (int i = 0; i < carried; ++i)
        around.push_back(env[yields[i]].cells);
      for (int i = 0; i < carried; ++i)
        env[iters[i]].cells = around[i];
    }
    for (int i = 0; i < carried; ++i)
      env[results[i]].cells = env[iters[i]].cells;
  });
}
