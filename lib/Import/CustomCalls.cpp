//===- CustomCalls.cpp - Calls by name and unsupported operations ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"

#include "mlir/IR/Builders.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

//===----------------------------------------------------------------------===//
// Calls that are operations of chlo
//===----------------------------------------------------------------------===//

/// Returns the number of operands of an elementwise function of chlo from
/// floats to floats, and 0 for other names.
static unsigned getArity(StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e",
              "cosh", "digamma", "erf", "erf_inv", "erfc", "lgamma", "sinh",
              "square", "tan"},
             1)
      .Cases({"next_after", "polygamma", "zeta"}, 2)
      .Default(0);
}

/// Returns true if all types are `type`.
static bool areAll(TypeRange types, Type type) {
  return llvm::all_of(types, [&](Type other) { return other == type; });
}

/// Returns true if `results` are those of a top_k of `operands`.
static bool isTopK(TypeRange operands, TypeRange results) {
  if (operands.size() != 1 || results.size() != 2)
    return false;
  auto operand = dyn_cast<RankedTensorType>(operands[0]);
  auto values = dyn_cast<RankedTensorType>(results[0]);
  auto indices = dyn_cast<RankedTensorType>(results[1]);
  return operand && values && indices && operand.getRank() > 0 &&
         operand.hasStaticShape() && values.hasStaticShape() &&
         values.getShape() == indices.getShape() &&
         values.getRank() == operand.getRank() &&
         values.getShape().drop_back() == operand.getShape().drop_back() &&
         values.getShape().back() <= operand.getShape().back() &&
         values.getElementType() == operand.getElementType() &&
         isa<IntegerType>(indices.getElementType());
}

/// Replaces `op` by the operation of chlo with this name. `attributes` are of
/// the call of a top_k, or null. Fails if there is no such operation with these
/// types.
static LogicalResult lowerByName(Operation *op, StringRef name,
                                 ValueRange operands,
                                 DictionaryAttr attributes) {
  if (name == "topk" || name == "top_k" || name == "TopK") {
    if (!isTopK(operands.getTypes(), op->getResultTypes()))
      return failure();
    auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : nullptr;
    lowerTopK(op, operands[0], !largest || largest.getValue());
    return success();
  }
  unsigned arity = getArity(name);
  if (arity == 0 || operands.size() != arity || op->getNumResults() != 1)
    return failure();
  Type type = op->getResultTypes().front();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()) ||
      !areAll(operands.getTypes(), type))
    return failure();
  OpBuilder b(op);
  OperationState state(op->getLoc(), "chlo." + name.str(), operands, type);
  op->replaceAllUsesWith(b.create(state));
  op->erase();
  return success();
}

LogicalResult mlir::pathways::lowerKnownCall(stablehlo::CustomCallOp op) {
  StringRef name = op.getCallTargetName();
  if (name != "TopK" && !name.consume_front("mhlo.") &&
      !name.consume_front("chlo."))
    return failure();
  return lowerByName(op, name, op.getInputs(),
                     op->getAttrOfType<DictionaryAttr>("mhlo.attributes"));
}

LogicalResult mlir::pathways::lowerKnownComposite(stablehlo::CompositeOp op) {
  StringRef name = op.getName();
  if (!name.consume_front("chlo.") && !name.consume_front("mhlo."))
    return failure();
  return lowerByName(op, name, op.getInputs(),
                     op.getCompositeAttributes().value_or(DictionaryAttr()));
}

//===----------------------------------------------------------------------===//
// Operations that cannot be compiled
//===----------------------------------------------------------------------===//

namespace {

/// Advice for custom calls whose target begins with `prefix`.
struct Hint {
  StringLiteral prefix;
  StringLiteral text;
};

} // namespace

static constexpr StringLiteral kCallback =
    "a program cannot call Python; return the values instead";
static constexpr StringLiteral kGpu = "lower for a platform that is not a GPU";
static constexpr StringLiteral kKernel =
    "write the function without a kernel of its own";
static constexpr StringLiteral kDecomposition =
    "write the decomposition as a loop";

/// The first one with a matching prefix counts.
static constexpr Hint kCallHints[] = {
    {"lapack_", "lower for a platform without LAPACK"},
    {"blas_", "lower for a platform without BLAS"},
    {"cublas", kGpu},
    {"cusolver", kGpu},
    {"cusparse", kGpu},
    {"cu_", kGpu},
    {"cudnn", kGpu},
    {"__cu", kGpu},
    {"hip", kGpu},
    {"magma_", kGpu},
    {"xla_python_", kCallback},
    {"xla_ffi_python_", kCallback},
    {"xla_ffi_partitioned_python_", kCallback},
    {"xla_buffer_python_", kCallback},
    {"ducc_fft", "lower with a version that writes stablehlo.fft"},
    {"dynamic_ducc_fft", "lower with a version that writes stablehlo.fft"},
    {"Qr", kDecomposition},
    {"Householder", kDecomposition},
    {"LuDecomposition", kDecomposition},
    {"Eigh", kDecomposition},
    {"ProductOfElementaryHouseholderReflectors", kDecomposition},
    {"ApproxTopK", "use an exact top_k"},
    {"PartialReduce", "use an exact top_k"},
    {"tpu_custom_call", kKernel},
    {"mosaic", kKernel},
    {"triton", kKernel},
    {"__gpu$", kKernel},
    {"shape_assertion", "export the program with static shapes"},
    {"stablehlo.dynamic", "export the program with static shapes"},
};

/// Returns the advice for `op`, or "".
static StringRef getHint(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    for (const Hint &hint : kCallHints)
      if (call.getCallTargetName().starts_with(hint.prefix))
        return hint.text;
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Cases({"infeed", "outfeed", "send", "recv"},
             "pass data as arguments and results")
      .Case("rng", "its numbers depend on a hidden state; use "
                   "rng_bit_generator, whose numbers depend on a key")
      .Case("fft", "its values are complex")
      .Cases({"async_start", "async_done"},
             "lower without asynchronous operations")
      .Default("");
}

LogicalResult mlir::pathways::refuseOperations(Operation *module) {
  struct Kind {
    Operation *first;
    int64_t count = 0;
  };
  llvm::MapVector<StringRef, Kind> kinds, targets;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa_and_present<stablehlo::StableHloDialect, chlo::ChloDialect>(
            op->getDialect()) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return;
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    Kind &kind = call ? targets[call.getCallTargetName()]
                      : kinds[op->getName().getStringRef()];
    if (kind.count++ == 0)
      kind.first = op;
  });
  auto refuse = [](Kind kind, const Twine &name) {
    InFlightDiagnostic error = emitError(kind.first->getLoc());
    error << name << " cannot be compiled";
    if (kind.count > 1)
      error << " (the first of " << kind.count << ")";
    if (StringRef hint = getHint(kind.first); !hint.empty())
      error << ": " << hint;
    error << Tag(ErrorId::kNotCompilable);
  };
  for (auto &[name, kind] : kinds)
    refuse(kind, name);
  for (auto &[target, kind] : targets)
    refuse(kind, "custom call @" + target);
  return success(kinds.empty() && targets.empty());
}
