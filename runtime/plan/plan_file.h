//===- plan_file.h - Plans as files and bytes ----------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The container of docs/plan-format.md, section "The file". The reader trusts
// nothing: it checks every offset and size before use, and every byte of a file
// is covered by a checksum or must be zero. A plan from a file is well formed
// only as a file; VerifyPlan (verify.h) says whether it may run.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_FILE_H_
#define RUNTIME_PLAN_PLAN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

inline constexpr uint32_t kPlanFormatVersion = 1;
inline constexpr uint64_t kBlobAlignment = 64;
// Largest serialized table in bytes. Blobs have no such limit.
inline constexpr uint64_t kMaxTableBytes = uint64_t{1} << 28;

// A plan in memory. `blobs` starts at a multiple of kBlobAlignment and lives as
// long as `owner` or a copy of it, which is a mapping of the file or memory.
struct PlanData {
  proto::Plan tables;
  absl::Span<const uint8_t> blobs;
  std::shared_ptr<const void> owner;
};

// The slices of a plan: the only tables that say on which devices it runs.
using PlanSlices = google::protobuf::RepeatedPtrField<proto::Slice>;
// Returns a copy of a plan with other slices.
PlanData WithSlices(const PlanData& plan, PlanSlices slices);

// Returns a PlanData that owns a copy of `blobs`.
PlanData MakePlanData(proto::Plan tables, absl::Span<const uint8_t> blobs);

// Returns true if `bytes` begin like a plan file.
bool LooksLikePlan(absl::string_view bytes);

// Parses a plan. The bytes need not outlive the result. Returns InvalidArgument
// if they are no plan, damaged, or of another format version; the message names
// the part and both values.
absl::StatusOr<PlanData> ParsePlan(absl::string_view bytes);

// Maps the file at `path`. The file must not be changed while the result lives;
// WritePlanFile replaces files and never changes one. Returns NotFound or
// PermissionDenied if the system does, and InvalidArgument if it is not a
// regular file or ParsePlan rejects it. All messages name `path`.
absl::StatusOr<PlanData> ReadPlanFile(const std::string& path);

// Returns the bytes of a plan file. Equal plans give equal bytes. Returns an
// empty string if a table is larger than kMaxTableBytes.
std::string SerializePlan(const proto::Plan& plan,
                          absl::Span<const uint8_t> blobs);

// Writes a plan file atomically: a reader of `path` sees either the old file or
// the complete new one. Errors name `path` and the system's reason; `path` is
// then unchanged.
absl::Status WritePlanFile(const std::string& path, const proto::Plan& plan,
                           absl::Span<const uint8_t> blobs);

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_FILE_H_
