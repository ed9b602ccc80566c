//===- PlanDialect.h - The plan dialect -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PLAN_PLANDIALECT_H
#define PATHWAYS_DIALECT_PLAN_PLANDIALECT_H

#include "mlir/IR/Dialect.h"

#include "pathways/Dialect/Plan/PlanDialect.h.inc"

#endif // PATHWAYS_DIALECT_PLAN_PLANDIALECT_H
