//===- KernelEntry.h - Kernels as entries of tables -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tables of a plan say of kernels and of the steps of gangs.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_KERNELENTRY_H
#define PATHWAYS_LIB_LOWERING_KERNELENTRY_H

#include "KernelTable.h"
#include "runtime/plan/profile.h"
#include "runtime/proto/plan.pb.h"

namespace mlir::pathways {

/// `kernel` without code.
void setKernel(const PlanKernel &kernel, ::pathways::proto::Kernel *out);

/// The collective `op` as a step, but for its buffers. Fails, with a
/// diagnostic, on one that plans lack.
LogicalResult setCollective(Operation *op, ::pathways::proto::Collective *step);

/// What profiles call a gang that runs `kernel`; nothing where it has no steps.
/// Fails as setCollective does.
FailureOr<std::optional<::pathways::Computation>>
getComputation(const PlanKernel &kernel);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_KERNELENTRY_H
