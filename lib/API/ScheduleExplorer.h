//===- ScheduleExplorer.h - Plans for each schedule -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler has no runtime that could simulate a plan, so the API compiles
// the program with each schedule, simulates the plans and compiles the program
// with the one that it takes. What comes before the schedule runs once, and
// kernels are compiled once.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_SCHEDULEEXPLORER_H
#define LIB_API_SCHEDULEEXPLORER_H

#include "pathways/Lowering/Passes.h"
#include "pathways/Result.h"
#include "pathways/ScheduleCosts.h"
#include "pathways/Support/TaskPool.h"
#include "runtime/topology/topology.h"

#include <string>
#include <vector>

namespace pathways {

/// Finds the costs of schedules of the loop of a module that has schedule
/// "auto". The module has passed buildPlacePipeline and stays as it is.
class ScheduleExplorer {
public:
  /// `options` are those of the pipeline. The simulations run on `pool`. The
  /// kernels of all plans are taken from `kernels`, or added.
  ScheduleExplorer(mlir::ModuleOp module,
                   const mlir::pathways::CompileOptions &options,
                   const Topology &topology, mlir::pathways::TaskPool &pool,
                   mlir::pathways::KnownKernels &kernels)
      : module(module), options(options), topology(topology), pool(pool),
        kernels(kernels) {}

  /// Returns the costs of each of `schedules`, in this order. Fails with an
  /// empty message, after a diagnostic, if the program cannot be compiled, or
  /// if a cost by label fits the label of no call with any of them; and with
  /// the error of the first simulation that fails.
  Result<std::vector<ScheduleCosts>>
  run(const std::vector<std::string> &schedules);

private:
  struct Candidate {
    ScheduleCosts costs;
    Plan plan; ///< empty: the schedule does not fit
    Status simulated;
    mlir::pathways::LabelCostReport labels;
  };
  /// Makes the plan, or says why the schedule does not fit. Fails, with a
  /// diagnostic, if the program cannot be compiled for another reason.
  mlir::LogicalResult compile(Candidate &candidate);
  mlir::LogicalResult checkLabels(const std::vector<Candidate> &candidates);

  mlir::ModuleOp module;
  const mlir::pathways::CompileOptions &options;
  const Topology &topology;
  mlir::pathways::TaskPool &pool;
  mlir::pathways::KnownKernels &kernels;
};

/// Returns the only loop of `module` with schedule "auto", or null if there is
/// none. Fails, with a diagnostic, if there are several.
mlir::FailureOr<mlir::pathways::ForOp> findAutoLoop(mlir::ModuleOp module);

/// Returns the schedule with the shortest step among those whose plans fit in
/// the memory of their devices, the first of equal ones. Reports the choice as
/// a remark at `loop`. Fails with an empty message, after a diagnostic there,
/// if no schedule fits the program, and with Refused if none fits in memory.
Result<std::string> chooseSchedule(mlir::pathways::ForOp loop,
                                   const std::vector<ScheduleCosts> &costs);

} // namespace pathways

#endif // LIB_API_SCHEDULEEXPLORER_H
