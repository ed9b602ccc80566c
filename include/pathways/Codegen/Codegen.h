//===- Codegen.h - From functions on tensors to code ------------*- C++ -*-===//
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

/// Dialects and external models that compileKernel needs in the context.
void registerKernelDialects(DialectRegistry &registry);
/// Loads them; not while other threads use the context.
void loadKernelDialects(MLIRContext *context);

/// What a check that failed reports.
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
  std::string hash;                               ///< of all of it, hexadecimal
  bool isCached = false;                          ///< found, not compiled
};

/// Whether bodies may have operations of that name, which is registered.
bool isKernelOp(OperationName name);

/// Compiles `segments` for each of `targets` (empty fields: as this machine;
/// no target: this machine). The functions are left as they are. Operands and
/// results are tensors of static shape of f16, bf16, f32, f64, i1, i8, i32 or
/// i64; bodies use func.return, linalg, tensor, arith, math, scf, affine,
/// cf.assert and pw.shard_index (axes: the function's kSegmentMeshAttrName).
///
/// A failed cf.assert, an integer division by zero or without a representable
/// result, a shift by the width or more, an index or slice out of bounds and a
/// loop step below 1 make the code return the location's number. Conversions of
/// floats to integers saturate, and give 0 for NaN. Promises that the program
/// makes (fastmath, overflow, exact) are ignored: floating point follows IEEE
/// 754 without contraction or reassociation, except that a sum along the
/// innermost dimension and the products of a contraction are added in an order
/// fixed by shape and target.
///
/// f16 and bf16 are formats of storage: a segment computes with them in f32 and
/// rounds a result once, to nearest even, when it stores it; an arith.truncf
/// that the body has rounds where it is.
///
/// With a `cache`, what is there is taken from it, and the rest put there.
///
/// Fails, with a diagnostic at the op, on anything else; what LLVM ends a
/// process for is a diagnostic at the first segment. Thread-safe as long as the
/// dialects are loaded.
FailureOr<CompiledKernel>
compileKernel(ArrayRef<func::FuncOp> segments,
              ArrayRef<::pathways::proto::Target> targets,
              CodeCache *cache = nullptr);

/// By which way an op of a kernel is computed.
struct OpPath {
  std::string where; ///< "file:line:column", or empty
  std::string op;    ///< its name, as in the text
  /// In words; several for an op of which several loops became. Those that are
  /// left to plain loops say "plain loop: " and why.
  std::string path;
  double slowdown = 1; ///< of a plain loop, next to vectors: an estimate
};

/// The ops of `segments`, which compileKernel takes, that compute or move
/// elements, in their order, and what becomes of them on `target`. Runs the
/// stages up to loops. A remark at each that takes more than 4 times as long
/// as vectors would.
FailureOr<std::vector<OpPath>>
explainKernel(ArrayRef<func::FuncOp> segments,
              const ::pathways::proto::Target &target);

} // namespace pathways
} // namespace mlir

#endif // PATHWAYS_CODEGEN_CODEGEN_H
