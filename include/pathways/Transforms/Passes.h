//===- Passes.h - Passes from pw to pw --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_PASSES_H
#define PATHWAYS_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

#define GEN_PASS_DECL
#include "pathways/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pathways/Transforms/Passes.h.inc"

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_PASSES_H
