//===- BufferTable.cpp - Tables of buffers for large functions ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment with n buffers would be a function of n arguments. Attributes of
// arguments are lists that are copied whenever one is added, code generation
// compares all the loads that fill the arguments with each other, and the
// arguments are passed on the stack. So it would take n^2 time and memory, and
// n would be limited. A function with many buffers therefore takes the table
// that its entry point receives, and loads a pointer from it where an op needs
// that buffer.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Replaces the buffer arguments of one function.
class TableTaker {
public:
  TableTaker(func::FuncOp function, kernel::LoweredSegment &segment,
             kernel::PointerToBuffer toBuffer)
      : function(function), segment(segment), toBuffer(toBuffer) {}

  void run();

private:
  bool isReplaced(BlockArgument argument) const;
  void countUses();
  Operation *placeFor(Operation *user) const;
  Value makePointer(OpBuilder &b, Location loc, unsigned argument);

  func::FuncOp function;
  kernel::LoweredSegment &segment;
  kernel::PointerToBuffer toBuffer;
  Value table, scratch;
  /// Number of the arguments that each op uses in its regions.
  DenseMap<Operation *, unsigned> inside;
};

} // namespace

/// Coordinates and the step, which follow the buffers, stay arguments.
bool TableTaker::isReplaced(BlockArgument argument) const {
  unsigned i = argument.getArgNumber();
  return i < segment.buffers || i >= segment.buffers + 2;
}

void TableTaker::countUses() {
  for (BlockArgument argument : function.getArguments()) {
    if (!isReplaced(argument))
      continue;
    SmallPtrSet<Operation *, 8> seen;
    for (Operation *user : argument.getUsers())
      for (Operation *op = user->getParentOp();
           op != function && seen.insert(op).second; op = op->getParentOp())
        ++inside[op];
  }
}

/// Returns the op before which `user` gets its pointers: the outermost op
/// around it that uses few of them. Pointers that are live across a loop occupy
/// registers in it, so a loop that uses many pointers loads them inside.
Operation *TableTaker::placeFor(Operation *user) const {
  Operation *place = user;
  for (Operation *op = user->getParentOp();
       op != function && inside.lookup(op) <= kernel::kMostArguments;
       op = op->getParentOp())
    place = op;
  return place;
}

Value TableTaker::makePointer(OpBuilder &b, Location loc, unsigned argument) {
  Type pointer = table.getType();
  if (argument < segment.buffers) {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, table,
                                     ArrayRef<LLVM::GEPArg>{int32_t(argument)});
    return LLVM::LoadOp::create(b, loc, pointer, slot);
  }
  Value bytes = LLVM::ConstantOp::create(
      b, loc, b.getI64Type(),
      b.getI64IntegerAttr(
          segment.scratchOffsets[argument - segment.buffers - 2]));
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), scratch,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

void TableTaker::run() {
  Block &body = function.getBody().front();
  Location loc = function.getLoc();
  countUses();
  const SmallVector<BlockArgument> arguments(body.getArguments());
  Type pointer = LLVM::LLVMPointerType::get(function.getContext());
  table = body.addArgument(pointer, loc);
  scratch = body.addArgument(pointer, loc);
  OpBuilder b(function.getContext());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (!isReplaced(argument))
      continue;
    llvm::MapVector<Operation *, SmallVector<OpOperand *, 2>> places;
    for (OpOperand &use : argument.getUses())
      places[placeFor(use.getOwner())].push_back(&use);
    for (auto &[place, uses] : places) {
      b.setInsertionPoint(place);
      Value value = makePointer(b, place->getLoc(), i);
      if (auto type = dyn_cast<MemRefType>(argument.getType()))
        value = toBuffer(b, place->getLoc(), type, value);
      for (OpOperand *use : uses)
        use->set(value);
    }
  }
  llvm::BitVector erased(body.getNumArguments());
  for (BlockArgument argument : arguments)
    if (isReplaced(argument))
      erased.set(argument.getArgNumber());
  body.eraseArguments(erased);
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     function.getResultTypes()));
  segment.takesTable = true;
}

void kernel::takeTable(func::FuncOp function, LoweredSegment &segment,
                       PointerToBuffer toBuffer) {
  if (function.getNumArguments() > kMostArguments)
    TableTaker(function, segment, toBuffer).run();
}
