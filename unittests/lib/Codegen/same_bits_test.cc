//===- same_bits_test.cc - Random kernels on few and many rows ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles functions that compute every row of a batch independently, whatever
// dimension the batch is, for two sizes of the batch. The second run gets some
// rows of the first one, in another order and at other places. Bodies of
// vectors and their tails, full blocks and remainders give the same bits.
// PATHWAYS_TEST_SEED chooses other functions.
//
//===----------------------------------------------------------------------===//

#include "cells.h"
#include "codegen_harness.h"

#include "gtest/gtest.h"
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

using namespace kernel_test;

namespace {

constexpr int64_t kBatch = -1; ///< stands for the size of the batch in a shape

struct Value {
  std::string name;
  Shape shape;
};

/// Writes a function for any size of the batch.
class RowGenerator {
public:
  template <typename C> auto &pick(C &&from) {
    return from[below(std::size(from))];
  }

  explicit RowGenerator(uint64_t seed) : random(seed) {
    const Element elements[] = {
        Element::F32, Element::F32,  Element::F32, Element::F32, Element::F64,
        Element::F16, Element::BF16, Element::I8,  Element::I16, Element::I32};
    element = pick(elements);
    isSpecial = chance(40);
    last = argument(batched(1 + below(3)));
    for (int i = 2 + below(6); i > 0; --i)
      statement();
  }

  std::string text(int64_t batch);
  /// With a batch of 1, columns would be rows, which are added in another
  /// order.
  int64_t leastBatch() const { return hasSums ? 2 : 1; }
  const std::vector<Value> &operands() const { return arguments; }
  const Value &result() const { return values[last]; }
  Cell anyCell();

  int64_t below(int64_t n) { return random() % n; }
  bool chance(int percent) { return below(100) < percent; }
  Element element;

private:
  static Shape sized(Shape shape, int64_t batch) {
    std::replace(shape.begin(), shape.end(), kBatch, batch);
    return shape;
  }
  int64_t anySize() {
    const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 19, 32, 33, 40};
    return pick(sizes);
  }
  Shape batched(int rank) {
    Shape shape;
    for (int d = 0; d < rank; ++d)
      shape.push_back(rank < 3 ? anySize() : 1 + below(12));
    pick(shape) = kBatch;
    return shape;
  }
  int add(const std::string &prefix, const Shape &shape) {
    values.push_back({"%" + prefix + std::to_string(values.size()), shape});
    return values.size() - 1;
  }
  int argument(const Shape &shape) {
    int v = add("a", shape);
    arguments.push_back(values[v]);
    return v;
  }
  /// Returns a value of the given shape, perhaps an existing one.
  int operand(const Shape &shape);
  int batchOf(const Shape &shape) {
    return std::find(shape.begin(), shape.end(), kBatch) - shape.begin();
  }
  std::string scalar() { return nameOf(element); }
  /// Returns the destination of a statement, for results that are not read.
  std::string empty(int r) {
    return values[r].name + "_e = tensor.empty() : $" + std::to_string(r) +
           "$\n  ";
  }
  static std::string type(int v) { return "$" + std::to_string(v) + "$"; }

  void statement();
  void elementwise();
  void broadcastInBody();
  void transpose();
  void reduce();
  void contract();
  void concatenate();
  void softmax();
  void convolve();

  std::mt19937_64 random;
  bool isSpecial = false, hasSums = false;
  std::vector<Value> values, arguments;
  std::string body; ///< $n$ is the type of value n
  int last = 0;
};

Cell RowGenerator::anyCell() {
  if (!isFloat(element))
    return integer(below(200) - 100);
  if (isSpecial && chance(4))
    return real(specialNumber(element, chance(30), random()), 0);
  long double value = (long double)(below(200001) - 100000) / 50000;
  return real(isNarrow(element) ? narrowed(element, value) : (float)value, 0);
}

int RowGenerator::operand(const Shape &shape) {
  for (size_t v = 0; v < values.size(); ++v)
    if (values[v].shape == shape && chance(50))
      return v;
  return argument(shape);
}

std::string RowGenerator::text(int64_t batch) {
  std::string parameters, function = body;
  for (const Value &value : arguments)
    parameters += (parameters.empty() ? "" : ", ") + value.name + ": " +
                  typeText(element, sized(value.shape, batch));
  for (size_t v = 0; v < values.size(); ++v) {
    const std::string from = type(v),
                      to = typeText(element, sized(values[v].shape, batch));
    for (size_t at; (at = function.find(from)) != std::string::npos;)
      function.replace(at, from.size(), to);
  }
  const std::string to = typeText(element, sized(result().shape, batch));
  return "func.func @k(" + parameters + ") -> " + to +
         " attributes {pw.local_view} {\n" + function + "  return " +
         result().name + " : " + to + "\n}\n";
}

void RowGenerator::elementwise() {
  const Shape shape = values[last].shape;
  const bool isUnary = isFloat(element) && chance(45);
  const int y = isUnary ? last : operand(shape);
  const int r = add("v", shape);
  body += "  " + values[r].name + " = " +
          (isUnary            ? pick(kFloatUnary).name
           : isFloat(element) ? pick(kFloatBinary).name
                              : pick(kIntBinary).name) +
          " " + values[last].name + (isUnary ? "" : ", " + values[y].name) +
          " : " + type(last) + "\n";
  last = r;
}

/// Combines the value with one that has only some of its dimensions, the batch
/// or others.
void RowGenerator::broadcastInBody() {
  const Shape shape = values[last].shape;
  Map all, some;
  for (size_t d = 0; d < shape.size(); ++d) {
    all.push_back(d);
    if (chance(50))
      some.push_back(d);
  }
  const int y = operand(select(some, shape)), r = add("v", shape);
  const std::string t = scalar(), v = values[r].name,
                    map = mapText(all, all.size());
  std::string iterators;
  for (size_t d = 0; d < shape.size(); ++d)
    iterators += d ? ", \"parallel\"" : "\"parallel\"";
  body += "  " + empty(r) + v + " = linalg.generic {indexing_maps = [" + map +
          ", " + mapText(some, all.size()) + ", " + map +
          "], iterator_types = [" + iterators + "]} ins(" + values[last].name +
          ", " + values[y].name + " : " + type(last) + ", " + type(y) +
          ") outs(" + v + "_e : " + type(r) + ") {\n  ^bb0(%x: " + t +
          ", %y: " + t + ", %o: " + t + "):\n    %q = " +
          (isFloat(element) ? pick(kFloatBinary).name : pick(kIntBinary).name) +
          " %x, %y : " + t + "\n    linalg.yield %q : " + t + "\n  } -> " +
          type(r) + "\n";
  last = r;
}

void RowGenerator::transpose() {
  const Shape shape = values[last].shape;
  Map order;
  for (size_t d = 0; d < shape.size(); ++d)
    order.insert(order.begin() + below(d + 1), d);
  const int r = add("v", select(order, shape));
  body += "  " + empty(r) + values[r].name + " = linalg.transpose ins(" +
          values[last].name + " : " + type(last) + ") outs(" + values[r].name +
          "_e : " + type(r) + ") permutation = [" +
          list({order.begin(), order.end()}) + "]\n";
  last = r;
}

void RowGenerator::reduce() {
  const Shape shape = values[last].shape;
  std::vector<int64_t> dims;
  Map kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != kBatch && chance(60))
      dims.push_back(d);
    else
      kept.push_back(d);
  if (dims.empty())
    return;
  const BinaryOp &op = isFloat(element) ? kFloatBinary[below(kFloatReducers)]
                                        : kIntBinary[below(kIntReducers)];
  hasSums |= isFloat(element);
  const int init = operand(select(kept, shape)),
            r = add("v", select(kept, shape));
  body += "  " + values[r].name + " = linalg.reduce { " + op.name + " } ins(" +
          values[last].name + " : " + type(last) + ") outs(" +
          values[init].name + " : " + type(init) + ") dimensions = [" +
          list(dims) + "]\n";
  last = r;
}

/// Contracts one dimension with a matrix, or with one matrix for each row.
void RowGenerator::contract() {
  const Shape shape = values[last].shape;
  const int batch = batchOf(shape), rank = shape.size();
  const int k = below(rank);
  if (k == batch || rank > 3)
    return;
  // The loops are the dimensions of the value, then the new one.
  Shape loops = shape;
  loops.push_back(anySize());
  Map left, right = {k}, out;
  for (int d = 0; d < rank; ++d)
    left.push_back(d);
  for (int d = 0; d <= rank; ++d)
    if (d != k)
      out.insert(out.begin() + below(out.size() + 1), d);
  right.insert(right.begin() + below(2), rank);
  if (chance(25))
    right.insert(right.begin() + below(right.size() + 1), batch);
  hasSums |= isFloat(element);
  const int w = operand(select(right, loops)),
            init = operand(select(out, loops)),
            r = add("v", select(out, loops));
  std::string iterators;
  for (int d = 0; d <= rank; ++d)
    iterators += std::string(d ? ", " : "") +
                 (d == k ? "\"reduction\"" : "\"parallel\"");
  const std::string t = scalar(), f = isFloat(element) ? "f" : "i";
  body += "  " + values[r].name + " = linalg.generic {indexing_maps = [" +
          mapText(left, loops.size()) + ", " + mapText(right, loops.size()) +
          ", " + mapText(out, loops.size()) + "], iterator_types = [" +
          iterators + "]} ins(" + values[last].name + ", " + values[w].name +
          " : " + type(last) + ", " + type(w) + ") outs(" + values[init].name +
          " : " + type(init) + ") {\n  ^bb0(%x: " + t + ", %y: " + t +
          ", %s: " + t + "):\n    %p = arith.mul" + f + " %x, %y : " + t +
          "\n    %q = arith.add" + f + " %s, %p : " + t +
          "\n    linalg.yield %q : " + t + "\n  } -> " + type(r) + "\n";
  last = r;
}

void RowGenerator::concatenate() {
  Shape shape = values[last].shape;
  const size_t d = below(shape.size());
  if (shape[d] == kBatch)
    return;
  Shape other = shape;
  other[d] = anySize();
  shape[d] += other[d];
  const int y = operand(other), r = add("v", shape);
  body += "  " + values[r].name + " = tensor.concat dim(" + std::to_string(d) +
          ") " + values[last].name + ", " + values[y].name + " : (" +
          type(last) + ", " + type(y) + ") -> " + type(r) + "\n";
  last = r;
}

void RowGenerator::softmax() {
  const Shape shape = values[last].shape;
  const size_t d = below(shape.size());
  if (!isFloat(element) || shape[d] == kBatch)
    return;
  hasSums = true;
  const int r = add("v", shape);
  body += "  " + empty(r) + values[r].name + " = linalg.softmax dimension(" +
          std::to_string(d) + ") ins(" + values[last].name + " : " +
          type(last) + ") outs(" + values[r].name + "_e : " + type(r) +
          ") -> " + type(r) + "\n";
  last = r;
}

/// Convolves images, which are the rows, with a border of zeros.
void RowGenerator::convolve() {
  const int64_t height = 1 + below(4), width = 1 + below(12),
                channels = anySize(), filters = anySize();
  const bool isFirst = chance(50);
  const int x = operand(isFirst ? Shape{kBatch, height, width, channels}
                                : Shape{kBatch, channels, height, width}),
            w = operand(isFirst ? Shape{3, 3, channels, filters}
                                : Shape{filters, channels, 3, 3}),
            p = add("p", isFirst
                             ? Shape{kBatch, height + 2, width + 2, channels}
                             : Shape{kBatch, channels, height + 2, width + 2});
  const Shape out = isFirst ? Shape{kBatch, height, width, filters}
                            : Shape{kBatch, filters, height, width};
  hasSums |= isFloat(element);
  const int init = operand(out), r = add("v", out);
  const std::string border = isFirst ? "[0, 1, 1, 0]" : "[0, 0, 1, 1]",
                    c = values[p].name + "_c", t = scalar();
  body += "  " + c + " = arith.constant " + (isFloat(element) ? "0.0" : "0") +
          " : " + t + "\n  " + values[p].name + " = tensor.pad " +
          values[x].name + " low" + border + " high" + border +
          " {\n  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
          "    tensor.yield " +
          c + " : " + t + "\n  } : " + type(x) + " to " + type(p) + "\n  " +
          values[r].name + " = linalg.conv_2d_" +
          (isFirst ? "nhwc_hwcf" : "nchw_fchw") + " ins(" + values[p].name +
          ", " + values[w].name + " : " + type(p) + ", " + type(w) + ") outs(" +
          values[init].name + " : " + type(init) + ") -> " + type(r) + "\n";
  last = r;
}

void RowGenerator::statement() {
  switch (below(10)) {
  case 0:
  case 1:
    return elementwise();
  case 2:
  case 3:
    return broadcastInBody();
  case 4:
    return transpose();
  case 5:
    return reduce();
  case 6:
  case 7:
    return contract();
  case 8:
    return chance(50) ? concatenate() : softmax();
  default:
    return chance(30) ? convolve() : softmax();
  }
}

/// Returns elements of `from`: row `rows[i]` becomes row i.
std::vector<Cell> rowsOf(const std::vector<Cell> &from, const Shape &shape,
                         int64_t batch, const std::vector<int64_t> &rows) {
  Shape in = shape, out = shape;
  const size_t at =
      std::find(shape.begin(), shape.end(), kBatch) - shape.begin();
  if (at == shape.size())
    return from;
  in[at] = batch, out[at] = rows.size();
  std::vector<Cell> cells;
  forEach(out, [&](const Shape &index) {
    Shape of = index;
    of[at] = rows[index[at]];
    cells.push_back(from[offsetOf(in, of)]);
  });
  return cells;
}

Shape sizedAs(Shape shape, int64_t batch) {
  std::replace(shape.begin(), shape.end(), kBatch, batch);
  return shape;
}

/// Returns the results of the function for `batch` rows, as the numbers of
/// their bits.
std::vector<uint64_t> run(RowGenerator &function, int64_t batch,
                          const std::vector<std::vector<Cell>> &operands) {
  Kernel kernel;
  const std::string text = function.text(batch);
  if (!kernel.compile(text)) {
    ADD_FAILURE() << kernel.errors() << text;
    return {};
  }
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<Buffer *> buffers;
  auto use = [&](Buffer &&buffer) {
    memory.push_back(std::make_unique<Buffer>(std::move(buffer)));
    buffers.push_back(memory.back().get());
  };
  const Element e = function.element;
  for (auto [value, cells] : llvm::zip_equal(function.operands(), operands))
    use(Buffer::of(Tensor{e, sizedAs(value.shape, batch), cells}.bytes()));
  const size_t width = widthOf(e) / 8;
  const int64_t count = countOf(sizedAs(function.result().shape, batch));
  use(Buffer(count * width));
  EXPECT_EQ(kernel.run(0, buffers), 0);
  const std::vector<uint8_t> bytes = buffers.back()->as<uint8_t>();
  // All NaN count as equal.
  const uint64_t infinity = e == Element::F64    ? 0x7ff0000000000000
                            : e == Element::F32  ? 0x7f800000
                            : e == Element::BF16 ? 0x7f80
                                                 : 0x7c00;
  std::vector<uint64_t> numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(&numbers[i], bytes.data() + i * width, width);
    const uint64_t sign = uint64_t(1) << (8 * width - 1);
    if (isFloat(e) && (numbers[i] & ~sign) > infinity)
      numbers[i] = ~uint64_t(0);
  }
  return numbers;
}

void check(uint64_t seed) {
  RowGenerator function(seed);
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 31, 33, 64, 70};
  const int64_t least = function.leastBatch(),
                many = std::max(least, function.pick(sizes)),
                few = std::max(least, function.pick(sizes));
  SCOPED_TRACE(testing::Message()
               << "seed " << seed << ", " << many << " and " << few << " rows\n"
               << function.text(many));
  std::vector<int64_t> rows(few);
  for (int64_t &row : rows)
    row = function.below(many);
  std::vector<std::vector<Cell>> all, some;
  for (const Value &value : function.operands()) {
    std::vector<Cell> cells(countOf(sizedAs(value.shape, many)));
    for (Cell &cell : cells)
      cell = function.anyCell();
    some.push_back(rowsOf(cells, value.shape, many, rows));
    all.push_back(std::move(cells));
  }
  const std::vector<uint64_t> of = run(function, many, all),
                              got = run(function, few, some);
  if (testing::Test::HasFailure())
    return;
  // Apply the same choice of rows to the numbers of elements.
  std::vector<Cell> places(of.size());
  for (size_t i = 0; i < of.size(); ++i)
    places[i] = integer(i);
  const std::vector<Cell> expected =
      rowsOf(places, function.result().shape, many, rows);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], of[expected[i].integer])
        << "element " << i << " is element " << expected[i].integer
        << " of all rows";
}

TEST(RandomKernels, EveryRowHasTheSameBits) {
  const char *text = std::getenv("PATHWAYS_TEST_SEED");
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 20260701;
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)seed + 399);
  for (uint64_t i = 0; i < 400 && !HasFailure(); ++i)
    check(seed + i);
}

} // namespace
