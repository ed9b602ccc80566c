//===- SelectAndScatter.cpp - Sums at selected elements of windows --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of pooling becomes two operations of linalg. The first one finds
// for each window which of its elements is selected. The second one combines
// for each element of the operand the source values of the windows that
// selected it, in the order of the windows.
//
// Let p be a place in the operand plus the padding in front, and s the number
// of a window along a dimension. The element has place w = p - s * stride in
// the window. With p = q * phases + r and s = q - j it is
// w = j * phases + r, if there are as many phases as the stride has elements:
// then only windows that may have the element are read. The innermost dimension
// has a single phase, so that adjacent elements are computed together; there,
// windows are spread as far apart as they begin.
//
// Elements of a window are numbered as if it had ceil(size / phases) * phases
// elements in each dimension, so that no other element of a phase has the
// number of an element.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "Shape.h"
#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// A dimension of the operation.
struct Dim {
  int64_t size;   ///< elements of the operand
  int64_t count;  ///< windows
  int64_t window; ///< elements of a window
  int64_t stride, low;
  int64_t phases;
  int64_t steps; ///< windows that may have an element of a phase

  /// Returns the factor of places in the numbers of elements of a window.
  int64_t getExtent() const { return steps * phases; }
  /// Returns the elements that all windows reach, from the first one on.
  int64_t getReach() const { return (count - 1) * stride + window; }
};

/// Writer of one operation.
class SelectionWriter {
public:
  SelectionWriter(stablehlo::SelectAndScatterOp op, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> counts, ConversionPatternRewriter &b);

  /// Returns the number of the element that each window selects, of i32; -1 if
  /// the window has no element. Places in the innermost dimension are the
  /// innermost loop.
  FailureOr<Value> select(Value operand);
  /// Returns the combined elements of `source`, beginning with `init`.
  FailureOr<Value> combine(Value source, Value selected, Value init,
                           const Combiner &combiner);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  Value zero(Type type) {
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value multiply(Value x, int64_t y) {
    return y == 1 ? x : arith::MulIOp::create(b, loc, x, index(y)).getResult();
  }
  /// Returns the value of a loop, or 0 if `loop` is null.
  Value valueOf(AffineExpr loop) {
    if (!loop)
      return index(0);
    return linalg::IndexOp::create(b, loc,
                                   cast<AffineDimExpr>(loop).getPosition());
  }
  /// Returns the number of the element with these places in a window.
  Value numberOf(ArrayRef<Value> places);
  /// Returns whether an element of a window is one of the operand, or null if
  /// all are.
  Value isElement(ArrayRef<AffineExpr> places, ArrayRef<AffineExpr> steps);

  stablehlo::SelectAndScatterOp op;
  ConversionPatternRewriter &b;
  Location loc;
  SmallVector<Dim> dims;
};

/// The loops of an operation of linalg.
class Loops {
public:
  explicit Loops(MLIRContext *context) : context(context) {}

  AffineExpr add() { return getAffineDimExpr(count++, context); }
  /// Adds a loop over `size` elements that are combined, or returns null if
  /// that is 1.
  AffineExpr addReduction(int64_t size) {
    if (size == 1)
      return {};
    reductions.push_back(count);
    window.push_back(size);
    steps.push_back(add());
    return steps.back();
  }
  AffineMap getMap(ArrayRef<AffineExpr> exprs) const {
    return AffineMap::get(count, 0, exprs, context);
  }
  /// Adds an operand that says only how many elements are combined.
  void addWindow(OpBuilder &b, Location loc, Type element,
                 SmallVectorImpl<Value> &inputs,
                 SmallVectorImpl<AffineMap> &maps) const {
    if (window.empty())
      return;
    inputs.push_back(tensor::EmptyOp::create(b, loc, window, element));
    maps.push_back(getMap(steps));
  }
  ArrayRef<int64_t> getReductions() const { return reductions; }

private:
  MLIRContext *context;
  int64_t count = 0;
  SmallVector<int64_t> reductions, window;
  SmallVector<AffineExpr> steps;
};

struct LowerSelectAndScatter
    : OpConversionPattern<stablehlo::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::SelectAndScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
    auto sourceType = cast<RankedTensorType>(adaptor.getSource().getType());
    Combiner scatter(op.getScatter());
    Type from = op.getOperand().getType().getElementType();
    Value init = scatter.prepare(
        rewriter, readScalar(rewriter, loc, adaptor.getInitValue()), 0, from);
    Value result;
    if (type.getNumElements() == 0 || sourceType.getNumElements() == 0) {
      result =
          createFilled(rewriter, loc, type.clone(scatter.getType(0)), init);
    } else {
      SelectionWriter writer(op, type.getShape(), sourceType.getShape(),
                             rewriter);
      FailureOr<Value> selected = writer.select(adaptor.getOperand());
      if (failed(selected))
        return failure();
      Value source = scatter.prepare(rewriter, adaptor.getSource(), 0, from);
      FailureOr<Value> combined =
          writer.combine(source, *selected, init, scatter);
      if (failed(combined))
        return failure();
      result = *combined;
    }
    rewriter.replaceOp(op, scatter.finish(rewriter, result, 0));
    return success();
  }
};

} // namespace

SelectionWriter::SelectionWriter(stablehlo::SelectAndScatterOp op,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> counts,
                                 ConversionPatternRewriter &b)
    : op(op), b(b), loc(op.getLoc()) {
  int64_t rank = shape.size();
  SmallVector<int64_t> sizes = getListOr(op.getWindowDimensions(), rank),
                       strides = getListOr(op.getWindowStrides(), rank), low,
                       high;
  getPadding(op.getPaddingAttr(), rank, low, high);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t phases = i + 1 == rank ? 1 : strides[i];
    dims.push_back({shape[i], counts[i], sizes[i], strides[i], low[i], phases,
                    llvm::divideCeilSigned(sizes[i], phases)});
  }
}

Value SelectionWriter::numberOf(ArrayRef<Value> places) {
  Value sum;
  for (auto [dim, place] : llvm::zip_equal(dims, places))
    sum = sum ? add(multiply(sum, dim.getExtent()), place) : place;
  if (!sum)
    return number(0);
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), sum);
}

Value SelectionWriter::isElement(ArrayRef<AffineExpr> places,
                                 ArrayRef<AffineExpr> steps) {
  Value all;
  for (auto [dim, place, step] : llvm::zip_equal(dims, places, steps)) {
    if (dim.low <= 0 && dim.getReach() - dim.low <= dim.size)
      continue;
    Value where = add(multiply(valueOf(place), dim.stride), valueOf(step));
    where = arith::SubIOp::create(b, loc, where, index(dim.low));
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           where, index(dim.size));
    all = all ? arith::AndIOp::create(b, loc, all, isInside).getResult()
              : isInside;
  }
  return all;
}

FailureOr<Value> SelectionWriter::select(Value operand) {
  Type element = getElementTypeOrSelf(operand.getType());
  Loops loops(b.getContext());
  SmallVector<AffineExpr> places, steps, read;
  SmallVector<int64_t> counts, low, high, ones(dims.size(), 1);
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    places.push_back(loops.add());
  for (const Dim &dim : dims)
    steps.push_back(loops.addReduction(dim.window));
  if (!dims.empty())
    places.push_back(loops.add());
  for (auto [dim, place, step] : llvm::zip_equal(dims, places, steps)) {
    read.push_back(getWindowPlace(place, dim.stride, step, 1));
    counts.push_back(dim.count);
    low.push_back(dim.low);
    high.push_back(dim.getReach() - dim.low - dim.size);
  }
  SmallVector<Value> inputs = {
      emitPadding(b, loc, operand, zero(element), low, high, ones)};
  SmallVector<AffineMap> maps = {loops.getMap(read)};
  loops.addWindow(b, loc, element, inputs, maps);
  auto type = RankedTensorType::get(counts, element);
  SmallVector<Value> inits = {
      createFilled(b, loc, type, zero(element)),
      createFilled(b, loc, type.clone(b.getI32Type()), number(-1))};
  maps.append(2, loops.getMap(places));

  OpBuilder::InsertionGuard guard(b);
  auto generic =
      createGeneric(b, loc, inputs, inits, maps, loops.getReductions());
  Value next = generic.getRegionInputArgs()[0];
  Value current = generic.getRegionOutputArgs()[0];
  Value selected = generic.getRegionOutputArgs()[1];
  auto stays = emitScalarRegion(b, op.getSelect(), ValueRange{current, next});
  if (failed(stays))
    return failure();
  Value hasCurrent = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                           selected, number(0));
  Value keeps = arith::AndIOp::create(b, loc, hasCurrent, stays->front());
  if (Value isInside = isElement(places, steps)) {
    Value isTrue = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
    Value isOutside = arith::XOrIOp::create(b, loc, isInside, isTrue);
    keeps = arith::OrIOp::create(b, loc, keeps, isOutside);
  }
  Value step = numberOf(llvm::map_to_vector(
      steps, [&](AffineExpr each) { return valueOf(each); }));
  Value results[] = {arith::SelectOp::create(b, loc, keeps, current, next),
                     arith::SelectOp::create(b, loc, keeps, selected, step)};
  linalg::YieldOp::create(b, loc, results);
  return generic->getResult(1);
}

FailureOr<Value> SelectionWriter::combine(Value source, Value selected,
                                          Value init,
                                          const Combiner &combiner) {
  Type element = getElementTypeOrSelf(source.getType());
  Loops loops(b.getContext());
  // Loops over q and r, which are dimensions of the result, and over the
  // windows of an element: the first one has the largest j.
  SmallVector<AffineExpr> places, phases, steps, written;
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    places.push_back(loops.add());
    phases.push_back(dims[i].phases > 1 ? loops.add() : AffineExpr());
  }
  for (const Dim &dim : dims)
    steps.push_back(loops.addReduction(dim.steps));
  if (!dims.empty()) {
    places.push_back(loops.add());
    phases.push_back({});
  }
  SmallVector<int64_t> shape, joined, low, high, spread, begin, end,
      ones(dims.size(), 1);
  SmallVector<AffineExpr> read;
  for (auto [dim, place, phase, step] :
       llvm::zip_equal(dims, places, phases, steps)) {
    int64_t first = llvm::divideFloorSigned(dim.low, dim.phases);
    int64_t last = llvm::divideFloorSigned(dim.low + dim.size - 1, dim.phases);
    int64_t size = last - first + 1;
    shape.push_back(size);
    written.push_back(place);
    if (phase) {
      shape.push_back(dim.phases);
      written.push_back(phase);
    }
    joined.push_back(size * dim.phases);
    // Elements before and after those of the operand are removed.
    begin.push_back(first * dim.phases - dim.low);
    end.push_back(dim.size - joined.back() - begin.back());
    spread.push_back(dim.stride / dim.phases);
    int64_t windows = (dim.count - 1) * spread.back() + 1;
    low.push_back(dim.steps - 1 - first);
    high.push_back(size + first - windows);
    read.push_back(getWindowPlace(place, 1, step, 1));
  }
  SmallVector<Value> inputs = {
      emitPadding(b, loc, source, zero(element), low, high, spread),
      emitPadding(b, loc, selected, number(-1), low, high, spread)};
  SmallVector<AffineMap> maps(2, loops.getMap(read));
  loops.addWindow(b, loc, element, inputs, maps);
  maps.push_back(loops.getMap(written));
  auto type = RankedTensorType::get(shape, element);
  Value inits = createFilled(b, loc, type, init);
  linalg::GenericOp generic;
  {
    OpBuilder::InsertionGuard guard(b);
    generic = createGeneric(b, loc, inputs, inits, maps, loops.getReductions());
    Value before = generic.getRegionOutputArgs()[0];
    auto combined = combiner.combine(
        b, before, ValueRange(generic.getRegionInputArgs()[0]));
    if (failed(combined))
      return failure();
    SmallVector<Value> inWindow;
    for (auto [dim, phase, step] : llvm::zip_equal(dims, phases, steps)) {
      Value j = index(dim.steps - 1);
      if (step)
        j = arith::SubIOp::create(b, loc, j, valueOf(step));
      inWindow.push_back(add(multiply(j, dim.phases), valueOf(phase)));
    }
    Value isSelected = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             generic.getRegionInputArgs()[1],
                                             numberOf(inWindow));
    Value result =
        arith::SelectOp::create(b, loc, isSelected, combined->front(), before);
    linalg::YieldOp::create(b, loc, result);
  }
  Value result = emitReshape(b, loc, generic.getResult(0), joined);
  return emitPadding(b, loc, result, init, begin, end, ones);
}

void mlir::pathways::populateSelectAndScatterPatterns(
    const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerSelectAndScatter>(types, patterns.getContext());
}
