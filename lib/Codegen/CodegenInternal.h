//===- CodegenInternal.h - Stages of kernel code generation -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the stages of compileKernel, in order. Each stage takes and leaves
/// a module whose functions are the segments.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CODEGENINTERNAL_H
#define LIB_CODEGEN_CODEGENINTERNAL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "pathways/Codegen/Codegen.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::pathways::kernel {

/// Table of the locations of one segment. Equal locations share a number.
class LocationTable {
public:
  /// Returns the number of the entry. Numbers start at 1.
  unsigned add(Location loc, StringRef message);
  std::vector<CodeLocation> take() { return std::move(entries); }

private:
  std::vector<CodeLocation> entries;
};

class ObjectWriter;
class PathLog;

/// Properties of the target's registers. They fix the order in which
/// contractions and reductions add.
struct MatmulTiles {
  int64_t vectorBytes = 16; ///< bytes of one register
  int64_t rows = 4;         ///< rows of a register tile
  int64_t vectors = 2;      ///< registers per row of a register tile
  bool hasFma = false;
  /// Floating-point terms are added one by one, in the order of the loops.
  bool addsInOrder = false;
  bool hasHalves = false; ///< has conversions between f16 and f32
  /// The target has instructions on 64 bytes that add up four byte products at
  /// a time.
  bool hasByteDots = false;
  /// The target has instructions on 64 bytes for maxima and minima that order
  /// zeros by their sign.
  bool hasRanges = false;
  /// The target multiplies vectors of any size by powers of 2 in one
  /// instruction.
  bool hasPowers = false;
  /// The target has stores of 64 bytes that bypass the caches.
  bool hasLineStores = false;
};

//===-- On tensors --------------------------------------------------------===//

/// Refuses ops that code generation does not support, with a diagnostic at the
/// op that gives the reason.
LogicalResult checkSegment(func::FuncOp func);

/// Replaces resources in constants by the elements that they hold.
LogicalResult readResources(func::FuncOp func);

/// Computes in f32 instead of f16 and bf16 inside the function: widens its
/// arguments and rounds its results.
LogicalResult widenNarrowFloats(func::FuncOp func);

/// Attribute of asserts, and of reads whose index is checked, that other
/// asserts of their loop may overtake: the result need not tell which of them
/// failed first.
inline constexpr llvm::StringLiteral kLateAssertAttrName = "late_assert";

/// Gives every op one defined result for every operand. Runs before anything
/// can be folded away. Guards shifts by asserts, makes conversions of floats to
/// integers saturate, and drops promises that the program may break.
void removePoison(func::FuncOp func);

/// Adds patterns that write tensor.gather as linalg.generic and tensor.scatter
/// as loops.
void addGatherPatterns(RewritePatternSet &patterns);

/// Reduces the bodies to linalg.generic, contractions, tensor and scf.
LogicalResult normalizeTensors(ModuleOp module, Rounding rounding);

/// Marks, in the bodies of ops of linalg that add up products of two operands,
/// the products and sums: they may be rounded once together. Marks nothing if
/// `rounding` is strict. Runs before any fusion. See mayRoundOnce().
void markProducts(ModuleOp module, Rounding rounding);

/// For Rounding::Excess, after fusion: marks all products, sums and
/// differences, and removes roundings of scalars to f16 and bf16 whose results
/// are widened again.
void dropRoundings(ModuleOp module);

/// Guards ops that could trap or read out of bounds by cf.assert, makes the
/// guarded op harmless when the assert fails, and replaces the text of every
/// assert by its number in `table`.
LogicalResult insertChecks(func::FuncOp func, LocationTable &table);

/// Turns tensors of i1 into tensors of i8 that hold 0 or 1.
LogicalResult storeBooleansAsBytes(func::FuncOp func);

/// Attribute of the loops that fuseRows makes.
inline constexpr llvm::StringLiteral kRowLoopAttrName = "row_loop";
/// Attribute of contractions whose result is one row of the operand that the
/// result lies along.
inline constexpr llvm::StringLiteral kLoneRowAttrName = "lone_row";

/// Fuses ops of linalg that hand values to each other into loops over rows.
/// `tileRows` is the number of rows of a register tile of products; 0 if it
/// differs among the targets.
void fuseRows(func::FuncOp func, int64_t tileRows);

/// Replaces tensor arguments and results by memref arguments: inputs, outputs,
/// coordinates, and then the step. Does not handle buffers that share memory
/// yet; shareMemory does.
LogicalResult takeBuffers(func::FuncOp func);

//===-- On buffers --------------------------------------------------------===//

/// Turns tensors into memrefs.
LogicalResult bufferizeSegments(ModuleOp module);

/// Handles pairs of an input and an output that share memory. `pairs` holds
/// their numbers among inputs and outputs in turn. Where each element is read
/// for the last time when it is written, the input becomes the output. Other
/// outputs are computed in a separate buffer and copied at the end.
void shareMemory(func::FuncOp func, unsigned numInputs,
                 ArrayRef<int64_t> pairs);

/// Functions on buffers with more arguments than this take a table of them.
inline constexpr unsigned kMostArguments = 64;

/// Attribute of functions that outlineParts makes. Tells which of their buffers
/// may share memory with another one.
inline constexpr llvm::StringLiteral kPartAttrName = "part_of_segment";

/// Outlines the loops of a large function as functions of their own; equal
/// loops share one function. `isShared` tells for each buffer, the coordinates
/// being the last, whether it may share memory with another.
void outlineParts(func::FuncOp func, ArrayRef<bool> isShared);

/// Moves the allocations of outlined parts to their callers.
void takeBuffersOfParts(ModuleOp module);

/// Replaces conversions that the target lacks by integer code: all of bf16, and
/// those of f16 unless `hasF16`.
void expandNarrowConversions(ModuleOp module, bool hasF16);

/// Writes contractions as register-tiled vector code. This stage and the next
/// three record in `log`, unless it is null, which ops they take.
void lowerContractions(func::FuncOp func, const MatmulTiles &tiles,
                       PathLog *log);

/// Writes convolutions and pooling as register-tiled vector code.
void lowerConvolutions(func::FuncOp func, const MatmulTiles &tiles,
                       PathLog *log);

/// Writes reductions as vector code if they run along dimensions of which their
/// operands are dense.
void lowerReductions(func::FuncOp func, const MatmulTiles &tiles, PathLog *log);

/// Writes ops that change the order of elements as loops over tiles that use
/// whole cache lines.
void lowerTransposes(func::FuncOp func, const MatmulTiles &tiles, PathLog *log);

/// With Rounding::Excess, writes marked products whose only user is a marked
/// sum or difference as fused multiply-add if the target has it. Removes all
/// marks, so that LLVM fuses nothing.
void fuseMarkedProducts(ModuleOp module, const MatmulTiles &tiles,
                        Rounding rounding);

/// Writes maxima and minima of full vectors, which honor NaN and the sign of
/// zeros, by the target's range instructions.
void useRanges(ModuleOp module);

/// Replaces divisions of full vectors by a value that is constant in a loop by
/// multiplications with its reciprocal. No bit of the results changes.
void useReciprocals(ModuleOp module);

/// Adds patterns that write exp and erf of f32 as straight code, with all of
/// IEEE 754's special values and subnormal results. `hasPowers` tells that the
/// target multiplies by powers of 2 in one instruction, which gives the same
/// result.
void addFloatPatterns(RewritePatternSet &patterns, bool hasPowers);

/// Adds patterns that write maxnum and minnum as comparisons.
void addMaxNumPatterns(RewritePatternSet &patterns);

/// Adds patterns that write log, sin, cos and pow of f32 as straight code in
/// f64, rounded once.
void addDoublePatterns(RewritePatternSet &patterns);

/// Writes elementwise ops on adjacent elements as vector code.
void lowerElementwise(ModuleOp module, const MatmulTiles &tiles);

/// Writes all other linalg ops, and copies, as loops. Sets `leavesLoops` if
/// loops remain that LLVM can vectorize.
LogicalResult lowerToLoops(ModuleOp module, const MatmulTiles &tiles,
                           bool &leavesLoops);

/// Replaces f16 and bf16 in buffers and registers by integers of their size,
/// except values that are converted in registers: not all targets can select
/// the code that LLVM makes of moves of these types.
void storeNarrowFloatsAsIntegers(ModuleOp module);

/// Places allocations in regions of scratch memory. Each region becomes an
/// argument of its own, so that accesses to different regions are known not to
/// alias. Buffers that are never live together share a region. Appends the
/// offsets of the regions.
LogicalResult assignScratch(func::FuncOp func,
                            SmallVectorImpl<uint64_t> &offsets,
                            uint64_t &bytes);

/// Makes the functions return the number of the first assert that failed, or 0.
void lowerAsserts(func::FuncOp func);

//===-- On LLVM -----------------------------------------------------------===//

/// One segment at the last stage.
struct LoweredSegment {
  std::string symbol; ///< Name of the function in the module.
  std::string entry;  ///< Name of the entry point in the object file.
  unsigned buffers = 0;
  SmallVector<uint64_t> bufferBytes;
  SmallVector<unsigned> inputs; ///< positions of the buffers that are only read
  /// Positions of the buffers that may share memory with another.
  SmallVector<unsigned> shared;
  SmallVector<uint64_t> scratchOffsets;
  /// True if the function takes coordinates, the step, the table of buffers and
  /// the scratch memory, as the entry point does, instead of one argument for
  /// each buffer.
  bool takesTable = false;
};

/// Registers an extension with which contexts that load the LLVM dialect keep
/// the state that lowerToLLVM() needs.
void registerConversion(DialectRegistry &registry);

/// Replaces buffers by pointers and their users by ops of the LLVM dialect.
/// Returns false, and changes nothing, if a size is not constant or a branch
/// chooses between buffers.
bool writePointers(ModuleOp module);

/// Returns the buffer of the given type at the given pointer.
using PointerToBuffer =
    llvm::function_ref<Value(OpBuilder &, Location, MemRefType, Value)>;

/// Makes a function with more than kMostArguments load the pointers to its
/// buffers from a table where they are used. `toBuffer` turns arguments that
/// are not pointers yet into buffers.
void takeTable(func::FuncOp function, LoweredSegment &segment,
               PointerToBuffer toBuffer);

/// Lowers to the LLVM dialect and adds the entry points.
LogicalResult lowerToLLVM(ModuleOp module,
                          MutableArrayRef<LoweredSegment> segments);

/// Runs the LLVM passes that have an effect on kernels. Runs the loop
/// vectorizer only if `hasPlainLoops`.
void optimize(llvm::Module &code, ObjectWriter &writer, bool hasPlainLoops);

/// Optimizes and returns the object file.
FailureOr<std::string> emitObject(ModuleOp module,
                                  ArrayRef<LoweredSegment> segments,
                                  ObjectWriter &writer, bool hasPlainLoops);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CODEGENINTERNAL_H
