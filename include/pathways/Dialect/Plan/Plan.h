//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Umbrella header: dialect, enumerations and operations of `plan`. The tables
// of a plan, which need protobuf, are in PlanTables.h.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PLAN_PLAN_H
#define PATHWAYS_DIALECT_PLAN_PLAN_H

#include "pathways/Dialect/Plan/PlanDialect.h"
#include "pathways/Dialect/Plan/PlanOps.h"

#endif // PATHWAYS_DIALECT_PLAN_PLAN_H
