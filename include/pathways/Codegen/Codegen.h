//===- Codegen.h - Code for functions on tensors ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiles functions on tensors into object files with the calling convention
/// of runtime/kernel/abi.h. Deterministic: equal functions and equal targets
/// give equal bytes.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_CODEGEN_CODEGEN_H
#define PATHWAYS_CODEGEN_CODEGEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/proto/plan.pb.h"
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
namespace pathways {
class CodeCache;

/// Registers the dialects and external models that compileKernel needs in the
/// context.
void registerKernelDialects(DialectRegistry &registry);
/// Loads these dialects. No other thread may use the context meanwhile.
void loadKernelDialects(MLIRContext *context);

/// Rounding of floating-point numbers: docs/kernels.md, "Rounding". The numbers
/// are those of ::pathways::proto::Rounding.
enum class Rounding {
  EachOp, ///< Each op rounds its result; the terms of products need not be.
  Strict, ///< Like EachOp, and terms are rounded and added one by one.
  Excess, ///< Roundings between ops may be dropped.
};

/// Returns "each_op", "strict" or "excess".
StringRef getRoundingName(Rounding rounding);

/// Location and message that a failed check reports.
struct CodeLocation {
  std::string where;   ///< "file:line:column", or "unknown"
  std::string message; ///< e.g. the text of the assert
  bool operator==(const CodeLocation &) const = default;
};

struct CompiledSegment {
  std::string symbol;
  uint64_t scratchBytes = 0; ///< largest of all targets
  std::vector<CodeLocation> locations;
};

struct CompiledKernel {
  std::vector<CompiledSegment> segments;          ///< one per function
  std::vector<::pathways::proto::Target> targets; ///< complete, none empty
  std::vector<std::string> objects;               ///< bytes, one per target
  /// Hash of everything above and of the rounding, hexadecimal.
  std::string hash;
  bool isCached = false; ///< true if it came from the cache
};

/// Returns true if bodies may have operations of that registered name.
bool isKernelOp(OperationName name);

/// Compiles `segments` for each of `targets`. Empty fields of a target describe
/// this machine, and so does an empty list. The functions are not changed.
/// Operands and results are tensors of static shape of f16, bf16, f32, f64, i1,
/// i8, i16, i32 or i64. Bodies use func.return, linalg, tensor, arith, math,
/// scf, affine, cf.assert and pw.shard_index (axes: the function's
/// kSegmentMeshAttrName).
///
/// The code returns the location's number on a failed cf.assert, an integer
/// division by zero or without a representable result, a shift by the width or
/// more, an index or slice out of bounds, and a loop step below 1. Conversions
/// of floats to integers saturate, and give 0 for NaN. Promises of the program
/// (fastmath, overflow, exact) are ignored: floating point follows IEEE 754
/// without contraction or reassociation, except that a sum along the innermost
/// dimension and the products of a contraction are added in an order fixed by
/// shape and target. `rounding` restricts or extends these exceptions.
///
/// f16 and bf16 are storage formats: a segment computes with them in f32 and
/// rounds a result once, to nearest even, when it stores it. An arith.truncf in
/// the body rounds where it stands, and so does an arith.bitcast from them.
///
/// With a `cache`, code is taken from it if present, and stored in it
/// otherwise.
///
/// Fails, with a diagnostic at the op, on anything else. An error for which
/// LLVM would end the process is a diagnostic at the first segment. Thread-safe
/// once the dialects are loaded.
FailureOr<CompiledKernel>
compileKernel(ArrayRef<func::FuncOp> segments,
              ArrayRef<::pathways::proto::Target> targets,
              CodeCache *cache = nullptr, Rounding rounding = Rounding::EachOp);

/// Implementation of one op of a kernel.
struct OpPath {
  std::string where; ///< "file:line:column", or empty
  std::string op;    ///< its name, as in the text
  /// Description in words, with several parts if the op became several loops.
  /// For a plain loop it starts with "plain loop: " and gives the reason.
  std::string path;
  double slowdown = 1; ///< estimate for a plain loop, relative to vectors
};

/// Returns the ops of `segments` (as for compileKernel) that compute or move
/// elements, in order, with their implementation on `target`. Runs the stages
/// up to loops. Emits a remark at each op that takes more than 4 times as long
/// as with vectors.
FailureOr<std::vector<OpPath>>
explainKernel(ArrayRef<func::FuncOp> segments,
              const ::pathways::proto::Target &target,
              Rounding rounding = Rounding::EachOp);

} // namespace pathways
} // namespace mlir

#endif // PATHWAYS_CODEGEN_CODEGEN_H
