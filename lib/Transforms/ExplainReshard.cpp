//===- ExplainReshard.cpp - Remarks on routes of reshards -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardPlanner.h"
#include "ReshardReport.h"
#include "pathways/Transforms/Machines.h"
#include "pathways/Transforms/Passes.h"
#include "pathways/Transforms/Profiles.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_EXPLAINRESHARD
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

class ExplainReshardPass
    : public mlir::pathways::impl::ExplainReshardBase<ExplainReshardPass> {
public:
  using ExplainReshardBase::ExplainReshardBase;
  ExplainReshardPass(ExplainReshardOptions options,
                     std::vector<ReshardChoice> *choices)
      : ExplainReshardBase(std::move(options)), choices(choices) {}

private:
  void runOnOperation() override {
    markAllAnalysesPreserved();
    const ::pathways::Topology *machines =
        getAnalysis<Machines>().read(topology);
    if (!machines)
      return signalPassFailure();
    FailureOr<const ::pathways::Profile *> measured =
        getAnalysis<Profiles>().read(profile);
    if (failed(measured))
      return signalPassFailure();
    ReshardPlanner planner(getOperation(), machines, *measured);
    if (failed(planner.checkBindings()))
      return signalPassFailure();
    WalkResult result =
        getOperation().walk([&](ReshardOp reshard) -> WalkResult {
          ArrayType from = reshard.getSource().getType();
          if (from == reshard.getType())
            return success();
          if (failed(checkBound(reshard, from, planner)) ||
              failed(checkBound(reshard, reshard.getType(), planner)))
            return failure();
          reportReshard(reshard.getLoc(),
                        {"", print(from), print(reshard.getType()),
                         planner.listRoutes(from, reshard.getType())},
                        choices);
          return success();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult checkBound(ReshardOp reshard, ArrayType type,
                                  const ReshardPlanner &planner) {
    if (planner.isBound(type))
      return success();
    InFlightDiagnostic diagnostic =
        reshard.emitOpError() << "moves between slices, but " << type.getSlice()
                              << " is not bound; run pw-place first";
    SliceOp slice = planner.getSlice(type);
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  }

  static std::string print(ArrayType type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  std::vector<ReshardChoice> *choices = nullptr;
};

} // namespace

std::unique_ptr<Pass>
mlir::pathways::createExplainReshard(ExplainReshardOptions options,
                                     std::vector<ReshardChoice> *choices) {
  return std::make_unique<ExplainReshardPass>(std::move(options), choices);
}
