//===- measure.h - Profile of a trace ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures a profile (runtime/plan/profile.h) from a trace. docs/profiles.md
// says what is measured.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_MEASURE_H_
#define RUNTIME_TRACE_MEASURE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/proto/profile.pb.h"

namespace pathways {

struct TraceLog;

// Returns FailedPrecondition if the header has no fingerprint: a profile of its
// plan could not be matched with a program.
absl::Status CheckMeasurable(const proto::Header& header);

// Measures all plans in the log with the program and fingerprint of `header`.
// The log must be of real time. Returns FailedPrecondition if the plan is not
// measurable, or the log has no successful firing of these plans.
absl::StatusOr<proto::Profile> MeasureProfile(const TraceLog& log,
                                              const proto::Header& header);

}  // namespace pathways

#endif  // RUNTIME_TRACE_MEASURE_H_
