//===- Segments.h - Cut a body at its collectives ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A gang runs segments of straight code on every shard and collectives between
/// them. This file turns the body of one computation into that form: functions
/// on tensors, inputs to outputs, plus the order in which they and the
/// collectives run and the temporaries that connect them.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_CODEGEN_SEGMENTS_H
#define PATHWAYS_CODEGEN_SEGMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::pathways {

class ArrayType;
class MeshAttr;

/// Function attribute of a segment: the MeshAttr whose axes pw.shard_index
/// names, in the order of the coordinates the code receives.
inline constexpr llvm::StringLiteral kSegmentMeshAttrName = "segment_mesh";

/// Function attribute of a segment: an array of pairs (input, output), both
/// indices as integers in an `array<i64: input, output, input, output...>`, of
/// buffers that are the same memory at run time. All other buffers are assumed
/// distinct, but one buffer may be passed as several inputs.
inline constexpr llvm::StringLiteral kSegmentAliasAttrName =
    "segment_may_alias";

/// One array of a computation, as its caller sees it.
struct SegmentValue {
  enum class Kind { Argument, Result, Temp };
  Kind kind = Kind::Argument;
  unsigned index = 0;

  bool operator==(const SegmentValue &) const = default;
};

/// Either a segment or a collective.
struct SegmentStep {
  /// Symbol name of the segment function; empty for a collective.
  std::string segment;
  /// One per argument and one per result of the segment function.
  SmallVector<SegmentValue> inputs, outputs;

  /// The pw collective, else null. Lives in SegmentedBody::inlined.
  Operation *collective = nullptr;
  SegmentValue source, result;

  bool isCollective() const { return collective != nullptr; }
};

/// A body cut at its collectives. Every result and every temporary is written
/// by exactly one step, and before it is read. A segment may read a result that
/// an earlier step wrote.
struct SegmentedBody {
  /// Shapes of the temporaries, those of one shard. Elements are types that a
  /// buffer may have (scalars that cross a cut become rank 0).
  SmallVector<RankedTensorType> temps;
  SmallVector<SegmentStep> steps;
  /// Where the caller's builder put them, in the order of the steps.
  SmallVector<func::FuncOp> segments;
  /// The body after inlining; owns the collectives of `steps`.
  OwningOpRef<func::FuncOp> inlined;
};

/// Clones `body`, calls inlined, into segment functions that `builder` inserts
/// at its insertion point, named `name` with a number when there is more than
/// one; `body` is unchanged. pw.valid_extent becomes arithmetic on
/// pw.shard_index for the layouts in `operandTypes` (one per argument), which
/// stays and refers to kSegmentMeshAttrName. A body without work, such as one
/// that only returns a collective's result, has steps without segments.
/// Collectives stay in their order; between two of them is a segment only if
/// the second one needs what follows from the first.
///
/// Loops and branches around collectives are written out: bounds and conditions
/// are constants, or follow from these and the numbers of such loops.
///
/// Fails, with a diagnostic, on recursion, calls to declarations, bodies of
/// more than one block, collectives inside another nested region or in a loop
/// of more than 1024 iterations, and bodies that become too large by inlining.
FailureOr<SegmentedBody> splitAtCollectives(func::FuncOp body, MeshAttr mesh,
                                            ArrayRef<ArrayType> operandTypes,
                                            OpBuilder &builder, StringRef name);

/// An argument and a result of a body in the same memory.
using AliasPair = std::pair<unsigned, unsigned>;

/// Knows which results of a body may occupy the memory of which arguments.
class SegmentAliases {
public:
  explicit SegmentAliases(const SegmentedBody &body);

  /// Whether result `result` may occupy the memory of argument `argument`: no
  /// step after the first write of the result reads the argument, and no
  /// collective reads the one and writes the other.
  bool canAlias(unsigned argument, unsigned result) const;

private:
  struct Write {
    unsigned step;
    bool isCollective;
  };
  llvm::DenseMap<unsigned, unsigned> lastReads; ///< steps, by argument
  llvm::DenseMap<unsigned, Write> firstWrites;  ///< by result
};

/// Records on the segments of `body` that results occupy the memory of
/// arguments: a segment that reads the one and writes the other gets the pair
/// added to its kSegmentAliasAttrName. Requires canAlias.
void addAliases(SegmentedBody &body, ArrayRef<AliasPair> aliases);

} // namespace mlir::pathways

#endif // PATHWAYS_CODEGEN_SEGMENTS_H
