//===- measure.h - What a run says that parts of a program cost -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a trace to a profile (runtime/plan/profile.h). docs/profiles.md says
// what is measured.
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

// FailedPrecondition: the plan with that header has no fingerprint, so nobody
// could tell what a profile of it is of.
absl::Status CheckMeasurable(const proto::Header& header);

// What the log, of real time, has of all plans with the program and the
// fingerprint of `header`. FailedPrecondition: it is not measurable, or the log
// has no firing of them that went well.
absl::StatusOr<proto::Profile> MeasureProfile(const TraceLog& log,
                                              const proto::Header& header);

}  // namespace pathways

#endif  // RUNTIME_TRACE_MEASURE_H_
