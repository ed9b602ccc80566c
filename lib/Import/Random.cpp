//===- Random.cpp - Random bits -------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator encrypts counters by a key. The state is the key and the next
// counter, so each element of the result depends on its place alone.
//
// THREE_FRY encrypts a counter of 64 bits to two words of 32 bits by Threefry
// of 20 rounds. An element of 64 bits takes a counter, of which the first word
// is the low one. Two elements of fewer bits take a counter, and the low bits
// of a word each. They are neighbors in the first dimension of an even size, or
// in the longest dimension if no size is even. Counters number in row-major
// order.
//
// PHILOX encrypts a counter of 128 bits to four words by Philox of 10 rounds.
// The state is the key and the low half of the counter, and then the high half,
// which is 0 if it is missing. Elements in row-major order take words in order:
// two words for 64 bits, low word first, and the low bits of one word for
// fewer. This is a choice of ours, because PHILOX is free to differ between
// implementations.
//
// DEFAULT is THREE_FRY.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "Reduction.h"
#include "Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Emits arithmetic of words of 32 bits, which are i32, and of i64.
class WordEmitter {
public:
  WordEmitter(ConversionPatternRewriter &rewriter, Location loc)
      : b(loc, rewriter) {}

  Value getWord(uint32_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), int32_t(value));
  }
  Value getLong(uint64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), int64_t(value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value multiply(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  /// Returns `x`, a word, rotated to the left by `bits`, from 1 to 31.
  Value rotate(Value x, uint32_t bits) {
    Value left = arith::ShLIOp::create(b, x, getWord(bits));
    Value right = arith::ShRUIOp::create(b, x, getWord(32 - bits));
    return arith::OrIOp::create(b, left, right);
  }
  /// Returns the words of `x`, an i64.
  Value getLow(Value x) {
    return arith::TruncIOp::create(b, b.getI32Type(), x);
  }
  Value getHigh(Value x) {
    return getLow(arith::ShRUIOp::create(b, x, getLong(32)));
  }
  Value extend(Value word) {
    return arith::ExtUIOp::create(b, b.getI64Type(), word);
  }
  Value join(Value low, Value high) {
    Value shifted = arith::ShLIOp::create(b, extend(high), getLong(32));
    return arith::OrIOp::create(b, extend(low), shifted);
  }
  /// Returns the number of the element of a linalg.generic among those of
  /// `shape`, in row-major order.
  Value getElementNumber(ArrayRef<int64_t> shape);
  /// Returns the low bits of `word` as an element of `type`. An element of 64
  /// bits has the bits of `high` too.
  Value getElement(Value word, Value high, Type type);

  /// Returns the words of `counter` encrypted by `key`, both i64.
  std::pair<Value, Value> emitThreefry(Value key, Value counter);
  /// Returns the words of the counter encrypted by `key`, all i64.
  std::array<Value, 4> emitPhilox(Value key, Value counterLow,
                                  Value counterHigh);

  ImplicitLocOpBuilder b;
};

} // namespace

Value WordEmitter::getElementNumber(ArrayRef<int64_t> shape) {
  Value number;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 1)
      continue;
    Value place = arith::IndexCastOp::create(b, b.getI64Type(),
                                             linalg::IndexOp::create(b, dim));
    number = number ? add(multiply(number, getLong(size)), place) : place;
  }
  return number ? number : getLong(0);
}

Value WordEmitter::getElement(Value word, Value high, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = width == 64 ? join(word, high) : word;
  if (width < 32)
    bits = arith::TruncIOp::create(b, b.getIntegerType(width), bits);
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(b, type, bits).getResult()
             : bits;
}

std::pair<Value, Value> WordEmitter::emitThreefry(Value key, Value counter) {
  static constexpr uint32_t kParity = 0x1BD11BDA;
  static constexpr uint32_t kRotations[2][4] = {{13, 15, 26, 6},
                                                {17, 29, 16, 24}};
  Value keys[3] = {getLow(key), getHigh(key), nullptr};
  keys[2] = exclusiveOr(exclusiveOr(keys[0], keys[1]), getWord(kParity));
  Value x = add(getLow(counter), keys[0]), y = add(getHigh(counter), keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (uint32_t rotation : kRotations[group % 2]) {
      x = add(x, y);
      y = exclusiveOr(rotate(y, rotation), x);
    }
    x = add(x, keys[(group + 1) % 3]);
    y = add(add(y, keys[(group + 2) % 3]), getWord(group + 1));
  }
  return {x, y};
}

std::array<Value, 4> WordEmitter::emitPhilox(Value key, Value counterLow,
                                             Value counterHigh) {
  static constexpr uint32_t kMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
  static constexpr uint32_t kSteps[2] = {0x9E3779B9, 0xBB67AE85};
  std::array<Value, 4> words = {getLow(counterLow), getHigh(counterLow),
                                getLow(counterHigh), getHigh(counterHigh)};
  Value keys[2] = {getLow(key), getHigh(key)};
  for (unsigned round = 0; round < 10; ++round) {
    Value first = multiply(extend(words[0]), getLong(kMultipliers[0]));
    Value second = multiply(extend(words[2]), getLong(kMultipliers[1]));
    words = {exclusiveOr(exclusiveOr(getHigh(second), words[1]), keys[0]),
             getLow(second),
             exclusiveOr(exclusiveOr(getHigh(first), words[3]), keys[1]),
             getLow(first)};
    for (unsigned i = 0; i < 2; ++i)
      keys[i] = add(keys[i], getWord(kSteps[i]));
  }
  return words;
}

namespace {

/// Emits a tensor of random bits and the next state.
class BitGenerator {
public:
  BitGenerator(ConversionPatternRewriter &b, Location loc, Value state,
               RankedTensorType type)
      : b(b), loc(loc), state(state), type(type),
        width(type.getElementType().getIntOrFloatBitWidth()) {}

  /// Returns the next state, then the bits.
  std::pair<Value, Value> emitThreeFry();
  std::pair<Value, Value> emitPhilox();

private:
  Value readState(int64_t i) {
    return tensor::ExtractOp::create(b, loc, state, createIndex(b, loc, i));
  }
  Value writeState(Value value, Value tensor, int64_t i) {
    return tensor::InsertOp::create(b, loc, value, tensor,
                                    createIndex(b, loc, i));
  }
  /// Returns tensors of `shape` with the elements that `getElements` emits in a
  /// linalg.generic.
  SmallVector<Value> emitTensors(
      ArrayRef<int64_t> shape, unsigned count,
      llvm::function_ref<SmallVector<Value>(WordEmitter &)> getElements);
  /// Returns the tensor of which elements (.., 2 i + k, ..) of dimension `dim`
  /// are elements (.., i, ..) of `halves[k]`.
  Value interleave(ValueRange halves, int64_t dim);

  ConversionPatternRewriter &b;
  Location loc;
  Value state;
  RankedTensorType type;
  unsigned width;
};

struct LowerRngBitGenerator
    : OpConversionPattern<stablehlo::RngBitGeneratorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::RngBitGeneratorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const bool isPhilox =
        op.getRngAlgorithm() == stablehlo::RngAlgorithm::PHILOX;
    auto state = cast<RankedTensorType>(adaptor.getInitialState().getType());
    if (!isPhilox && state.getDimSize(0) != 2)
      return op.emitOpError("expected the state of the default algorithm, "
                            "THREE_FRY, to have 2 elements, got ")
             << state.getDimSize(0);
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op.getOutput().getType()));
    unsigned width = type.getElementType().getIntOrFloatBitWidth();
    if (width < 8)
      return op.emitOpError("expected bits in elements of 8 to 64 bits, got ")
             << op.getOutput().getType();
    BitGenerator generator(rewriter, op.getLoc(), adaptor.getInitialState(),
                           type);
    auto [next, bits] =
        isPhilox ? generator.emitPhilox() : generator.emitThreeFry();
    rewriter.replaceOp(op, {next, bits});
    return success();
  }
};

} // namespace

SmallVector<Value> BitGenerator::emitTensors(
    ArrayRef<int64_t> shape, unsigned count,
    llvm::function_ref<SmallVector<Value>(WordEmitter &)> getElements) {
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  if (llvm::is_contained(shape, 0))
    return SmallVector<Value>(count, empty);
  SmallVector<AffineMap> maps(count, b.getMultiDimIdentityMap(shape.size()));
  OpBuilder::InsertionGuard guard(b);
  auto generic =
      createGeneric(b, loc, {}, SmallVector<Value>(count, empty), maps, {});
  WordEmitter words(b, loc);
  linalg::YieldOp::create(b, loc, getElements(words));
  return SmallVector<Value>(generic->getResults());
}

Value BitGenerator::interleave(ValueRange halves, int64_t dim) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 2 * cast<RankedTensorType>(halves[0].getType()).getDimSize(dim);
  Value both = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
      steps(shape.size(), b.getIndexAttr(1)), sizes;
  for (int64_t size : shape)
    sizes.push_back(b.getIndexAttr(size));
  sizes[dim] = b.getIndexAttr(shape[dim] / 2);
  steps[dim] = b.getIndexAttr(2);
  for (auto [k, half] : llvm::enumerate(halves)) {
    offsets[dim] = b.getIndexAttr(k);
    both = tensor::InsertSliceOp::create(b, loc, half, both, offsets, sizes,
                                         steps);
  }
  if (both.getType() == type)
    return both;
  offsets[dim] = b.getIndexAttr(0);
  return emitSlice(b, loc, both, offsets, type.getShape(),
                   llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
}

std::pair<Value, Value> BitGenerator::emitThreeFry() {
  Value key = readState(0), counter = readState(1);
  ArrayRef<int64_t> shape = type.getShape();
  // A counter gives an element of 64 bits, or a pair of other elements.
  SmallVector<int64_t> counters(shape);
  int64_t dim = 0;
  if (width < 64 && !shape.empty()) {
    auto even =
        llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
    dim =
        (even == shape.end() ? llvm::max_element(shape) : even) - shape.begin();
    counters[dim] = (shape[dim] + 1) / 2;
  }
  // A single element of fewer bits is half of a pair.
  const bool isPair = width < 64 && !shape.empty() && shape[dim] > 1;
  SmallVector<Value> tensors =
      emitTensors(counters, isPair ? 2 : 1, [&](WordEmitter &words) {
        Value number = words.getElementNumber(counters);
        auto [low, high] = words.emitThreefry(key, words.add(counter, number));
        Type element = type.getElementType();
        SmallVector<Value> elements{words.getElement(low, high, element)};
        if (isPair)
          elements.push_back(words.getElement(high, nullptr, element));
        return elements;
      });
  WordEmitter words(b, loc);
  Value used = words.getLong(ShapedType::getNumElements(counters));
  Value next = writeState(words.add(counter, used), state, 1);
  // The halves of a tensor without elements cannot be inserted.
  if (type.getNumElements() == 0)
    return {next,
            tensor::EmptyOp::create(b, loc, shape, type.getElementType())};
  return {next, isPair ? interleave(tensors, dim) : tensors.front()};
}

std::pair<Value, Value> BitGenerator::emitPhilox() {
  WordEmitter outer(b, loc);
  const bool hasHigh =
      cast<RankedTensorType>(state.getType()).getDimSize(0) == 3;
  Value key = readState(0), low = readState(1);
  Value high = hasHigh ? readState(2) : outer.getLong(0);
  int64_t perCounter = width == 64 ? 2 : 4;
  int64_t used = llvm::divideCeil(type.getNumElements(), perCounter);
  /// Returns both halves of the counter plus `number`.
  auto add = [&](WordEmitter &words, Value number) {
    Value sum = words.add(low, number);
    Value isOver =
        arith::CmpIOp::create(words.b, arith::CmpIPredicate::ult, sum, low);
    Value carry = arith::ExtUIOp::create(words.b, b.getI64Type(), isOver);
    return std::pair<Value, Value>(sum, words.add(high, carry));
  };
  // Rows of elements, one for each counter. The last row may be longer than
  // what is left.
  SmallVector<Value> columns =
      emitTensors({used}, perCounter, [&](WordEmitter &words) {
        auto [sum, carried] = add(words, words.getElementNumber({used}));
        auto bits = words.emitPhilox(key, sum, carried);
        SmallVector<Value> elements;
        for (int64_t i = 0; i < perCounter; ++i)
          elements.push_back(
              width == 64
                  ? words.getElement(bits[2 * i], bits[2 * i + 1],
                                     type.getElementType())
                  : words.getElement(bits[i], nullptr, type.getElementType()));
        return elements;
      });
  Value elements = tensor::EmptyOp::create(
      b, loc, ArrayRef<int64_t>{used * perCounter}, type.getElementType());
  if (used > 0) {
    for (auto [i, column] : llvm::enumerate(columns))
      elements = tensor::InsertSliceOp::create(
          b, loc, column, elements, OpFoldResult(b.getIndexAttr(i)),
          OpFoldResult(b.getIndexAttr(used)),
          OpFoldResult(b.getIndexAttr(perCounter)));
    elements = emitSlice(b, loc, elements, OpFoldResult(b.getIndexAttr(0)),
                         type.getNumElements(), /*kept=*/0);
  }
  auto [nextLow, nextHigh] = add(outer, outer.getLong(used));
  Value next = writeState(nextLow, state, 1);
  if (hasHigh)
    next = writeState(nextHigh, next, 2);
  return {next, emitReshape(b, loc, elements, type.getShape())};
}

void mlir::pathways::populateRandomPatterns(const TypeConverter &types,
                                            RewritePatternSet &patterns) {
  patterns.add<LowerRngBitGenerator>(types, patterns.getContext());
}
