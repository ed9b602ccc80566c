//===- ReshardReport.h - Reports on routes of reshards ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_RESHARDREPORT_H
#define PATHWAYS_LIB_TRANSFORMS_RESHARDREPORT_H

#include "pathways/Analysis/MovementPlanner.h"
#include "pathways/Transforms/Passes.h"

namespace mlir::pathways {

/// Describes `steps` in words, with their cost.
ReshardRoute describeRoute(ArrayRef<MovementStep> steps,
                           const MovementCost &cost);

/// Appends `choice`, without its place, to `choices`. If that is null, emits a
/// remark at `location` instead.
void reportReshard(Location location, ReshardChoice choice,
                   std::vector<ReshardChoice> *choices);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_RESHARDREPORT_H
