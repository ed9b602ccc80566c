//===- verify.h - Verifier of plans -----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the rules of docs/plan-format.md. A plan without issues cannot
// deadlock, never overwrites data that is still read, and has counters and
// buffers of known sizes. Whether it fits the machines is checked at load.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_VERIFY_H_
#define RUNTIME_PLAN_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/plan_file.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// Largest number of steps of a program that may be open at a time.
inline constexpr int kMaxStepsInFlight = 1 << 10;
// Largest end of the last buffer in a segment of memory.
inline constexpr uint64_t kMaxSegmentBytes = kMaxBytes;
// Largest cost of an action.
inline constexpr uint64_t kMaxCostNs = uint64_t{1} << 50;

// A table entry, so that callers can map issues back to a source.
struct Subject {
  enum Table {
    kHeader,
    kSlice,
    kLayout,
    kKernel,
    kBuffer,
    kAction,
    kEdge,
    kArgument,
    kResult,
    kLoop,
  };
  Table table = kHeader;
  int64_t index = 0;  // index in the table; 0 for the header
  bool operator==(const Subject&) const = default;
};

struct PlanNote {
  Subject subject;
  std::string text;
};

struct PlanIssue {
  int rule = 0;  // rule of docs/plan-format.md, 1 to 11
  // Self-contained: names the thing and both values.
  std::string message;
  Subject subject;
  // The other places that are part of the conflict.
  std::vector<PlanNote> notes;
};

struct VerifyOptions {
  // Accepts run steps of kernels that have neither code nor segments yet.
  bool before_codegen = false;
  // Writes the iterations of loops out and checks all rules on them. Otherwise
  // a plan with loops is checked for rules 1, 9 and 11, and for rule 2 where it
  // is about the order of iterations. Time is then linear in the iterations.
  bool expands_loops = true;
  // Stops after this many issues.
  int max_issues = 20;
};

// Returns the issues of `plan`, none if it may run, in an order that depends
// only on the plan. `blob_bytes`: size of the blob section. Safe on any input.
// Time is O(n log n) in the size of the tables and, except for explicit device
// lists, does not depend on the number of shards. The size of a plan with loops
// is that of the plan that hosts run (runtime/plan/expand_loops.h).
std::vector<PlanIssue> VerifyPlan(const proto::Plan& plan, uint64_t blob_bytes,
                                  const VerifyOptions& options = {});

// Returns OK if there are no issues, else InvalidArgument with the program's
// name and one line per issue and note.
absl::Status IssuesToStatus(const proto::Plan& plan,
                            const std::vector<PlanIssue>& issues);

// Verifies a plan and returns the issues as a status.
absl::Status CheckPlan(const proto::Plan& plan, uint64_t blob_bytes);
inline absl::Status CheckPlan(const PlanData& plan) {
  return CheckPlan(plan.tables, plan.blobs.size());
}

// Returns "order", "data", ... for messages; "" if there is no such rule.
const char* RuleName(int rule);

}  // namespace pathways

#endif  // RUNTIME_PLAN_VERIFY_H_
