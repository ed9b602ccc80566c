//===- KernelEntry.h - Kernels as entries of tables -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries of kernels and of the steps of gangs in the tables of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_KERNELENTRY_H
#define PATHWAYS_LIB_LOWERING_KERNELENTRY_H

#include "KernelTable.h"
#include "runtime/plan/profile.h"
#include "runtime/proto/plan.pb.h"

namespace mlir::pathways {

/// Writes `kernel`, without its code, to `out`.
void setKernel(const PlanKernel &kernel, ::pathways::proto::Kernel *out);

/// Writes the collective `op`, without its buffers, to `step`. Fails, with a
/// diagnostic, on a collective that plans do not support.
LogicalResult setCollective(Operation *op, ::pathways::proto::Collective *step);

/// Returns the computation by which profiles identify a gang that runs
/// `kernel`, or nullopt if it has no steps. Fails as setCollective does.
FailureOr<std::optional<::pathways::Computation>>
getComputation(const PlanKernel &kernel);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_KERNELENTRY_H
