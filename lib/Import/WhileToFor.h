//===- WhileToFor.h - Counted loops that become pw.for ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_WHILETOFOR_H
#define PATHWAYS_LIB_IMPORT_WHILETOFOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways {

/// A loop that becomes a pw.for. A func.call of `body` is where the loop was:
/// its operands are those of the loop, and then the values from above that the
/// body reads. Its results are those of the loop. Types of stepped operands and
/// results have a leading dimension that the arguments and results of the body
/// lack.
struct ForLoop {
  func::FuncOp body; ///< computes one iteration
  int64_t trips;
  SmallVector<LoopUse> operandUses, resultUses;
  StringAttr schedule, label; ///< null: there is none
};

/// The loops that become pw.for, by the calls in their places.
using ForLoops = DenseMap<Operation *, ForLoop>;

/// Gives each operand of `call` that is a constant, or a broadcast, an
/// operation of its own. It can then be computed where the loop reads it.
void cloneSharedConstants(func::CallOp call);

/// Makes a pw.for of a stablehlo.while whose number of iterations is a
/// constant. The caller may change the body between outline() and replace(), to
/// inline the functions that it calls.
class WhileToFor {
public:
  /// `trips` is what getTripCount() returns for `loop`.
  WhileToFor(stablehlo::WhileOp loop, int64_t trips)
      : loop(loop), trips(trips) {}

  /// Creates a function with a copy of the body. Its arguments are the carried
  /// values, and then the values from above.
  func::FuncOp outline(SymbolTable &symbols);
  /// Replaces the loop by a call, and adds that to `loops`. Returns false, and
  /// leaves the loop as it is, if it cannot be a pw.for; then getReason() says
  /// why.
  bool replace(ForLoops &loops);
  StringRef getReason() const { return reason; }

private:
  bool canReplace();
  void classify();
  void takeSteppedOperands(BlockArgument argument, Value outside);
  void replaceCounter(BlockArgument counter);
  void eraseDeadOps();

  stablehlo::WhileOp loop;
  int64_t trips;
  func::FuncOp body;
  StringRef reason;
  /// Values from above, in the order of their arguments.
  SmallVector<Value> above;

  /// A value outside of the loop, and the argument of the body for it.
  using Input = std::pair<Value, BlockArgument>;
  SmallVector<Input> steppedInputs, carriedInputs, aboveInputs;
  SmallVector<LoopUse> steppedUses, resultUses;
  /// The values that the body returns, and the numbers of the results of the
  /// loop that they are.
  SmallVector<Value> yielded;
  SmallVector<unsigned> resultOf;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_WHILETOFOR_H
