//===- random_kernel.cc ---------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "random_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>

namespace kernel_test {
namespace {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool isFloat(Element e) { return e >= Element::F16; }
bool isNarrow(Element e) { return e == Element::F16 || e == Element::BF16; }

const char *nameOf(Element e) {
  const char *names[] = {"i1", "i8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(e)];
}

int widthOf(Element e) {
  const int widths[] = {1, 8, 32, 64, 16, 16, 32, 64};
  return widths[static_cast<int>(e)];
}

/// Half a unit in the last place of what a kernel computes with, and the
/// smallest number it has.
long double roundingOf(Element e) {
  return e == Element::F64 ? 0x1p-53L : 0x1p-24L;
}
long double leastOf(Element e) {
  return e == Element::F64 ? 0x1p-1070L : 0x1p-148L;
}

int64_t wrapped(Element e, uint64_t value) {
  if (e == Element::I1)
    return value & 1;
  int shift = 64 - widthOf(e);
  return static_cast<int64_t>(value << shift) >> shift;
}

/// Bits of fraction and least exponent of a narrow format.
std::pair<int, int> formatOf(Element e) {
  return e == Element::F16 ? std::pair(10, -14) : std::pair(7, -126);
}

/// To nearest even, in a narrow format.
long double narrowed(Element e, long double value) {
  auto [fraction, least] = formatOf(e);
  if (value == 0)
    return value;
  int exponent = std::max<int>(std::ilogb(value), least);
  long double unit = std::ldexp(1.0L, exponent - fraction);
  return std::nearbyint(value / unit) * unit;
}

uint16_t narrowBits(Element e, long double value) {
  auto [fraction, least] = formatOf(e);
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  long double size = std::fabs(narrowed(e, value));
  if (size == 0)
    return sign;
  int exponent = std::max<int>(std::ilogb(size), least);
  int units = static_cast<int>(std::ldexp(size, fraction - exponent));
  return sign | (((exponent - least) << fraction) + units);
}

long double narrowValue(Element e, uint16_t bits) {
  auto [fraction, least] = formatOf(e);
  int exponent = (bits & 0x7fff) >> fraction;
  int units = bits & ((1 << fraction) - 1);
  if (exponent == (0x7fff >> fraction))
    return units ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
  if (exponent > 0)
    units += 1 << fraction;
  long double size = std::ldexp((long double)units,
                                least + std::max(exponent - 1, 0) - fraction);
  return bits & 0x8000 ? -size : size;
}

//===----------------------------------------------------------------------===//
// Scalar operations, with the error a kernel may make
//===----------------------------------------------------------------------===//

Cell real(long double value, long double error) { return {value, error, 0}; }
Cell integer(int64_t value) { return {0, 0, value}; }

/// A result that was rounded once; `inherited` comes from the operands.
Cell rounded(Element e, long double value, long double inherited,
             long double units = 1) {
  return real(value, inherited + units * roundingOf(e) * std::fabs(value) +
                         units * leastOf(e));
}

using Unary = Cell (*)(Element, Cell);
using Binary = Cell (*)(Element, Cell, Cell);

/// For a function that only grows or only falls; some go through
/// approximations.
template <typename F> Cell monotone(Element e, Cell x, F f, long double units) {
  long double at = f(x.real);
  long double apart = std::max(std::fabs(f(x.real + x.error) - at),
                               std::fabs(at - f(x.real - x.error)));
  return rounded(e, at, apart, units);
}

struct UnaryOp {
  const char *name;
  Unary apply;
};
struct BinaryOp {
  const char *name;
  Binary apply;
};

// Near a zero, what the approximations give is accurate as an absolute number.
Cell smooth(Cell cell, Element e) {
  cell.error += 16 * roundingOf(e);
  return cell;
}

const UnaryOp kFloatUnary[] = {
    {"arith.negf", [](Element, Cell x) { return real(-x.real, x.error); }},
    {"math.absf",
     [](Element, Cell x) { return real(std::fabs(x.real), x.error); }},
    {"math.exp",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return std::exp(v); }, 8);
     }},
    {"math.tanh",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::tanh(v); }, 16), e);
     }},
    {"math.erf",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::erf(v); }, 16), e);
     }},
    {"math.sqrt",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return std::sqrt(v); }, 2);
     }},
    {"math.rsqrt",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return 1 / std::sqrt(v); }, 4);
     }},
    {"math.log",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::log(v); }, 8), e);
     }},
    {"math.sin",
     [](Element e, Cell x) {
       return smooth(rounded(e, std::sin(x.real), x.error, 4), e);
     }},
};

const BinaryOp kFloatBinary[] = {
    {"arith.addf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real + b.real, a.error + b.error);
     }},
    {"arith.mulf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real * b.real,
                      std::fabs(a.real) * b.error +
                          std::fabs(b.real) * a.error + a.error * b.error);
     }},
    {"arith.maximumf",
     [](Element, Cell a, Cell b) {
       return real(std::max(a.real, b.real), std::max(a.error, b.error));
     }},
    {"arith.minimumf",
     [](Element, Cell a, Cell b) {
       return real(std::min(a.real, b.real), std::max(a.error, b.error));
     }},
    {"arith.subf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real - b.real, a.error + b.error);
     }},
    {"arith.divf",
     [](Element e, Cell a, Cell b) {
       long double value = a.real / b.real;
       long double room = std::fabs(b.real) - b.error;
       return rounded(
           e, value,
           room < 0.05L ? NAN : (a.error + std::fabs(value) * b.error) / room);
     }},
};

const BinaryOp kIntBinary[] = {
    {"arith.addi",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) + uint64_t(b.integer)));
     }},
    {"arith.muli",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) * uint64_t(b.integer)));
     }},
    {"arith.maxsi",
     [](Element e, Cell a, Cell b) {
       // A set bit is the sign of an i1.
       int64_t sign = e == Element::I1 ? -1 : 1;
       return sign * a.integer > sign * b.integer ? a : b;
     }},
    {"arith.minui",
     [](Element, Cell a, Cell b) {
       return uint64_t(a.integer) < uint64_t(b.integer) ? a : b;
     }},
    {"arith.andi",
     [](Element, Cell a, Cell b) { return integer(a.integer & b.integer); }},
    {"arith.xori",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer ^ b.integer)));
     }},
    {"arith.subi",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) - uint64_t(b.integer)));
     }},
};
// The first of each that may add up a dimension.
constexpr size_t kFloatReducers = 4, kIntReducers = 6;

/// -1, 0 or 1 as a is below, near or above b.
int compare(Element e, Cell a, Cell b) {
  if (!isFloat(e)) {
    int64_t sign = e == Element::I1 ? -1 : 1;
    return sign * a.integer < sign * b.integer   ? -1
           : sign * a.integer > sign * b.integer ? 1
                                                 : 0;
  }
  long double apart = a.real - b.real;
  return apart > a.error + b.error ? 1 : -apart > a.error + b.error ? -1 : 0;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t offsetOf(const Shape &shape, const Shape &index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + index[d];
  return offset;
}

/// Calls `visit` for every index of `shape`, the last dimension fastest.
void forEach(const Shape &shape,
             const std::function<void(const Shape &)> &visit) {
  if (countOf(shape) == 0)
    return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

/// Positions of loops that a subscript is made of.
using Map = std::vector<int>;

Shape select(const Map &map, const Shape &loops) {
  Shape result;
  for (int d : map)
    result.push_back(loops[d]);
  return result;
}

std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::string typeText(Element e, const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + nameOf(e) + ">";
}

std::string mapText(const Map &map, size_t loops) {
  std::string text = "affine_map<(";
  for (size_t d = 0; d < loops; ++d)
    text += (d ? ", d" : "d") + std::to_string(d);
  text += ") -> (";
  for (size_t r = 0; r < map.size(); ++r)
    text += (r ? ", d" : "d") + std::to_string(map[r]);
  return text + ")>";
}

//===----------------------------------------------------------------------===//
// The generator
//===----------------------------------------------------------------------===//

/// Writes a function statement by statement and works each out at once. What
/// would leave the range where errors stay small is left out again.
class Generator {
public:
  Generator(const std::string &name, uint64_t seed)
      : name(name), random(seed) {}
  RandomKernel run();

private:
  /// A value by its number; its tensor is in `env`.
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

  int addValue(const std::string &name, Element e, Shape shape);
  int argument(Element e, Shape shape);
  /// A value of that type: mostly one that is there.
  int operand(Element e, Shape shape);
  /// Any value that is there, or an argument.
  int anyValue();

  std::string ref(int v) { return "%" + values[v].name; }
  std::string type(int v) {
    return typeText(values[v].element, values[v].shape);
  }
  std::string fresh(const char *prefix) {
    return prefix + std::to_string(next++);
  }

  /// Adds a statement that defines `results`, unless what it gives is no good.
  bool emit(const std::string &text, const std::vector<int> &results,
            Evaluation evaluation);
  bool isGood(const Tensor &tensor);
  /// A tensor to write into: empty (its elements are never read), filled or a
  /// value.
  int destination(Element e, const Shape &shape, bool isRead, std::string &text,
                  std::vector<Evaluation> &evaluations);

  bool statement();
  bool elementwise();
  bool shift();
  bool compareAndSelect();
  bool convert();
  bool roundToInteger();
  bool generic();
  bool reduce();
  bool product();
  bool move();
  bool slice();
  bool reshape();
  bool branch();
  bool loop();
  bool shardIndex();
  bool softmax();

  std::string name;
  std::mt19937_64 random;
  unsigned next = 0;
  int depth = 0;
  Element main = Element::F32;
  std::vector<Value> values;
  Env env;
  std::vector<int> arguments, scope;
  std::string body;
  std::vector<Evaluation> *evaluations = nullptr;
  int32_t coordinate = 0;
};

int64_t Generator::anySize() {
  const int64_t sizes[] = {1, 1,  2,  3,  4,  5,  7,  8,
                           9, 15, 16, 17, 24, 31, 33, 40};
  if (chance(2))
    return 0;
  return pick(sizes);
}

Shape Generator::anyShape(int least, int most) {
  if (least <= 2 && most >= 2 &&
      chance(8)) // Large enough to be cut into blocks.
    return {60 + below(90), 40 + below(90)};
  const int ranks[] = {0, 1, 1, 2, 2, 2, 2, 2, 3, 3};
  while (true) {
    Shape shape(std::clamp(pick(ranks), least, most));
    for (int64_t &size : shape)
      size = anySize();
    if (countOf(shape) <= 3000)
      return shape;
  }
}

std::vector<int> Generator::anyOrder(int n) {
  std::vector<int> order;
  for (int i = 0; i < n; ++i)
    order.insert(order.begin() + below(i + 1), i);
  return order;
}

Cell Generator::anyCell(Element e) {
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

int Generator::addValue(const std::string &name, Element e, Shape shape) {
  values.push_back({name, e, shape});
  env.push_back({e, shape, std::vector<Cell>(countOf(shape))});
  return values.size() - 1;
}

int Generator::argument(Element e, Shape shape) {
  int v = addValue("a" + std::to_string(arguments.size()), e, shape);
  for (Cell &cell : env[v].cells)
    cell = anyCell(e);
  arguments.push_back(v);
  // Behind values of enclosing scopes: it is visible there too.
  scope.insert(scope.begin(), v);
  return v;
}

int Generator::operand(Element e, Shape shape) {
  std::vector<int> found;
  for (int v : scope)
    if (values[v].element == e && values[v].shape == shape)
      found.push_back(v);
  // Rather the last ones: long chains.
  if (!found.empty() && chance(85))
    return chance(60) ? found.back() : pick(found);
  return argument(e, shape);
}

int Generator::anyValue() {
  if (scope.empty() || chance(10))
    return argument(main, anyShape(0, 3));
  return chance(50) ? scope.back() : pick(scope);
}

bool Generator::isGood(const Tensor &tensor) {
  if (!isFloat(tensor.element))
    return true;
  long double most = tensor.element == Element::F16 ? 2e4L : 1e6L;
  for (const Cell &cell : tensor.cells)
    if (!(std::fabs(cell.real) < most &&
          cell.error <= (tensor.element == Element::F64 ? 1e-9L : 1e-3L) *
                            (1 + std::fabs(cell.real))))
      return false;
  return true;
}

bool Generator::emit(const std::string &text, const std::vector<int> &results,
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

bool Generator::elementwise() {
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

/// By amounts that the compiler knows to be below the width, or does not.
bool Generator::shift() {
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

bool Generator::compareAndSelect() {
  int x = anyValue(), y = operand(values[x].element, values[x].shape);
  Element e = values[x].element;
  int c = addValue(fresh("v"), Element::I1, values[x].shape);
  if (!emit(ref(c) + " = " +
                (isFloat(e) ? "arith.cmpf ogt, " : "arith.cmpi sgt, ") +
                ref(x) + ", " + ref(y) + " : " + type(x),
            {c}, [=](Env &env) {
              for (size_t i = 0; i < env[c].cells.size(); ++i) {
                int order = compare(e, env[x].cells[i], env[y].cells[i]);
                env[c].cells[i] = integer(order > 0);
                // Not known: whatever follows says so.
                if (isFloat(e) && order == 0)
                  env[c].cells[i].error = 1;
              }
            }))
    return false;
  // Seen only through the choice it makes, which may be uncertain.
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

bool Generator::convert() {
  int x = anyValue();
  Element from = values[x].element;
  std::vector<std::pair<const char *, Element>> ways;
  if (from == Element::I1)
    ways = {{"arith.extui", Element::I32}, {"arith.uitofp", Element::F32}};
  else if (from == Element::I8)
    ways = {{"arith.extsi", Element::I32}, {"arith.sitofp", Element::F32}};
  else if (from == Element::I32)
    ways = {{"arith.extsi", Element::I64},
            {"arith.trunci", Element::I8},
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
            // What is exact rounds to exactly one number.
            if (in.error == 0)
              out = real(narrowed(target, in.real), 0);
          } else if (from == Element::F64) {
            out = rounded(target, in.real, in.error);
          } else {
            out = in;
          }
        }
      });
}

/// Towards zero, to the nearest number that there is.
int64_t saturated(Element to, bool isSigned, long double value) {
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

/// Floats to integers, where it is certain which.
bool Generator::roundToInteger() {
  int x = anyValue();
  Element from = values[x].element;
  if (!isFloat(from) || depth > 0)
    return false;
  const Element all[] = {Element::I1, Element::I8, Element::I32, Element::I64};
  Element to = pick(all);
  bool isSigned = chance(60);
  // Large numbers too; the product is exact.
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

int Generator::destination(Element e, const Shape &shape, bool isRead,
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
  // Exact in every type.
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

/// Loops over parallel dimensions in any order, operands that have some of
/// them.
bool Generator::generic() {
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
  int count = chance(15) ? 2 : 1; // of results
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
  // The body: a chain of scalar operations over the arguments and a loop index.
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
    if (other == available - 1) // Twice the same only now and then.
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

/// Combines cells that may be taken in any order. Sums know how many there are.
Cell combine(const BinaryOp &op, Element e, Cell sum,
             const std::vector<Cell> &cells) {
  if (std::string(op.name) != "arith.addf") {
    for (const Cell &cell : cells)
      sum = op.apply(e, sum, cell);
    return sum;
  }
  long double size = std::fabs(sum.real);
  for (const Cell &cell : cells) {
    sum.real += cell.real;
    sum.error += cell.error;
    size += std::fabs(cell.real);
  }
  sum.error += (cells.size() + 1) * (roundingOf(e) * size + leastOf(e));
  return sum;
}

bool Generator::reduce() {
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

/// Matrix products of all forms.
bool Generator::product() {
  Element e = main == Element::I1 ? Element::F32 : main;
  bool isBatch = chance(30), isLeft = chance(30), isRight = chance(30);
  // A vector is a matrix of one row, a batch is one dimension more in front.
  int form = below(10); // 0: dot, 1: matvec, 2: vecmat, others: matrices
  int64_t m = 1 + below(40), n = 1 + below(70), k = 1 + below(50),
          batch = 1 + below(4);
  if (chance(6)) // More than one block of rows.
    m = 130 + below(150), n = 1 + below(40), k = 1 + below(20);
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
  // With a value that is there on the left, if one has the rank.
  for (int v : scope)
    if (values[v].element == e && values[v].shape.size() == lhs.size() &&
        countOf(values[v].shape) > 0 && countOf(values[v].shape) < 20000 &&
        chance(50))
      for (size_t d = 0; d < lhs.size(); ++d)
        loops[lhs[d]] = values[v].shape[d];
  if (countOf(loops) > 300000)
    return false;
  int a = operand(e, select(lhs, loops)), b = operand(e, select(rhs, loops));
  std::string text;
  std::vector<Evaluation> before;
  int init = destination(e, select(out, loops), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), e, values[init].shape);
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
    std::vector<std::vector<Cell>> terms(env[r].cells.size());
    forEach(loops, [&](const Shape &index) {
      terms[offsetOf(env[r].shape, select(out, index))].push_back(times.apply(
          e, env[a].cells[offsetOf(env[a].shape, select(lhs, index))],
          env[b].cells[offsetOf(env[b].shape, select(rhs, index))]));
    });
    for (size_t i = 0; i < terms.size(); ++i)
      env[r].cells[i] = combine(plus, e, env[init].cells[i], terms[i]);
  });
}

/// Transposes and broadcasts.
bool Generator::move() {
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

/// Parts of a tensor taken out, put in, and a border around it.
bool Generator::slice() {
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

/// Two dimensions become one, or one becomes two.
bool Generator::reshape() {
  int x = anyValue();
  Element e = values[x].element;
  Shape in = values[x].shape, shape;
  if (in.empty())
    return false;
  size_t at = below(in.size());
  bool isSplit = at + 1 == in.size() || chance(50);
  // Groups of dimensions of the longer shape.
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

bool Generator::softmax() {
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

/// An if with values of both sides, decided by an element of an argument.
bool Generator::branch() {
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

/// A loop that carries tensors; its body may use the row of the iteration.
bool Generator::loop() {
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
    // A row of something with a row for each iteration.
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
      "%" + p + "0 = arith.constant 0 : index\n" + pad + "%" + p +
      "1 = arith.constant 1 : index\n" + pad + "%" + p + "n = arith.constant " +
      std::to_string(trips) + " : index\n" + pad + "%" + name + ":" +
      std::to_string(carried) + " = scf.for %" + p + " = %" + p + "0 to %" + p +
      "n step %" + p + "1 iter_args(" + carriedText + ") -> (" + types +
      ") {\n" + inner + pad + "  scf.yield " + yielded + " : " + types + "\n" +
      pad + "}";
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

/// The row of a tensor that belongs to the shard.
bool Generator::shardIndex() {
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

bool Generator::statement() {
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
    return product();
  case 14:
    return move();
  case 15:
    return slice();
  case 16:
    return reshape();
  case 17:
    return chance(50) ? branch() : loop();
  case 18:
    return shardIndex();
  default:
    return softmax();
  }
}

RandomKernel Generator::run() {
  const Element elements[] = {
      Element::F32, Element::F32,  Element::F32, Element::F32, Element::F64,
      Element::F16, Element::BF16, Element::I32, Element::I8,  Element::I64};
  main = pick(elements);
  coordinate = below(4);
  std::vector<Evaluation> all;
  evaluations = &all;
  argument(main, anyShape(0, 3));
  // Some have only operands that they return.
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
  // A result may lie where an operand does.
  std::string pairs;
  if (chance(40))
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
      "func.func @" + name + "(" + parameters + ") -> (" + types +
      ") attributes {pw.local_view, segment_mesh = #pw.mesh<\"x\" = 4>" +
      (pairs.empty() ? "" : ", segment_may_alias = array<i64:" + pairs + ">") +
      "} {\n" + body + "  return " + names + " : " + types + "\n}\n";
  kernel.coordinates = {coordinate};
  return kernel;
}

} // namespace

RandomKernel makeRandomKernel(const std::string &name, uint64_t seed) {
  return Generator(name, seed).run();
}

std::vector<uint8_t> Tensor::bytes() const {
  std::vector<uint8_t> bytes;
  auto append = [&](auto value) {
    const auto *begin = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  for (const Cell &cell : cells)
    switch (element) {
    case Element::I1:
    case Element::I8:
      append(int8_t(cell.integer));
      break;
    case Element::I32:
      append(int32_t(cell.integer));
      break;
    case Element::I64:
      append(cell.integer);
      break;
    case Element::F16:
    case Element::BF16:
      append(narrowBits(element, cell.real));
      break;
    case Element::F32:
      append(float(cell.real));
      break;
    case Element::F64:
      append(double(cell.real));
      break;
    }
  return bytes;
}

std::string difference(const Tensor &expected,
                       const std::vector<uint8_t> &bytes) {
  Element e = expected.element;
  size_t size = std::max(widthOf(e) / 8, 1);
  for (size_t i = 0; i < expected.cells.size(); ++i) {
    const Cell &cell = expected.cells[i];
    std::ostringstream text;
    text << "element " << i << " of " << typeText(e, expected.shape) << ": ";
    const uint8_t *at = bytes.data() + i * size;
    if (!isFloat(e)) {
      uint64_t bits = 0;
      std::memcpy(&bits, at, size);
      int64_t got = e == Element::I1 ? int64_t(bits) : wrapped(e, bits);
      if (got == cell.integer)
        continue;
      text << "expected " << cell.integer << ", got " << got;
      return text.str();
    }
    long double got, error = cell.error;
    if (isNarrow(e)) {
      uint16_t bits;
      std::memcpy(&bits, at, 2);
      got = narrowValue(e, bits);
      // One more rounding, to where it is stored.
      auto [fraction, least] = formatOf(e);
      if (error != 0 || narrowed(e, cell.real) != cell.real)
        error += std::ldexp(std::fabs(cell.real) + error, -fraction - 1) +
                 std::ldexp(1.0L, least - fraction - 1);
    } else if (e == Element::F32) {
      float value;
      std::memcpy(&value, at, 4);
      got = value;
    } else {
      double value;
      std::memcpy(&value, at, 8);
      got = value;
    }
    if (std::fabs(got - cell.real) <= error * 1.01L)
      continue;
    text.precision(12);
    text << "expected " << cell.real << " within " << error << ", got " << got;
    return text.str();
  }
  return "";
}

} // namespace kernel_test
