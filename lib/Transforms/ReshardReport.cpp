//===- ReshardReport.cpp - Reports on routes of reshards ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardReport.h"

#include "pathways/Support/SourcePlace.h"

using namespace mlir;
using namespace mlir::pathways;

ReshardRoute mlir::pathways::describeRoute(ArrayRef<MovementStep> steps,
                                           const MovementCost &cost) {
  ReshardRoute route;
  for (const MovementStep &step : steps)
    route.steps += (route.steps.empty() ? "" : ", then ") + describe(step);
  route.numSteps = steps.size();
  route.iciBytes = cost.iciBytes;
  route.dcnBytes = cost.dcnBytes;
  route.hostBytes = cost.hostBytes;
  route.peakBytes = cost.peakBytes;
  route.ns = cost.ns;
  route.isCounted = cost.isCounted;
  return route;
}

static void print(Diagnostic &diagnostic, const ReshardRoute &route) {
  diagnostic << route.steps << ": " << (route.isCounted ? "" : "about ")
             << route.iciBytes << " bytes over ICI and " << route.dcnBytes
             << " over the DCN, " << route.peakBytes << " bytes at a shard, "
             << route.ns << " ns";
}

void mlir::pathways::reportReshard(Location location, ReshardChoice choice,
                                   std::vector<ReshardChoice> *choices) {
  if (choices) {
    choice.place = getSourcePlace(location);
    choices->push_back(std::move(choice));
    return;
  }
  InFlightDiagnostic remark = emitRemark(location) << choice.from << " -> "
                                                   << choice.to << " takes ";
  if (choice.routes.front().steps.empty())
    remark << "no movement";
  else
    print(*remark.getUnderlyingDiagnostic(), choice.routes.front());
  for (const ReshardRoute &route : llvm::drop_begin(choice.routes))
    print(remark.attachNote() << "not ", route);
}
