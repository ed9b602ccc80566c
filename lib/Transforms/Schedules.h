//===- Schedules.h - Orders of pipelines by name ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_SCHEDULES_H
#define PATHWAYS_LIB_TRANSFORMS_SCHEDULES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mlir::pathways {

/// The call of one stage of a pipeline for one micro-batch.
struct StageCell {
  /// 'F' is the forward call, 'B' the backward call. 'I' and 'W' are the two
  /// halves of a backward call: what flows to other stages, and the rest.
  char kind;
  int64_t stage;
  int64_t batch;
};

/// The cells of each device, in the order in which it runs them.
using StageOrder = std::vector<std::vector<StageCell>>;

/// The size of a pipeline.
struct PipelineShape {
  int64_t devices;
  int64_t stages;
  int64_t batches;
};

/// Returns the names of the schedules, separated by commas.
std::string listSchedules();

/// Returns true if a schedule with this name exists and has backward calls in
/// halves.
bool hasHalves(StringRef name);

/// Returns the order of the schedule with this name. Fails, with a diagnostic,
/// if there is none or if it does not fit the shape.
FailureOr<StageOrder>
makeSchedule(StringRef name, PipelineShape shape,
             function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_SCHEDULES_H
