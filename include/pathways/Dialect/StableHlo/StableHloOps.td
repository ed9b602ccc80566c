//===- StableHloOps.td - Operations of stablehlo -----------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_OPS_TD

include "pathways/Dialect/StableHlo/ElementwiseOps.td"
include "pathways/Dialect/StableHlo/ConstantOps.td"
include "pathways/Dialect/StableHlo/ShapeOps.td"
include "pathways/Dialect/StableHlo/IndexedOps.td"
include "pathways/Dialect/StableHlo/ProductOps.td"
include "pathways/Dialect/StableHlo/ReductionOps.td"
include "pathways/Dialect/StableHlo/ControlFlowOps.td"
include "pathways/Dialect/StableHlo/CommunicationOps.td"

#endif // PATHWAYS_DIALECT_STABLEHLO_OPS_TD
