//===- LoopSchedules.h - Schedules that a loop may have ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_LOOPSCHEDULES_H
#define PATHWAYS_TRANSFORMS_LOOPSCHEDULES_H

#include "pathways/Dialect/Pathways/Pathways.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::pathways {

/// The schedule of a loop that takes the fastest of all schedules that fit.
/// The API replaces it by one of these, before pw-split-backward; the passes
/// alone refuse it.
inline constexpr llvm::StringLiteral kAutoSchedule = "auto";

/// Returns the names of all schedules, in a fixed order.
SmallVector<StringRef> getScheduleNames();

/// Returns the only loop of `program` that has labels, whose order is to be
/// `schedule`. Fails, with a diagnostic, if there is none, if there are
/// several, or if a condition ends it.
FailureOr<ForOp> findLabelledLoop(ProgramOp program, StringRef schedule);

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_LOOPSCHEDULES_H
