//===- StableHloOpBase.td - Base of operations -------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_OP_BASE_TD
#define PATHWAYS_DIALECT_STABLEHLO_OP_BASE_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/StableHlo/StableHloBase.td"

class SHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHlo_Dialect, mnemonic, traits # [SHLO_SupportedTypes]>;

#endif // PATHWAYS_DIALECT_STABLEHLO_OP_BASE_TD
