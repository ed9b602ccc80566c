//===- Verify.cpp - Parts of verifiers ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::stablehlo;
using namespace mlir::pathways::stablehlo::detail;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns 'p', 'i' or 'f', or 0 for an element type that is not supported.
static char getKind(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return integer.isSignless() ? 'p' : 0;
    bool isKnown = width == 8 || width == 16 || width == 32 || width == 64;
    return isKnown && !integer.isSigned() ? 'i' : 0;
  }
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type) ? 'f'
                                                                        : 0;
}

bool stablehlo::detail::isTensorOf(Type type, StringRef kinds) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  char kind = getKind(tensor.getElementType());
  return kind == 0 || kinds.contains(kind);
}

static LogicalResult verifySupported(Operation *op, Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type each : tuple)
      if (failed(verifySupported(op, each)))
        return failure();
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  if (!tensor.hasStaticShape())
    return op->emitOpError("has a dynamic shape, which is not supported: ")
           << type;
  Type element = tensor.getElementType();
  if (getKind(element) != 0)
    return success();
  if (isa<ComplexType>(element))
    return op->emitOpError("has complex elements, which are not supported: ")
           << type;
  if (isa<quant::QuantizedType>(element))
    return op->emitOpError("has quantized elements, which are not supported: ")
           << type;
  return op->emitOpError("expected element type i1, i8, i16, i32, i64, ui8, "
                         "ui16, ui32, ui64, f16, bf16, f32 or f64, got ")
         << type;
}

LogicalResult stablehlo::detail::verifySupportedTypes(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (failed(verifySupported(op, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifySupported(op, type)))
      return failure();
  return success();
}

/// The types of all operands, then of all results.
static SmallVector<Type> getAllTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

LogicalResult stablehlo::detail::verifySameTypes(Operation *op) {
  SmallVector<Type> types = getAllTypes(op);
  for (Type type : types)
    if (type != types.front())
      return op->emitOpError(
                 "expected operands and results to have the same type, got ")
             << types.front() << " and " << type;
  return success();
}

LogicalResult stablehlo::detail::verifySameShapes(Operation *op) {
  SmallVector<Type> types = getAllTypes(op);
  for (Type type : types)
    if (cast<RankedTensorType>(type).getShape() !=
        cast<RankedTensorType>(types.front()).getShape())
      return op->emitOpError(
                 "expected operands and results to have the same shape, got ")
             << types.front() << " and " << type;
  return success();
}

RankedTensorType stablehlo::detail::getScalar(RankedTensorType type) {
  return RankedTensorType::get({}, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Numbers and lists
//===----------------------------------------------------------------------===//

int64_t stablehlo::detail::multiplyAdd(int64_t a, int64_t b, int64_t c) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  __int128 result = static_cast<__int128>(a) * b + c;
  return static_cast<int64_t>(std::clamp<__int128>(result, kLeast, kMost));
}

int64_t stablehlo::detail::countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    count = multiplyAdd(count, size, 0);
  return count;
}

LogicalResult stablehlo::detail::verifyDims(Operation *op, StringRef name,
                                            ArrayRef<int64_t> dims,
                                            int64_t rank, Dims kind) {
  llvm::SmallSet<int64_t, 8> seen;
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (failed(verifyDim(op, name, dim, rank)))
      return failure();
    if (kind != Dims::kAny && !seen.insert(dim).second)
      return op->emitOpError("expected dimensions in ")
             << name << " to differ, got " << dim << " twice";
    if (kind == Dims::kSorted && dim < last)
      return op->emitOpError("expected ")
             << name << " to be sorted, got " << dim << " after " << last;
    last = dim;
  }
  return success();
}

LogicalResult stablehlo::detail::verifyDim(Operation *op, StringRef name,
                                           int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("expected ")
         << name << " to be at least 0 and less than " << rank << ", got "
         << dim;
}

LogicalResult stablehlo::detail::verifySize(Operation *op, StringRef name,
                                            size_t size, size_t expected) {
  if (size == expected)
    return success();
  return op->emitOpError("expected ")
         << name << " to have " << expected << " elements, got " << size;
}

LogicalResult stablehlo::detail::verifyAtLeast(Operation *op, StringRef name,
                                               ArrayRef<int64_t> list,
                                               int64_t least) {
  for (int64_t each : list)
    if (each < least)
      return op->emitOpError("expected ")
             << name << " of at least " << least << ", got " << each;
  return success();
}

LogicalResult stablehlo::detail::verifyTensor(Operation *op, StringRef name,
                                              Type type,
                                              ArrayRef<int64_t> shape,
                                              Type element) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getShape() == shape && tensor.getElementType() == element)
    return success();
  // A shape that follows from attributes may be one that no type has.
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return op->emitOpError("expected sizes of at least 0 for ") << name;
  return op->emitOpError("expected ")
         << name << " to be " << RankedTensorType::get(shape, element)
         << ", got " << type;
}

LogicalResult stablehlo::detail::verifyScalar(Operation *op, StringRef name,
                                              Type type) {
  if (cast<RankedTensorType>(type).getRank() == 0)
    return success();
  return op->emitOpError("expected ")
         << name << " to be a scalar, got " << type;
}

LogicalResult stablehlo::detail::verifyIndices(Operation *op,
                                               OperandRange indices) {
  for (Value index : indices) {
    if (failed(verifyScalar(op, "indices", index.getType())))
      return failure();
    if (index.getType() != indices.front().getType())
      return op->emitOpError("expected indices to have the same type, got ")
             << indices.front().getType() << " and " << index.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult stablehlo::detail::verifyRegion(Operation *op, StringRef name,
                                              Region &region,
                                              TypeRange arguments,
                                              TypeRange results) {
  Block &block = region.front();
  if (TypeRange(block.getArgumentTypes()) != arguments)
    return op->emitOpError("expected region ")
           << name << " to take (" << arguments << "), got ("
           << block.getArgumentTypes() << ")";
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end)
    return op->emitOpError("expected region ")
           << name << " to end with stablehlo.return";
  if (TypeRange(end.getOperandTypes()) != results)
    return op->emitOpError("expected region ")
           << name << " to return (" << results << "), got ("
           << end.getOperandTypes() << ")";
  return success();
}

LogicalResult stablehlo::detail::verifyReducer(Operation *op, StringRef name,
                                               Region &region,
                                               ArrayRef<Type> inputs,
                                               ArrayRef<Type> elements) {
  SmallVector<Type> scalars;
  for (Type element : elements)
    scalars.push_back(RankedTensorType::get({}, element));
  SmallVector<Type> arguments(scalars);
  llvm::append_range(arguments, scalars);
  if (failed(verifyRegion(op, name, region, arguments, scalars)))
    return failure();
  for (auto [input, element] : llvm::zip(inputs, elements))
    if (getKind(input) != getKind(element) ||
        input.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth() ||
        input.isUnsignedInteger() != element.isUnsignedInteger())
      return op->emitOpError("expected element type ")
             << input << " to be " << element << ", or a narrower one";
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
stablehlo::detail::verifyWindow(Operation *op, ArrayRef<int64_t> shape,
                                const WindowLists &lists) {
  size_t rank = shape.size();
  auto isBad = [&](StringRef name, std::optional<ArrayRef<int64_t>> list) {
    return list && (failed(verifySize(op, name, list->size(), rank)) ||
                    failed(verifyAtLeast(op, name, *list, 1)));
  };
  if (isBad("window_dimensions", lists.sizes) ||
      isBad("window_strides", lists.strides) ||
      isBad("base dilations", lists.baseDilations) ||
      isBad("window dilations", lists.windowDilations))
    return failure();
  SmallVector<int64_t> padding(rank * 2);
  if (lists.padding) {
    if (lists.padding.getType().getShape() !=
        ArrayRef<int64_t>{static_cast<int64_t>(rank), 2})
      return op->emitOpError("expected padding to have 2 numbers for each of ")
             << rank << " dimensions, got " << lists.padding.getType();
    llvm::copy(lists.padding.getValues<int64_t>(), padding.begin());
  }
  auto get = [](std::optional<ArrayRef<int64_t>> list, size_t i) {
    return list ? (*list)[i] : 1;
  };
  auto dilate = [](int64_t size, int64_t dilation) {
    return size == 0 ? 0 : multiplyAdd(size - 1, dilation, 1);
  };
  SmallVector<int64_t> counts;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = dilate(shape[i], get(lists.baseDilations, i));
    size = multiplyAdd(1, size, padding[2 * i]);
    size = multiplyAdd(1, size, padding[2 * i + 1]);
    int64_t window = dilate(get(lists.sizes, i), get(lists.windowDilations, i));
    counts.push_back(size <= 0 || window > size
                         ? 0
                         : (size - window) / get(lists.strides, i) + 1);
  }
  return counts;
}
