//===- Outline.cpp - Large functions cut into parts -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time to compile a function grows faster than its size, and repeated code,
// such as the layers of a network, would be compiled each time. So in a
// function with many loops, each product, each nest of loops and each run of
// small ops becomes a function of its own, a part, and equal parts share one
// function. Padding before a convolution and elementwise ops on its result join
// its part. A part takes the buffers that it works on, and knows as much of
// them as its caller. Ops that can fail stay in place: parts return nothing.
// Functions with very many arguments are cut up too, since they know nothing of
// their buffers (BufferTable.cpp).
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "runtime/base/buffer_bytes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Functions with fewer linalg ops stay whole, unless they have more than
/// kMostArguments arguments.
constexpr unsigned kLeastOps = 32;
/// Nests of loops with more ops are cut up inside.
constexpr unsigned kMostInside = 128;
/// Largest number of small ops in one part.
constexpr size_t kMostTogether = 16;

/// Cuts up one function.
class Outliner {
public:
  Outliner(ModuleOp module, func::FuncOp func, ArrayRef<bool> isShared)
      : module(module), func(func), isShared(isShared) {}

  void visit(Block &block);

private:
  /// The values and ops that a part needs besides its own ops.
  struct Surroundings {
    llvm::SetVector<Value> arguments;
    llvm::SetVector<Operation *> copied; ///< in order: definitions before uses
  };

  /// Moves `ops` into a part and calls it in the place of the last of them.
  /// Returns false, and changes nothing, if that is not possible.
  bool outline(ArrayRef<Operation *> ops);
  bool findSurroundings(ArrayRef<Operation *> ops, Surroundings &around);
  bool need(Value value, ArrayRef<Operation *> ops, Surroundings &around);
  bool mayBeShared(Value argument);
  func::FuncOp findEqual(func::FuncOp part);

  ModuleOp module;
  func::FuncOp func;
  ArrayRef<bool> isShared;
  /// Parts by a hash of their ops. The map is never iterated, so its order does
  /// not matter.
  llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> known;
  unsigned number = 0;
};

} // namespace

static unsigned countOps(Operation *op) {
  unsigned count = 0;
  op->walk([&](linalg::LinalgOp) { ++count; });
  return count;
}

/// Returns true if the address of a buffer describes it completely.
static bool isWholeBuffer(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.hasStaticShape() && type.getLayout().isIdentity() &&
         type.getNumElements() > 0;
}

/// Returns true if only `ops` use `buffer`, directly or through views.
static bool isOnlyIn(Value buffer, ArrayRef<Operation *> ops) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isOnlyIn(user->getResult(0), ops);
    return llvm::any_of(ops,
                        [&](Operation *op) { return op->isAncestor(user); });
  });
}

/// Makes `value` available to the part. Returns false if that is not possible.
bool Outliner::need(Value value, ArrayRef<Operation *> ops,
                    Surroundings &around) {
  Operation *op = value.getDefiningOp();
  if (around.arguments.contains(value) || (op && around.copied.contains(op)))
    return true;
  bool isBuffer = isa<BaseMemRefType>(value.getType());
  bool isConstant = op && op->hasTrait<OpTrait::ConstantLike>();
  bool isView = op && isBuffer && op->getNumRegions() == 0 &&
                isMemoryEffectFree(op) &&
                isa<ViewLikeOpInterface, memref::GetGlobalOp>(op);
  if (isConstant || isView) {
    for (Value operand : op->getOperands())
      if (!need(operand, ops, around))
        return false;
    around.copied.insert(op);
    return true;
  }
  if (isa_and_nonnull<memref::AllocOp>(op) && isOnlyIn(value, ops)) {
    around.copied.insert(op);
    return true;
  }
  // For other buffers it is not known whether they share memory.
  if (isBuffer) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOfFunction =
        argument && argument.getOwner() == &func.getBody().front();
    // The coordinates, which are the last argument, have any alignment.
    if (isOfFunction && argument.getArgNumber() + 1 == isShared.size())
      return false;
    if (!isWholeBuffer(value) ||
        !(isOfFunction || isa_and_nonnull<memref::AllocOp>(op)))
      return false;
  } else if (!value.getType().isIntOrIndexOrFloat()) {
    return false;
  }
  around.arguments.insert(value);
  return true;
}

bool Outliner::findSurroundings(ArrayRef<Operation *> ops,
                                Surroundings &around) {
  for (Operation *op : ops) {
    if (!op->use_empty())
      return false;
    WalkResult walk = op->walk([&](Operation *inner) {
      if (isa<cf::AssertOp>(inner))
        return WalkResult::interrupt();
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getParentBlock()->getParentOp();
        if (!op->isAncestor(owner) && !need(operand, ops, around))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return false;
  }
  return true;
}

bool Outliner::mayBeShared(Value argument) {
  auto outer = dyn_cast<BlockArgument>(argument);
  return outer && isa<MemRefType>(argument.getType()) && // excludes the step
         isShared[outer.getArgNumber()];
}

/// Returns a hash that is equal for equal parts.
static size_t hashOf(func::FuncOp part) {
  llvm::hash_code hash = hash_value(part.getFunctionType());
  part.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  // avoids the keys that DenseMap reserves
  return static_cast<size_t>(hash) >> 1;
}

func::FuncOp Outliner::findEqual(func::FuncOp part) {
  SmallVector<func::FuncOp, 1> &similar = known[hashOf(part)];
  for (func::FuncOp other : similar)
    if (other.getFunctionType() == part.getFunctionType() &&
        other->getAttr(kernel::kPartAttrName) ==
            part->getAttr(kernel::kPartAttrName) &&
        OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &part.getBody(),
            OperationEquivalence::IgnoreLocations))
      return other;
  similar.push_back(part);
  return {};
}

bool Outliner::outline(ArrayRef<Operation *> ops) {
  Surroundings around;
  if (!findSurroundings(ops, around) ||
      around.arguments.size() > kernel::kMostArguments)
    return false;

  Location loc = ops.back()->getLoc();
  SmallVector<Type> types;
  SmallVector<bool> shared;
  for (Value argument : around.arguments) {
    types.push_back(argument.getType());
    shared.push_back(mayBeShared(argument));
  }
  OpBuilder b(module.getContext());
  // The part joins the module only if it is kept.
  auto part = func::FuncOp::create(
      loc, (func.getName() + ".part." + Twine(number)).str(),
      b.getFunctionType(types, {}));
  part.setPrivate();
  part->setAttr(kernel::kPartAttrName, b.getDenseBoolArrayAttr(shared));
  Block *body = part.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping map;
  for (auto [outer, inner] :
       llvm::zip_equal(around.arguments, body->getArguments()))
    map.map(outer, inner);
  for (Operation *op : around.copied)
    b.clone(*op, map);
  for (Operation *op : ops)
    b.clone(*op, map);
  func::ReturnOp::create(b, loc);

  if (func::FuncOp equal = findEqual(part)) {
    part.erase();
    part = equal;
  } else {
    module.push_back(part);
    ++number;
  }
  b.setInsertionPoint(ops.back());
  func::CallOp::create(b, loc, part, around.arguments.getArrayRef());
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return true;
}

/// Returns true if `op` initializes the value that `next` adds to: one part for
/// both is cheaper.
static bool isFillOf(Operation *op, Operation *next) {
  auto fill = dyn_cast<linalg::LinalgOp>(op);
  auto sum = dyn_cast<linalg::LinalgOp>(next);
  return fill && sum && fill.getNumDpsInits() == 1 &&
         fill.getDpsInits()[0] == sum.getDpsInits()[0];
}

/// Returns true if `op` writes the padding of an operand of `next`, or copies
/// into its inside.
static bool isPaddingOf(Operation *op, linalg::LinalgOp next) {
  auto copy = dyn_cast<memref::CopyOp>(op);
  Value buffer = copy ? kernel::wholeOf(copy.getTarget()) : Value();
  if (auto fill = dyn_cast<linalg::LinalgOp>(op);
      fill && fill.getNumDpsInits() == 1 &&
      kernel::valueSetBy(op, fill.getDpsInits()[0]))
    buffer = fill.getDpsInits()[0];
  return buffer && llvm::is_contained(next.getDpsInputs(), buffer);
}

/// Returns the next op if it changes the result of `op` element by element,
/// otherwise null.
static Operation *findTail(linalg::LinalgOp op) {
  Operation *next = op->getNextNode();
  while (next && (isa<memref::AllocOp>(next) ||
                  (next->getNumRegions() == 0 && isMemoryEffectFree(next))))
    next = next->getNextNode();
  auto tail = dyn_cast_or_null<linalg::LinalgOp>(next);
  return tail && tail.getNumLoops() == tail.getNumParallelLoops() &&
                 llvm::is_contained(tail.getDpsInputs(), op.getDpsInits()[0])
             ? next
             : nullptr;
}

void Outliner::visit(Block &block) {
  SmallVector<Operation *> run;
  llvm::SmallDenseSet<Value, 64> operands; // operands of the run
  auto flush = [&] {
    if (!run.empty())
      outline(run);
    run.clear();
    operands.clear();
  };
  for (auto it = block.begin(); it != block.end();) {
    Operation &op = *it++;
    // A run may move across these ops to the place of its call.
    if (isa<memref::AllocOp>(op) ||
        (op.getNumRegions() == 0 && isMemoryEffectFree(&op)))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isWindow = structured && kernel::isWindowed(structured);
    bool isProduct =
        isWindow || (structured && kernel::isContraction(structured));
    if ((structured && !isProduct) || isa<memref::CopyOp>(op)) {
      if (operands.size() + op.getNumOperands() > kernel::kMostArguments)
        flush();
      run.push_back(&op);
      operands.insert(op.operand_begin(), op.operand_end());
      if (run.size() == kMostTogether)
        flush();
      continue;
    }
    bool isNest = isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op);
    SmallVector<Operation *> ops;
    while (isProduct && !run.empty() &&
           (isFillOf(run.back(), &op) ||
            (isWindow && isPaddingOf(run.back(), structured))))
      ops.insert(ops.begin(), run.pop_back_val());
    flush();
    ops.push_back(&op);
    if (Operation *tail = isWindow ? findTail(structured) : nullptr) {
      ops.push_back(tail);
      it = std::next(tail->getIterator());
    }
    if ((isProduct || (isNest && countOps(&op) <= kMostInside)) && outline(ops))
      continue;
    if (isNest)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner);
  }
  flush();
}

void kernel::outlineParts(func::FuncOp func, ArrayRef<bool> isShared) {
  if (countOps(func) < kLeastOps && func.getNumArguments() <= kMostArguments)
    return;
  Outliner(func->getParentOfType<ModuleOp>(), func, isShared)
      .visit(func.getBody().front());
}

void kernel::takeBuffersOfParts(ModuleOp module) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) { calls.push_back(call); });
  llvm::DenseMap<StringRef, SmallVector<MemRefType>> added;
  for (auto part : module.getOps<func::FuncOp>()) {
    auto isShared = part->getAttrOfType<DenseBoolArrayAttr>(kPartAttrName);
    if (!isShared)
      continue;
    SmallVector<bool> shared(isShared.asArrayRef());
    Block &body = part.getBody().front();
    SmallVector<MemRefType> &types = added[part.getName()];
    part.walk([&](memref::AllocOp alloc) {
      types.push_back(alloc.getType());
      shared.push_back(false);
      alloc.replaceAllUsesWith(static_cast<Value>(
          body.addArgument(alloc.getType(), alloc.getLoc())));
      alloc.erase();
    });
    part.setType(FunctionType::get(module.getContext(), body.getArgumentTypes(),
                                   part.getResultTypes()));
    part->setAttr(kPartAttrName,
                  DenseBoolArrayAttr::get(module.getContext(), shared));
  }
  for (func::CallOp call : calls) {
    OpBuilder b(call);
    for (MemRefType type : added.lookup(call.getCallee()))
      call.getOperandsMutable().append(
          memref::AllocOp::create(
              b, call.getLoc(), type,
              b.getI64IntegerAttr(::pathways::kBufferAlignment))
              .getResult());
  }
}
