//===- explain_schedules.h - Costs of schedules of a program ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_EXPLAIN_SCHEDULES_H_
#define TOOLS_PW_RUN_EXPLAIN_SCHEDULES_H_

#include <string>
#include <vector>

#include "pathways/ScheduleCosts.h"

namespace pathways::pw_run {

// Returns tables of the schedules that fit, and of the memory that their
// devices need; then the schedules that do not fit, with reasons.
std::string SchedulesText(const std::vector<ScheduleCosts>& schedules);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_SCHEDULES_H_
