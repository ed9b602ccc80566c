//===- Pointers.cpp - Pointers instead of buffers -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion to LLVM represents a buffer as a structure of pointers, an
// offset, sizes and strides. It takes this structure apart at each access, and
// LLVM has to see through it. Here sizes and strides are constants, so a buffer
// is a pointer to its first element. This stage writes such pointers while
// there are still loops, so that addresses are simplified, joined and hoisted
// with everything else.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

bool isVector(VectorType type) {
  return type.getRank() == 1 && !type.isScalable() &&
         !type.getElementType().isIndex();
}

/// Returns true if `op`, which uses or defines buffers, can be written with
/// pointers.
bool isKnownOp(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
            memref::CastOp, memref::GetGlobalOp, memref::LoadOp,
            memref::StoreOp, memref::PrefetchOp,
            memref::ExtractAlignedPointerAsIndexOp,
            memref::ExtractStridedMetadataOp, func::CallOp>(
          [](auto) { return true; })
      .Case([](memref::ViewOp view) {
        return isConstantIntValue(view.getByteShift(), 0);
      })
      .Case([](memref::CopyOp copy) {
        auto source = cast<MemRefType>(copy.getSource().getType()),
             target = cast<MemRefType>(copy.getTarget().getType());
        return source.hasStaticShape() && source.getLayout().isIdentity() &&
               target.getLayout().isIdentity();
      })
      .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
            vector::MaskedStoreOp>(
          [](auto access) { return isVector(access.getVectorType()); })
      .Default([](Operation *) { return false; });
}

/// Rewrites one module.
class PointerWriter {
public:
  explicit PointerWriter(ModuleOp module)
      : module(module),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  /// Returns true if all uses of buffers in the module's functions can be
  /// written.
  bool canWrite();
  void write();

private:
  using Builder = ImplicitLocOpBuilder;

  /// Returns the strides of a buffer if it has one pointer and its strides are
  /// constants and not negative.
  const std::optional<SmallVector<int64_t>> &findStrides(Type type);
  ArrayRef<int64_t> stridesOf(Value buffer) {
    return *findStrides(buffer.getType());
  }
  static constexpr auto kInBounds =
      LLVM::GEPNoWrapFlags::inbounds | LLVM::GEPNoWrapFlags::nuw;

  void writeArguments(func::FuncOp function);
  static void eraseArguments(func::FuncOp function);
  void writeOp(Operation *op);
  void writeLoad(memref::LoadOp op, Builder &b);
  void writeStore(memref::StoreOp op, Builder &b);
  void writeCopy(memref::CopyOp op, Builder &b);
  void writeCall(func::CallOp op, Builder &b);
  void writeMetadata(memref::ExtractStridedMetadataOp op, Builder &b);
  Value pointTo(memref::SubViewOp op, Builder &b);
  static int64_t knownOffsetOf(Value buffer);
  Value baseOf(Value buffer, Builder &b);

  /// Returns by value: adding another pointer would invalidate a reference.
  Value pointerTo(Value buffer) const { return pointers.lookup(buffer); }

  /// Returns the pointer to the element of `buffer` at `subscripts`.
  Value addressOf(Value buffer, ValueRange subscripts, Builder &b,
                  LLVM::GEPNoWrapFlags flags = LLVM::GEPNoWrapFlags::none);
  Value move(Value at, Type element, Value distance, Builder &b,
             LLVM::GEPNoWrapFlags flags);
  template <typename Access> Value vectorAt(Access op, Builder &b) {
    return addressOf(op.getBase(), op.getIndices(), b);
  }
  template <typename Access> static unsigned alignmentOf(Access op) {
    return op.getAlignment().value_or(
        bytesOf(cast<MemRefType>(op.getBase().getType()).getElementType()));
  }

  /// Returns the type that represents an element in memory.
  static Type stored(Type element) {
    return element.isIndex() ? IntegerType::get(element.getContext(), 64)
                             : element;
  }
  /// Returns the alignment that LLVM gives to a number.
  static unsigned bytesOf(Type number) {
    unsigned bits = stored(number).getIntOrFloatBitWidth();
    return llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
  }

  ModuleOp module;
  Type pointer;
  DenseMap<Type, std::optional<SmallVector<int64_t>>> strides;
  DenseMap<Value, Value> pointers;  ///< pointer of each buffer
  SmallVector<Operation *> written; ///< ops to erase
};

} // namespace

const std::optional<SmallVector<int64_t>> &
PointerWriter::findStrides(Type type) {
  auto [it, isNew] = strides.try_emplace(type);
  auto buffer = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> found;
  int64_t offset;
  if (isNew && buffer && !buffer.getMemorySpace() &&
      buffer.getElementType().isIntOrIndexOrFloat() &&
      succeeded(buffer.getStridesAndOffset(found, offset)) &&
      llvm::all_of(found, [](int64_t stride) { return stride >= 0; }))
    it->second = std::move(found);
  return it->second;
}

bool PointerWriter::canWrite() {
  auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
  auto isKnown = [&](Type type) { return findStrides(type).has_value(); };
  return !module
              .walk([&](Operation *op) {
                for (Region &region : op->getRegions())
                  for (Block &block : region)
                    for (Type type : block.getArgumentTypes())
                      if (isBuffer(type) &&
                          (!isa<func::FuncOp>(op) || !isKnown(type)))
                        return WalkResult::interrupt();
                auto takes =
                    llvm::make_filter_range(op->getOperandTypes(), isBuffer);
                auto gives =
                    llvm::make_filter_range(op->getResultTypes(), isBuffer);
                if (takes.empty() && gives.empty())
                  return WalkResult::advance();
                return isKnownOp(op) && llvm::all_of(takes, isKnown) &&
                               llvm::all_of(gives, isKnown)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void PointerWriter::write() {
  for (auto function : module.getOps<func::FuncOp>()) {
    writeArguments(function);
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { writeOp(op); });
  }
  for (Operation *op : llvm::reverse(written))
    op->erase();
  for (auto function : module.getOps<func::FuncOp>())
    eraseArguments(function);
}

/// Appends the new arguments of the function to its old ones, which stay until
/// all their users are rewritten.
void PointerWriter::writeArguments(func::FuncOp function) {
  if (function.isDeclaration())
    return;
  Block &body = function.getBody().front();
  for (BlockArgument old : llvm::to_vector(body.getArguments())) {
    bool isBuffer = isa<MemRefType>(old.getType());
    Value added =
        body.addArgument(isBuffer ? pointer : old.getType(), old.getLoc());
    if (isBuffer)
      pointers[old] = added;
    else
      old.replaceAllUsesWith(added);
  }
}

void PointerWriter::eraseArguments(func::FuncOp function) {
  if (function.isDeclaration())
    return;
  Block &body = function.getBody().front();
  body.eraseArguments(0, function.getNumArguments());
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     function.getResultTypes()));
}

Value PointerWriter::move(Value at, Type element, Value distance, Builder &b,
                          LLVM::GEPNoWrapFlags flags) {
  if (isConstantIntValue(distance, 0))
    return at;
  Value elements = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), distance);
  return LLVM::GEPOp::create(b, pointer, stored(element), at,
                             ArrayRef<LLVM::GEPArg>{elements}, flags);
}

/// Returns the sum of `subscripts`, each times its stride.
static Value distanceOf(ArrayRef<OpFoldResult> subscripts,
                        ArrayRef<int64_t> strides, ImplicitLocOpBuilder &b) {
  int64_t known = 0;
  Value sum;
  for (auto [subscript, stride] : llvm::zip_equal(subscripts, strides)) {
    if (std::optional<int64_t> number = getConstantIntValue(subscript)) {
      known += *number * stride;
      continue;
    }
    Value term = cast<Value>(subscript);
    if (stride != 1)
      term = b.createOrFold<arith::MulIOp>(
          term, arith::ConstantIndexOp::create(b, stride));
    sum = sum ? b.createOrFold<arith::AddIOp>(sum, term) : term;
  }
  if (sum && known == 0)
    return sum;
  Value rest = arith::ConstantIndexOp::create(b, known);
  return sum ? b.createOrFold<arith::AddIOp>(sum, rest) : rest;
}

Value PointerWriter::addressOf(Value buffer, ValueRange subscripts, Builder &b,
                               LLVM::GEPNoWrapFlags flags) {
  Value distance =
      distanceOf(getAsOpFoldResult(subscripts), stridesOf(buffer), b);
  return move(pointerTo(buffer), getElementTypeOrSelf(buffer), distance, b,
              flags);
}

Value PointerWriter::pointTo(memref::SubViewOp op, Builder &b) {
  Value source = op.getSource();
  Value distance = distanceOf(op.getMixedOffsets(), stridesOf(source), b);
  return move(pointerTo(source), getElementTypeOrSelf(source), distance, b,
              LLVM::GEPNoWrapFlags::none);
}

int64_t PointerWriter::knownOffsetOf(Value buffer) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)cast<MemRefType>(buffer.getType()).getStridesAndOffset(strides, offset);
  return ShapedType::isDynamic(offset) ? 0 : offset;
}

/// Returns the base of a buffer. A constant offset, which users may know from
/// the type, is added to the base; any other offset is already in the pointer.
Value PointerWriter::baseOf(Value buffer, Builder &b) {
  return move(pointerTo(buffer), getElementTypeOrSelf(buffer),
              arith::ConstantIndexOp::create(b, -knownOffsetOf(buffer)), b,
              LLVM::GEPNoWrapFlags::none);
}

void PointerWriter::writeMetadata(memref::ExtractStridedMetadataOp op,
                                  Builder &b) {
  auto type = cast<MemRefType>(op.getSource().getType());
  pointers[op.getBaseBuffer()] = baseOf(op.getSource(), b);
  auto give = [&](Value value, int64_t number) {
    value.replaceAllUsesWith(arith::ConstantIndexOp::create(b, number));
  };
  give(op.getOffset(), knownOffsetOf(op.getSource()));
  for (auto [value, size] : llvm::zip_equal(op.getSizes(), type.getShape()))
    give(value, size);
  for (auto [value, stride] :
       llvm::zip_equal(op.getStrides(), stridesOf(op.getSource())))
    give(value, stride);
}

void PointerWriter::writeLoad(memref::LoadOp op, Builder &b) {
  Type element = op.getMemRefType().getElementType();
  Value at = addressOf(op.getMemRef(), op.getIndices(), b, kInBounds);
  Value loaded = LLVM::LoadOp::create(
      b, stored(element), at, op.getAlignment().value_or(0),
      /*isVolatile=*/false, op.getNontemporal());
  op.replaceAllUsesWith(
      element.isIndex()
          ? arith::IndexCastOp::create(b, element, loaded).getResult()
          : loaded);
}

void PointerWriter::writeStore(memref::StoreOp op, Builder &b) {
  Value at = addressOf(op.getMemRef(), op.getIndices(), b, kInBounds);
  Value value = op.getValueToStore();
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
  LLVM::StoreOp::create(b, value, at, op.getAlignment().value_or(0),
                        /*isVolatile=*/false, op.getNontemporal());
}

void PointerWriter::writeCopy(memref::CopyOp op, Builder &b) {
  auto type = cast<MemRefType>(op.getSource().getType());
  const int64_t bytes = type.getNumElements() * bytesOf(type.getElementType());
  LLVM::MemcpyOp::create(
      b, pointerTo(op.getTarget()), pointerTo(op.getSource()),
      LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(bytes)),
      /*isVolatile=*/false);
}

void PointerWriter::writeCall(func::CallOp op, Builder &b) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(isa<MemRefType>(operand.getType()) ? pointerTo(operand)
                                                          : operand);
  auto call =
      func::CallOp::create(b, op.getCallee(), op.getResultTypes(), operands);
  op.replaceAllUsesWith(call.getResults());
}

void PointerWriter::writeOp(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  bool isWritten = true;
  TypeSwitch<Operation *>(op)
      .Case<memref::ViewOp, memref::CastOp>([&](auto view) {
        pointers[view.getResult()] = pointerTo(view.getSource());
      })
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp>([&](auto view) {
        pointers[view.getResult()] = pointerTo(view.getSrc());
      })
      .Case([&](memref::SubViewOp view) {
        pointers[view.getResult()] = pointTo(view, b);
      })
      .Case([&](memref::GetGlobalOp global) {
        pointers[global.getResult()] =
            LLVM::AddressOfOp::create(b, pointer, global.getName());
      })
      .Case([&](memref::ExtractStridedMetadataOp op) { writeMetadata(op, b); })
      .Case([&](memref::ExtractAlignedPointerAsIndexOp op) {
        Value number = LLVM::PtrToIntOp::create(b, b.getI64Type(),
                                                baseOf(op.getSource(), b));
        op.replaceAllUsesWith(
            arith::IndexCastOp::create(b, b.getIndexType(), number)
                .getResult());
      })
      .Case([&](memref::LoadOp load) { writeLoad(load, b); })
      .Case([&](memref::StoreOp store) { writeStore(store, b); })
      .Case([&](memref::CopyOp copy) { writeCopy(copy, b); })
      .Case([&](memref::PrefetchOp op) {
        LLVM::Prefetch::create(b, addressOf(op.getMemref(), op.getIndices(), b),
                               op.getIsWrite(), op.getLocalityHint(),
                               op.getIsDataCache());
      })
      .Case([&](vector::LoadOp load) {
        load.replaceAllUsesWith(
            LLVM::LoadOp::create(b, load.getVectorType(), vectorAt(load, b),
                                 alignmentOf(load), /*isVolatile=*/false,
                                 load.getNontemporal())
                .getResult());
      })
      .Case([&](vector::StoreOp store) {
        LLVM::StoreOp::create(b, store.getValueToStore(), vectorAt(store, b),
                              alignmentOf(store), /*isVolatile=*/false,
                              store.getNontemporal());
      })
      .Case([&](vector::MaskedLoadOp load) {
        load.replaceAllUsesWith(
            LLVM::MaskedLoadOp::create(b, load.getVectorType(),
                                       vectorAt(load, b), load.getMask(),
                                       load.getPassThru(), alignmentOf(load))
                .getResult());
      })
      .Case([&](vector::MaskedStoreOp store) {
        LLVM::MaskedStoreOp::create(b, store.getValueToStore(),
                                    vectorAt(store, b), store.getMask(),
                                    alignmentOf(store));
      })
      .Case([&](func::CallOp call) {
        isWritten =
            llvm::any_of(call.getOperandTypes(), llvm::IsaPred<MemRefType>);
        if (isWritten)
          writeCall(call, b);
      })
      .Default([&](Operation *) { isWritten = false; });
  if (isWritten)
    written.push_back(op);
}

bool kernel::writePointers(ModuleOp module) {
  PointerWriter writer(module);
  if (!writer.canWrite())
    return false;
  writer.write();
  return true;
}
