//===- movement_statements.cc - Statements that move elements -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

using namespace kernel_test;

/// Transposes and broadcasts.
bool KernelGenerator::move() {
  int x = anyValue();
  Element e = values[x].element;
  Shape in = values[x].shape;
  std::string text;
  std::vector<Evaluation> before;
  if (chance(50) && !in.empty()) {
    Map order = anyOrder(in.size());
    Shape shape = select(order, in);
    int init = destination(e, shape, /*isRead=*/false, text, before);
    int r = addValue(fresh("v"), e, shape);
    text += ref(r) + " = linalg.transpose ins(" + ref(x) + " : " + type(x) +
            ") outs(" + ref(init) + " : " + type(init) + ") permutation = [" +
            list({order.begin(), order.end()}) + "]";
    return emit(text, {r}, [=](Env &env) {
      forEach(in, [&](const Shape &index) {
        env[r].cells[offsetOf(shape, select(order, index))] =
            env[x].cells[offsetOf(in, index)];
      });
    });
  }
  if (in.size() > 3 || countOf(in) > 500)
    return false;
  Shape shape = in;
  int64_t at = below(in.size() + 1);
  shape.insert(shape.begin() + at, 1 + below(8));
  int init = destination(e, shape, /*isRead=*/false, text, before);
  int r = addValue(fresh("v"), e, shape);
  text += ref(r) + " = linalg.broadcast ins(" + ref(x) + " : " + type(x) +
          ") outs(" + ref(init) + " : " + type(init) + ") dimensions = [" +
          list({at}) + "]";
  return emit(text, {r}, [=](Env &env) {
    forEach(shape, [&](const Shape &index) {
      Shape from = index;
      from.erase(from.begin() + at);
      env[r].cells[offsetOf(shape, index)] = env[x].cells[offsetOf(in, from)];
    });
  });
}

/// Extracts and inserts parts of a tensor, and adds a border around it.
bool KernelGenerator::slice() {
  int x = anyValue();
  Element e = values[x].element;
  Shape in = values[x].shape;
  if (in.empty() || countOf(in) == 0)
    return false;
  if (chance(30)) {
    std::vector<int64_t> low, high;
    Shape shape = in;
    for (size_t d = 0; d < in.size(); ++d) {
      low.push_back(below(3)), high.push_back(below(3));
      shape[d] += low[d] + high[d];
    }
    int r = addValue(fresh("v"), e, shape);
    std::string c = "%" + fresh("c"), blocks;
    for (size_t d = 0; d < in.size(); ++d)
      blocks += (d ? ", " : "") + c + "_" + std::to_string(d) + ": index";
    std::string zero = e == Element::I1 ? "false"
                       : isFloat(e)     ? std::string("0.0 : ") + nameOf(e)
                                        : std::string("0 : ") + nameOf(e);
    std::string pad(2 * depth + 2, ' ');
    return emit(c + " = arith.constant " + zero + "\n" + pad + ref(r) +
                    " = tensor.pad " + ref(x) + " low[" + list(low) +
                    "] high[" + list(high) + "] {\n" + pad + "^bb0(" + blocks +
                    "):\n" + pad + "  tensor.yield " + c + " : " + nameOf(e) +
                    "\n" + pad + "} : " + type(x) + " to " + type(r),
                {r}, [=](Env &env) {
                  std::fill(env[r].cells.begin(), env[r].cells.end(), Cell());
                  forEach(in, [&](const Shape &index) {
                    Shape to = index;
                    for (size_t d = 0; d < to.size(); ++d)
                      to[d] += low[d];
                    env[r].cells[offsetOf(shape, to)] =
                        env[x].cells[offsetOf(in, index)];
                  });
                });
  }
  std::vector<int64_t> offsets, sizes, strides;
  for (int64_t size : in) {
    strides.push_back(chance(80) ? 1 : 1 + below(3));
    offsets.push_back(below(size));
    int64_t room = (size - 1 - offsets.back()) / strides.back() + 1;
    sizes.push_back(chance(40) ? room : 1 + below(room));
  }
  std::string where =
      "[" + list(offsets) + "] [" + list(sizes) + "] [" + list(strides) + "]";
  auto at = [=](const Shape &index) {
    Shape to = index;
    for (size_t d = 0; d < to.size(); ++d)
      to[d] = offsets[d] + index[d] * strides[d];
    return to;
  };
  if (chance(50)) {
    int r = addValue(fresh("v"), e, sizes);
    return emit(ref(r) + " = tensor.extract_slice " + ref(x) + where + " : " +
                    type(x) + " to " + type(r),
                {r}, [=](Env &env) {
                  forEach(sizes, [&](const Shape &index) {
                    env[r].cells[offsetOf(sizes, index)] =
                        env[x].cells[offsetOf(in, at(index))];
                  });
                });
  }
  int part = operand(e, sizes);
  int r = addValue(fresh("v"), e, in);
  return emit(ref(r) + " = tensor.insert_slice " + ref(part) + " into " +
                  ref(x) + where + " : " + type(part) + " into " + type(x),
              {r}, [=](Env &env) {
                Tensor result = env[x];
                forEach(sizes, [&](const Shape &index) {
                  result.cells[offsetOf(in, at(index))] =
                      env[part].cells[offsetOf(sizes, index)];
                });
                env[r] = result;
              });
}

/// Joins two dimensions to one, or splits one into two.
bool KernelGenerator::reshape() {
  int x = anyValue();
  Element e = values[x].element;
  Shape in = values[x].shape, shape;
  if (in.empty())
    return false;
  size_t at = below(in.size());
  bool isSplit = at + 1 == in.size() || chance(50);
  // Group the dimensions of the longer shape.
  std::string groups;
  size_t longer = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    std::string group;
    if (d == at) {
      group = std::to_string(longer) + ", " + std::to_string(longer + 1);
      longer += 2;
      if (isSplit) {
        int64_t factor = 1;
        for (int64_t f : {2, 3, 5, 7, 8})
          if (in[d] % f == 0 && chance(50))
            factor = f;
        shape.push_back(in[d] / factor), shape.push_back(factor);
      } else {
        shape.push_back(in[d] * in[d + 1]);
        ++d;
      }
    } else {
      group = std::to_string(longer++);
      shape.push_back(in[d]);
    }
    groups += (groups.empty() ? "[" : ", [") + group + "]";
  }
  int r = addValue(fresh("v"), e, shape);
  return emit(ref(r) + " = tensor." +
                  (isSplit ? "expand_shape " : "collapse_shape ") + ref(x) +
                  " [" + groups + "]" +
                  (isSplit ? " output_shape [" + list(shape) + "]" : "") +
                  " : " + type(x) + " into " + type(r),
              {r}, [=](Env &env) { env[r].cells = env[x].cells; });
}

/// Extracts the row of a tensor that belongs to the shard.
bool KernelGenerator::shardIndex() {
  int x = anyValue();
  Element e = values[x].element;
  Shape shape = values[x].shape, rows = shape;
  rows.insert(rows.begin(), 4);
  if (countOf(rows) > 6000 || countOf(rows) == 0)
    return false;
  int table = operand(e, rows), r = addValue(fresh("v"), e, shape);
  std::string i = "%" + fresh("i"), offsets = i, sizes = "1", strides = "1";
  for (int64_t size : shape)
    offsets += ", 0", sizes += ", " + std::to_string(size), strides += ", 1";
  int64_t at = coordinate;
  return emit(i + " = pw.shard_index \"x\" : index\n" +
                  std::string(2 * depth + 2, ' ') + ref(r) +
                  " = tensor.extract_slice " + ref(table) + "[" + offsets +
                  "] [" + sizes + "] [" + strides + "] : " + type(table) +
                  " to " + type(r),
              {r}, [=](Env &env) {
                int64_t count = countOf(shape);
                for (int64_t i = 0; i < count; ++i)
                  env[r].cells[i] = env[table].cells[at * count + i];
              });
}
