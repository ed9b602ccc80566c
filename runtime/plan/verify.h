//===- verify.h - Which plans may run ------------------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the rules of docs/plan-format.md. A plan without issues cannot
// deadlock, never overwrites what is still read, and has counters and buffers
// of known sizes. Whether it fits the machines is checked when it is loaded.
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

// Most steps of a program that may be open at a time.
inline constexpr int kMaxStepsInFlight = 1 << 10;
// Where the last buffer of a segment of memory ends, at most.
inline constexpr uint64_t kMaxSegmentBytes = kMaxBytes;
// Most that an action may cost.
inline constexpr uint64_t kMaxCostNs = uint64_t{1} << 50;

// An entry of a table, for whoever maps issues back to a source.
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
  };
  Table table = kHeader;
  int64_t index = 0;  // in the table; 0 for the header
  bool operator==(const Subject&) const = default;
};

struct PlanNote {
  Subject subject;
  std::string text;
};

struct PlanIssue {
  int rule = 0;         // of docs/plan-format.md, 1 to 10
  std::string message;  // complete by itself: names the thing and both values
  Subject subject;
  std::vector<PlanNote> notes;  // the other halves of the conflict
};

struct VerifyOptions {
  // Accept run steps of kernels that have neither code nor segments yet.
  bool before_codegen = false;
  // Stop after this many issues.
  int max_issues = 20;
};

// The issues of `plan`, none when it may run, in an order that depends on the
// plan alone. `blob_bytes` is the size of the blob section. Safe on any input;
// time is O(n log n) in the size of the tables and does not depend on the
// number of shards, but for explicit device lists.
std::vector<PlanIssue> VerifyPlan(const proto::Plan& plan, uint64_t blob_bytes,
                                  const VerifyOptions& options = {});

// OK when there are none, else InvalidArgument with one line per issue and
// note, headed by the program's name.
absl::Status IssuesToStatus(const proto::Plan& plan,
                            const std::vector<PlanIssue>& issues);

// Both at once.
absl::Status CheckPlan(const proto::Plan& plan, uint64_t blob_bytes);
inline absl::Status CheckPlan(const PlanData& plan) {
  return CheckPlan(plan.tables, plan.blobs.size());
}

// "order", "data", ... for messages; "" when there is no such rule.
const char* RuleName(int rule);

}  // namespace pathways

#endif  // RUNTIME_PLAN_VERIFY_H_
