//===- plan_view.h - Facts about a plan for reports -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about a plan that the tool's reports share. All functions take a plan
// that passed the verifier.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_PLAN_VIEW_H_
#define TOOLS_PW_RUN_PLAN_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// Returns the islands of `slice`, by run of shards, as "0" or "0, 1".
std::string IslandsText(const proto::Slice& slice);

// Returns the firings of action shards in one step of the plan, which may
// exceed the range of integers.
double FiringsOfStep(const proto::Plan& plan);

// Returns text like "0-3, 6" for a set of numbers in any order.
std::string RangesText(std::vector<int64_t> numbers);

// Returns text like "data=2 model=2", or "one device".
std::string MeshText(const proto::Slice& slice);

// Returns a table for people; the first row is its heading. Columns of whole
// numbers are aligned to the right, others to the left; lines have no trailing
// spaces.
std::string TableText(const std::vector<std::vector<std::string>>& rows);

// Returns text like "1 gang" or "2 gangs".
std::string CountText(uint64_t count, const std::string& what);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_PLAN_VIEW_H_
