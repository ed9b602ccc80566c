//===- Loops.cpp - Loops that carry tensors -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of scf, and places of elements that cannot be out of range.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

Value mlir::pathways::createIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

FailureOr<SmallVector<Value>>
mlir::pathways::emitLoop(ConversionPatternRewriter &b, Location loc, Value low,
                         Value high, Value step, ValueRange inits,
                         LoopBody body) {
  auto loop = scf::ForOp::create(b, loc, low, high, step, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, loc, *next);
  return SmallVector<Value>(loop.getResults());
}

/// Emits the loops of emitLoops() that are left, inside of loops whose numbers
/// `places` holds.
static FailureOr<SmallVector<Value>>
emitRest(ConversionPatternRewriter &b, Location loc, ArrayRef<int64_t> sizes,
         SmallVector<Value> &places, ValueRange inits, LoopBody body) {
  if (places.size() == sizes.size())
    return body(places, inits);
  int64_t size = sizes[places.size()];
  Value zero = createIndex(b, loc, 0);
  auto emitInside = [&](Value place,
                        ValueRange carried) -> FailureOr<SmallVector<Value>> {
    places.push_back(place);
    auto results = emitRest(b, loc, sizes, places, carried, body);
    places.pop_back();
    return results;
  };
  if (size == 1)
    return emitInside(zero, inits);
  return emitLoop(b, loc, zero, createIndex(b, loc, size),
                  createIndex(b, loc, 1), inits,
                  [&](ValueRange place, ValueRange carried) {
                    return emitInside(place.front(), carried);
                  });
}

FailureOr<SmallVector<Value>>
mlir::pathways::emitLoops(ConversionPatternRewriter &b, Location loc,
                          ArrayRef<int64_t> sizes, ValueRange inits,
                          LoopBody body) {
  SmallVector<Value> places;
  return emitRest(b, loc, sizes, places, inits, body);
}

Value mlir::pathways::emitClampedIndices(OpBuilder &b, Location loc,
                                         Value integers, Type element,
                                         int64_t low, int64_t high) {
  Type type = b.getI64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(integers.getType()))
    type = tensor.clone(type);
  const bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (element.getIntOrFloatBitWidth() < 64)
    integers = isUnsigned
                   ? arith::ExtUIOp::create(b, loc, type, integers).getResult()
                   : arith::ExtSIOp::create(b, loc, type, integers).getResult();
  Value highest = createConstant(b, loc, type, APInt(64, high));
  // An unsigned number of 64 bits may look negative.
  if (isUnsigned)
    return arith::MinUIOp::create(b, loc, integers, highest);
  Value lowest =
      createConstant(b, loc, type, APInt(64, low, /*isSigned=*/true));
  integers = arith::MaxSIOp::create(b, loc, integers, lowest);
  return arith::MinSIOp::create(b, loc, integers, highest);
}

Value mlir::pathways::emitIndex(OpBuilder &b, Location loc, Value value) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

static SmallVector<OpFoldResult> getAttributes(OpBuilder &b,
                                               ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(sizes, [&](int64_t size) -> OpFoldResult {
    return b.getIndexAttr(size);
  });
}

/// Returns true if canonicalization keeps a slice of `sizes` with `type`. It
/// gives slices whose offsets become constants a type without the first
/// dimensions of size 1, and casts that to the type before, which may have
/// another shape.
static bool isCanonicalSlice(RankedTensorType type, Value tensor,
                             ArrayRef<int64_t> sizes) {
  return tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
             type.getRank(), cast<RankedTensorType>(tensor.getType()), sizes) ==
         type;
}

Value mlir::pathways::emitSlice(OpBuilder &b, Location loc, Value tensor,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> kept) {
  SmallVector<int64_t> shape;
  for (int64_t dim : kept)
    shape.push_back(sizes[dim]);
  auto whole = cast<RankedTensorType>(tensor.getType()).clone(sizes);
  auto type = whole.clone(shape);
  SmallVector<OpFoldResult> attributes = getAttributes(b, sizes),
                            steps(sizes.size(), b.getIndexAttr(1));
  if (isCanonicalSlice(type, tensor, sizes))
    return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets,
                                          attributes, steps);
  Value slice = tensor::ExtractSliceOp::create(b, loc, whole, tensor, offsets,
                                               attributes, steps);
  return emitReshape(b, loc, slice, shape);
}

Value mlir::pathways::emitInsertSlice(OpBuilder &b, Location loc, Value slice,
                                      Value tensor,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> attributes = getAttributes(b, sizes),
                            steps(sizes.size(), b.getIndexAttr(1));
  if (!isCanonicalSlice(cast<RankedTensorType>(slice.getType()), tensor, sizes))
    slice = emitReshape(b, loc, slice, sizes);
  return tensor::InsertSliceOp::create(b, loc, slice, tensor, offsets,
                                       attributes, steps);
}
