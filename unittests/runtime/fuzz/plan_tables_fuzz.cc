//===- plan_tables_fuzz.cc - Tables of plans, before they may run ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <limits>
#include <string>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "runtime/plan/plan_manifest.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

bool IsSame(const std::vector<PlanIssue>& a, const std::vector<PlanIssue>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].message != b[i].message || a[i].rule != b[i].rule ||
        !(a[i].subject == b[i].subject)) {
      return false;
    }
  }
  return true;
}

// Calls the functions that accept any plan without issues.
void CheckGood(const proto::Plan& plan) {
  for (const proto::Buffer& buffer : plan.buffers()) {
    FUZZ_CHECK(SpanBytes(buffer) <= kMaxSegmentBytes);
    FUZZ_CHECK(ShardBytes(plan, buffer) <= kMaxBytes);
  }
  for (uint32_t slice = 0; slice < static_cast<uint32_t>(plan.slices_size());
       ++slice) {
    FUZZ_CHECK(SegmentBytes(plan, slice, proto::DEVICE) <= kMaxSegmentBytes);
  }
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {1 << 20, 1500};

}  // namespace pathways

// The input says how many bytes of code there are, and then has the tables.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  const google::protobuf::LogSilencer silence;
  fuzz::Input input(data, size);
  const uint64_t blob_bytes = input.Number(2);
  const std::string bytes = input.TakeRest();
  proto::Plan plan;
  if (!plan.ParseFromString(bytes)) return 0;
  VerifyOptions options;
  options.before_codegen = blob_bytes % 2 != 0;
  const std::vector<PlanIssue> issues = VerifyPlan(plan, blob_bytes, options);
  FUZZ_CHECK(issues.size() <= static_cast<size_t>(options.max_issues));
  FUZZ_CHECK(IsSame(issues, VerifyPlan(plan, blob_bytes, options)));
  FUZZ_CHECK(IssuesToStatus(plan, issues).ok() == issues.empty());
  for (const PlanIssue& issue : issues) {
    FUZZ_CHECK(issue.rule >= 1 && issue.rule <= 11 && !issue.message.empty());
  }
  if (issues.empty()) CheckGood(plan);
  // Plans go to other processes in this form.
  const absl::StatusOr<std::string> written = WriteTables(plan);
  FUZZ_CHECK(written.ok());
  proto::Plan again;
  FUZZ_CHECK(again.ParseFromString(*written));
  FUZZ_CHECK(IsSame(issues, VerifyPlan(again, blob_bytes, options)));
  return 0;
}
