//===- Asserts.cpp - Number of the first check that failed ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces asserts by branch-free code that keeps the number of the first
// assert that failed. The function returns it at its end.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::pathways;

/// Returns true if all asserts in `loop` stand directly in its body and may be
/// reported after the loop. The code for such asserts keeps no order between
/// iterations, so the iterations need not run one after the other.
static bool isLate(scf::ForOp loop) {
  return !loop->walk([&](Operation *op) {
                bool isOther = isa<cf::AssertOp>(op) &&
                               (op->getParentOp() != loop ||
                                !op->hasAttr(kernel::kLateAssertAttrName));
                bool isLoop = op != loop && isa<LoopLikeOpInterface>(op);
                return isOther || isLoop ? WalkResult::interrupt()
                                         : WalkResult::advance();
              })
              .wasInterrupted();
}

namespace {

/// Keeps the number of the first failed assert of a function in slots on the
/// stack.
class AssertLowering {
public:
  explicit AssertLowering(func::FuncOp func)
      : func(func), b(func.getContext()), loc(func.getLoc()) {}
  void run();

private:
  Value constant(int64_t value, unsigned width = 32) {
    return arith::ConstantIntOp::create(b, loc, b.getIntegerType(width), value);
  }
  Value addSlot(unsigned width) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    Value slot = memref::AllocaOp::create(
        b, loc, MemRefType::get({}, b.getIntegerType(width)));
    memref::StoreOp::create(b, loc, constant(0, width), slot);
    return slot;
  }
  void lowerLateAsserts(scf::ForOp loop, ArrayRef<cf::AssertOp> asserts);
  /// Records `number`, unless an earlier assert failed or `isFine`.
  void record(Value isFine, int64_t number);

  func::FuncOp func;
  OpBuilder b;
  Location loc;
  Value status;
  /// Flags by number: true if the assert failed in the current loop.
  std::map<int64_t, Value> flags;
};

} // namespace

static int64_t numberOf(cf::AssertOp op) {
  int64_t number = 0;
  [[maybe_unused]] bool isBad = op.getMsg().getAsInteger(10, number);
  assert(!isBad && "asserts were numbered by insertChecks");
  return number;
}

void AssertLowering::record(Value isFine, int64_t number) {
  Value old = memref::LoadOp::create(b, loc, status);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old, constant(0));
  Value fresh = arith::SelectOp::create(b, loc, isFirst, constant(number), old);
  Value next = arith::SelectOp::create(b, loc, isFine, old, fresh);
  memref::StoreOp::create(b, loc, next, status);
}

void AssertLowering::lowerLateAsserts(scf::ForOp loop,
                                      ArrayRef<cf::AssertOp> asserts) {
  std::set<int64_t> numbers;
  for (cf::AssertOp op : asserts) {
    int64_t number = numberOf(op);
    Value &flag = flags[number];
    if (!flag)
      flag = addSlot(8);
    if (numbers.insert(number).second) {
      b.setInsertionPoint(loop);
      memref::StoreOp::create(b, loc, constant(0, 8), flag);
    }
    b.setInsertionPoint(op);
    Value failed = arith::ExtUIOp::create(
        b, loc, b.getI8Type(),
        arith::XOrIOp::create(b, loc, op.getArg(), constant(1, 1)));
    Value old = memref::LoadOp::create(b, loc, flag);
    memref::StoreOp::create(b, loc, arith::OrIOp::create(b, loc, old, failed),
                            flag);
    op.erase();
  }
  b.setInsertionPointAfter(loop);
  for (int64_t number : numbers) {
    Value flag = memref::LoadOp::create(b, loc, flags[number]);
    record(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, flag,
                                 constant(0, 8)),
           number);
  }
}

void AssertLowering::run() {
  Operation *terminator = func.getBody().front().getTerminator();
  SmallVector<cf::AssertOp> asserts;
  func.walk([&](cf::AssertOp op) { asserts.push_back(op); });
  Value result;
  if (!asserts.empty()) {
    status = addSlot(32);
    llvm::MapVector<Operation *, SmallVector<cf::AssertOp>> late;
    llvm::DenseMap<Operation *, bool> known;
    for (cf::AssertOp op : asserts) {
      auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
      if (loop) {
        auto [entry, isNew] = known.try_emplace(loop, false);
        if (isNew)
          entry->second = isLate(loop);
        if (entry->second) {
          late[loop].push_back(op);
          continue;
        }
      }
      b.setInsertionPoint(op);
      record(op.getArg(), numberOf(op));
      op.erase();
    }
    for (auto &[loop, ops] : late)
      lowerLateAsserts(cast<scf::ForOp>(loop), ops);
    b.setInsertionPoint(terminator);
    result = memref::LoadOp::create(b, loc, status);
  } else {
    b.setInsertionPoint(terminator);
    result = constant(0);
  }
  terminator->setOperands(result);
  func.setType(FunctionType::get(
      func.getContext(), func.getBody().getArgumentTypes(), b.getI32Type()));
}

void kernel::lowerAsserts(func::FuncOp func) { AssertLowering(func).run(); }
