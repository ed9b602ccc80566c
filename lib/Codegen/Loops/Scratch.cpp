//===- Scratch.cpp - Scratch memory of a segment --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "runtime/base/buffer_bytes.h"

using namespace mlir;
using namespace mlir::pathways;

static constexpr uint64_t kAlignment = ::pathways::kBufferAlignment;

LogicalResult kernel::assignScratch(func::FuncOp func,
                                    SmallVectorImpl<uint64_t> &offsets,
                                    uint64_t &bytes) {
  Block &body = func.getBody().front();
  llvm::DenseMap<Operation *, unsigned> position;
  for (Operation &op : body)
    position[&op] = position.size();

  struct Interval {
    memref::AllocOp alloc;
    unsigned begin, end;
    uint64_t bytes;
  };
  std::vector<Interval> intervals;
  BufferViewFlowAnalysis aliases(func);
  WalkResult walk = func.walk([&](Operation *op) -> WalkResult {
    if (isa<memref::AllocaOp, memref::ReallocOp>(op))
      return op->emitOpError("is not supported in a kernel");
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return WalkResult::advance();
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return alloc.emitOpError("needs a buffer of ")
             << type << ", whose size is not known at compile time";
    uint64_t element =
        type.getElementType().isIndex() ? 8 : type.getElementTypeBitWidth() / 8;
    unsigned begin = position.lookup(body.findAncestorOpInBlock(*op));
    unsigned end = begin;
    auto loop = alloc->getParentOfType<LoopLikeOpInterface>();
    for (Value value : aliases.resolve(alloc.getMemref())) {
      // Two iterations would then need two buffers.
      if (loop &&
          !loop->isProperAncestor(value.getParentBlock()->getParentOp()) &&
          value.getParentBlock()->getParentOp() != loop)
        return alloc.emitOpError(
            "is a buffer that outlives its loop's iteration, "
            "which a kernel does not support");
      if (loop && isa<BlockArgument>(value) &&
          value.getParentBlock()->getParentOp() == loop)
        return alloc.emitOpError(
            "is a buffer that outlives its loop's iteration, "
            "which a kernel does not support");
      kernel::forEachUser(value, [&](Operation *user) {
        end = std::max(end, position.lookup(body.findAncestorOpInBlock(*user)));
      });
    }
    uint64_t size = llvm::alignTo(
        std::max<uint64_t>(type.getNumElements() * element, 1), kAlignment);
    intervals.push_back({alloc, begin, end, size});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  // In order of begin, each buffer takes the smallest free region that it fits
  // into, or else the largest free one, which then grows.
  struct Region {
    uint64_t bytes;
    unsigned end;
  };
  std::vector<Region> regions;
  std::vector<unsigned> regionOf(intervals.size());
  llvm::stable_sort(intervals, [](const Interval &a, const Interval &b) {
    return a.begin < b.begin;
  });
  for (auto [i, interval] : llvm::enumerate(intervals)) {
    int best = -1;
    for (auto [r, region] : llvm::enumerate(regions)) {
      if (region.end >= interval.begin)
        continue;
      if (best < 0) {
        best = r;
        continue;
      }
      bool fits = region.bytes >= interval.bytes;
      bool bestFits = regions[best].bytes >= interval.bytes;
      if (fits != bestFits ? fits
                           : (fits ? region.bytes < regions[best].bytes
                                   : region.bytes > regions[best].bytes))
        best = r;
    }
    if (best < 0) {
      best = regions.size();
      regions.push_back({interval.bytes, interval.end});
    }
    regions[best].bytes = std::max(regions[best].bytes, interval.bytes);
    regions[best].end = interval.end;
    regionOf[i] = best;
  }

  bytes = 0;
  OpBuilder b(func.getContext());
  unsigned firstArgument = body.getNumArguments();
  for (const Region &region : regions) {
    offsets.push_back(bytes);
    bytes += region.bytes;
    body.addArgument(
        MemRefType::get({static_cast<int64_t>(region.bytes)}, b.getI8Type()),
        func.getLoc());
  }
  for (auto [i, interval] : llvm::enumerate(intervals)) {
    b.setInsertionPoint(interval.alloc);
    Location loc = interval.alloc.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value view = memref::ViewOp::create(
        b, loc, interval.alloc.getType(),
        body.getArgument(firstArgument + regionOf[i]), zero, ValueRange());
    interval.alloc.replaceAllUsesWith(view);
    interval.alloc.erase();
  }
  // Bare pointers cannot represent the strides of a buffer without elements.
  b.setInsertionPointToStart(&body);
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getNumElements() != 0)
      continue;
    argument.setType(MemRefType::get({0}, b.getI8Type()));
    if (argument.use_empty())
      continue;
    Value zero = arith::ConstantIndexOp::create(b, func.getLoc(), 0);
    auto view = memref::ViewOp::create(b, func.getLoc(), type, argument, zero,
                                       ValueRange());
    argument.replaceAllUsesExcept(view, view);
  }
  func.setType(FunctionType::get(func.getContext(), body.getArgumentTypes(),
                                 func.getResultTypes()));
  return success();
}
