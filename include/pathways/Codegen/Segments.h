//===- Segments.h - Bodies cut at their collectives -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A gang runs segments of straight-line code on every shard and collectives
/// between them. This file turns the body of a computation into that form:
/// functions on tensors, from inputs to outputs, the order in which they and
/// the collectives run, and the temporaries that connect them.
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
/// names, in the order in which the code receives the coordinates.
inline constexpr llvm::StringLiteral kSegmentMeshAttrName = "segment_mesh";

/// Function attribute of a segment: pairs (input, output) of indices, written
/// as `array<i64: input, output, input, output...>`. The two buffers of a pair
/// are the same memory at run time. All other buffers are distinct, except that
/// one buffer may be passed as several inputs.
inline constexpr llvm::StringLiteral kSegmentAliasAttrName =
    "segment_may_alias";

/// One array of a computation, as its caller sees it.
struct SegmentValue {
  enum class Kind { Argument, Result, Temp };
  Kind kind = Kind::Argument;
  unsigned index = 0;

  bool operator==(const SegmentValue &) const = default;
};

/// A segment or a collective.
struct SegmentStep {
  /// Symbol name of the segment function; empty for a collective.
  std::string segment;
  /// One per argument, and one per result, of the segment function.
  SmallVector<SegmentValue> inputs, outputs;

  /// The pw collective, or null for a segment. Lives in SegmentedBody::inlined.
  Operation *collective = nullptr;
  SegmentValue source, result;

  bool isCollective() const { return collective != nullptr; }
};

/// A body cut at its collectives. Exactly one step writes each result and each
/// temporary, before any step reads it. A segment may read a result that an
/// earlier step wrote.
struct SegmentedBody {
  /// Types of the temporaries of one shard. Their elements are types that a
  /// buffer may have (scalars that cross a cut become rank 0).
  SmallVector<RankedTensorType> temps;
  SmallVector<SegmentStep> steps;
  /// The segment functions, at the insertion point of the caller's builder, in
  /// the order of the steps.
  SmallVector<func::FuncOp> segments;
  /// The body after inlining; owns the collectives of `steps`.
  OwningOpRef<func::FuncOp> inlined;
};

/// Clones `body` with its calls inlined into segment functions, inserted by
/// `builder` and called `name`, with a number appended if there are several.
/// `body` is unchanged. pw.valid_extent becomes arithmetic on pw.shard_index
/// for the layouts in `operandTypes` (one per argument); pw.shard_index stays
/// and refers to kSegmentMeshAttrName. A body without work, such as one that
/// only returns the result of a collective, has no segments. Collectives stay
/// in order; there is a segment between two of them only if the second depends
/// on it.
///
/// Loops and branches around collectives are unrolled: their bounds and
/// conditions are constants, or follow from constants and the induction
/// variables of such loops.
///
/// Fails, with a diagnostic, on recursion, calls of declarations, bodies with
/// more than one block, collectives in any other nested region or in a loop of
/// more than 1024 iterations, and bodies that become too large by inlining.
FailureOr<SegmentedBody> splitAtCollectives(func::FuncOp body, MeshAttr mesh,
                                            ArrayRef<ArrayType> operandTypes,
                                            OpBuilder &builder, StringRef name);

/// An argument and a result of a body that share memory.
using AliasPair = std::pair<unsigned, unsigned>;

/// Decides which results of a body may occupy the memory of which arguments.
class SegmentAliases {
public:
  explicit SegmentAliases(const SegmentedBody &body);

  /// Returns true if result `result` may occupy the memory of argument
  /// `argument`: no step after the first write of the result reads the
  /// argument, and no collective reads the argument and writes the result.
  bool canAlias(unsigned argument, unsigned result) const;

private:
  struct Write {
    unsigned step;
    bool isCollective;
  };
  llvm::DenseMap<unsigned, unsigned>
      lastReads; ///< number of the step, by argument
  llvm::DenseMap<unsigned, Write> firstWrites; ///< by result
};

/// Records on the segments of `body` that results occupy the memory of
/// arguments: each segment that reads the argument and writes the result gets
/// the pair added to its kSegmentAliasAttrName. Requires canAlias.
void addAliases(SegmentedBody &body, ArrayRef<AliasPair> aliases);

} // namespace mlir::pathways

#endif // PATHWAYS_CODEGEN_SEGMENTS_H
