//===- CodegenInternal.h - Stages of kernel code generation -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The stages of compileKernel, in order. Each takes and leaves a module whose
/// functions are the segments.
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

/// The locations of one segment; equal ones share a number.
class LocationTable {
public:
  /// Returns the number of the entry, counted from 1.
  unsigned add(Location loc, StringRef message);
  std::vector<CodeLocation> take() { return std::move(entries); }

private:
  std::vector<CodeLocation> entries;
};

class ObjectWriter;
class PathLog;

/// What the target's registers allow. Fixes the order in which contractions and
/// reductions add.
struct MatmulTiles {
  int64_t vectorBytes = 16; ///< of one register
  int64_t rows = 4;         ///< of a register tile
  int64_t vectors = 2;      ///< per row of a register tile
  bool hasFma = false;
  bool hasHalves = false; ///< instructions between f16 and f32
  /// Of 64 bytes, instructions that add up four products at a time.
  bool hasByteDots = false;
  /// Of 64 bytes, instructions for maxima that order zeros by their sign.
  bool hasRanges = false;
  /// Instructions that multiply vectors of any size by powers of 2.
  bool hasPowers = false;
  /// Stores of 64 bytes that go past the caches.
  bool hasLineStores = false;
};

//===-- On tensors --------------------------------------------------------===//

/// Refuses what code generation does not take, with the reason at the op.
LogicalResult checkSegment(func::FuncOp func);

/// Writes out the elements of constants that are in resources.
LogicalResult readResources(func::FuncOp func);

/// Makes f16 and bf16 f32 inside: widens arguments, rounds results.
LogicalResult widenNarrowFloats(func::FuncOp func);

/// On asserts, and on reads whose index is checked, that others of their loop
/// may overtake: which of them failed first need not be known.
inline constexpr llvm::StringLiteral kLateAssertAttrName = "late_assert";

/// Gives a result to every op for every operand, in the order in which nothing
/// can be folded to another before: guards shifts by asserts, makes conversions
/// of floats to integers saturate, drops promises that the program may break.
void removePoison(func::FuncOp func);

/// Writes tensor.gather as linalg.generic, and tensor.scatter as loops.
void addGatherPatterns(RewritePatternSet &patterns);

/// Brings the bodies to linalg.generic, contractions, tensor and scf.
LogicalResult normalizeTensors(ModuleOp module);

/// Guards what could trap or read out of bounds by cf.assert, makes the guarded
/// op harmless when the assert fails, and replaces the text of every assert by
/// its number in `table`.
LogicalResult insertChecks(func::FuncOp func, LocationTable &table);

/// Turns tensors of i1 into tensors of i8 that hold 0 or 1.
LogicalResult storeBooleansAsBytes(func::FuncOp func);

/// On the loops of fuseRows.
inline constexpr llvm::StringLiteral kRowLoopAttrName = "row_loop";
/// On contractions whose result is one row of the operand that it lies along.
inline constexpr llvm::StringLiteral kLoneRowAttrName = "lone_row";

/// Lets ops of linalg that hand values to each other run row by row together.
/// Rows of a register tile of products are `tileRows`; 0: that differs among
/// the targets.
void fuseRows(func::FuncOp func, int64_t tileRows);

/// Replaces tensor arguments and results by memref arguments: inputs, outputs,
/// coordinates; behind them comes the step. Of those that share memory nothing
/// is said yet: see shareMemory.
LogicalResult takeBuffers(func::FuncOp func);

//===-- On buffers --------------------------------------------------------===//

/// Tensors to memrefs.
LogicalResult bufferizeSegments(ModuleOp module);

/// For pairs of an input and an output that are the same memory, by their
/// numbers among inputs and outputs. Where each element is read for the last
/// time when it is written, the input becomes the output; other outputs are
/// computed aside, and put in their places at the end.
void shareMemory(func::FuncOp func, unsigned numInputs,
                 ArrayRef<int64_t> pairs);

/// Functions on buffers with more arguments take a table of them.
inline constexpr unsigned kMostArguments = 64;

/// On functions that outlineParts makes: which of their buffers may lie where
/// another one does.
inline constexpr llvm::StringLiteral kPartAttrName = "part_of_segment";

/// Makes the loops of a large function functions of their own, one for equal
/// ones. `isShared` says of each buffer, of which the last are coordinates,
/// whether it may be the memory of another.
void outlineParts(func::FuncOp func, ArrayRef<bool> isShared);

/// Has the callers of parts allocate what these did.
void takeBuffersOfParts(ModuleOp module);

/// Conversions that the target lacks to integer code: all of bf16, and those of
/// f16 unless `hasF16`.
void expandNarrowConversions(ModuleOp module, bool hasF16);

/// Contractions to register-tiled vector code. This and the next ones tell
/// `log`, unless it is null, what they take.
void lowerContractions(func::FuncOp func, const MatmulTiles &tiles,
                       PathLog *log);

/// Convolutions and pooling to register-tiled vector code.
void lowerConvolutions(func::FuncOp func, const MatmulTiles &tiles,
                       PathLog *log);

/// Reductions along dimensions of which their operands are dense to vector
/// code.
void lowerReductions(func::FuncOp func, const MatmulTiles &tiles, PathLog *log);

/// Ops that change the order of elements to loops over tiles that use whole
/// lines.
void lowerTransposes(func::FuncOp func, const MatmulTiles &tiles, PathLog *log);

/// Maxima and minima of full vectors, which know NaN and the sign of zeros, by
/// the target's instructions for ranges.
void useRanges(ModuleOp module);

/// Divisions of full vectors by what is the same in a loop by its reciprocal;
/// no bit changes.
void useReciprocals(ModuleOp module);

/// Writes exp and erf of f32 as straight code, with all of IEEE 754's special
/// values and subnormal results. `hasPowers`: the target multiplies by powers
/// of 2, which gives the same.
void addFloatPatterns(RewritePatternSet &patterns, bool hasPowers);

/// Writes maxnum and minnum as comparisons.
void addMaxNumPatterns(RewritePatternSet &patterns);

/// Writes log, sin, cos and pow of f32 as straight code in f64, rounded once.
void addDoublePatterns(RewritePatternSet &patterns);

/// What is done to each of elements that lie next to each other to vector code.
void lowerElementwise(ModuleOp module, const MatmulTiles &tiles);

/// Everything else of linalg, and copies, to loops. Sets `leavesLoops` where
/// some are left of which vectors can be made.
LogicalResult lowerToLoops(ModuleOp module, const MatmulTiles &tiles,
                           bool &leavesLoops);

/// Makes f16 and bf16 in buffers and registers integers of their size, but for
/// what is converted in registers: not all targets can select what LLVM makes
/// of moves of them.
void storeNarrowFloatsAsIntegers(ModuleOp module);

/// Places allocations in regions of scratch memory. Each becomes an argument of
/// its own, so that accesses to different regions are known not to meet;
/// buffers that are never live together share a region. Appends the offsets of
/// the regions.
LogicalResult assignScratch(func::FuncOp func,
                            SmallVectorImpl<uint64_t> &offsets,
                            uint64_t &bytes);

/// Makes the functions return the number of the first assert that failed, or 0.
void lowerAsserts(func::FuncOp func);

//===-- On LLVM -----------------------------------------------------------===//

/// One segment as it enters the last stage.
struct LoweredSegment {
  std::string symbol; ///< of the function in the module
  std::string entry;  ///< of the code to write
  unsigned buffers = 0;
  SmallVector<uint64_t> bufferBytes;
  SmallVector<unsigned> inputs; ///< positions in buffers that are only read
  SmallVector<unsigned> shared; ///< positions that may be the memory of another
  SmallVector<uint64_t> scratchOffsets;
  /// The function takes coordinates, the step, the table of buffers and the
  /// scratch memory, as the entry point does, not one argument for each buffer.
  bool takesTable = false;
};

/// Lets contexts that load the dialect LLVM keep what lowerToLLVM() needs.
void registerConversion(DialectRegistry &registry);

/// Makes buffers pointers, and what uses them ops of the dialect LLVM. Returns
/// false, and changes nothing, where some are not known enough for that: sizes
/// that are not constants, buffers that branches choose from.
bool writePointers(ModuleOp module);

/// Makes the buffer of the type at the pointer.
using PointerToBuffer =
    llvm::function_ref<Value(OpBuilder &, Location, MemRefType, Value)>;

/// Lets a function with more than kMostArguments load the pointers to its
/// buffers from a table where they are used. Arguments that are no pointers yet
/// become buffers by `toBuffer`.
void takeTable(func::FuncOp function, LoweredSegment &segment,
               PointerToBuffer toBuffer);

/// Lowers to the LLVM dialect and adds the entry points.
LogicalResult lowerToLLVM(ModuleOp module,
                          MutableArrayRef<LoweredSegment> segments);

/// Runs those of LLVM's passes that have something to do in kernels.
/// Makes vectors of loops only if `hasPlainLoops`.
void optimize(llvm::Module &code, ObjectWriter &writer, bool hasPlainLoops);

/// Optimizes and writes the object file.
FailureOr<std::string> emitObject(ModuleOp module,
                                  ArrayRef<LoweredSegment> segments,
                                  ObjectWriter &writer, bool hasPlainLoops);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CODEGENINTERNAL_H
