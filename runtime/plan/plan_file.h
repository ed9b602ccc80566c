//===- plan_file.h - Plans as files and bytes ----------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The container of docs/plan-format.md, section "The file". Reading trusts
// nothing: every offset and size is checked before it is used, and every byte
// of a file is covered by a checksum or must be zero. A plan that was read is
// well formed as a file only; VerifyPlan (verify.h) says whether it may run.
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
// Largest serialized table, in bytes. Blobs have no such limit.
inline constexpr uint64_t kMaxTableBytes = uint64_t{1} << 28;

// A plan in memory. `blobs` starts at a multiple of kBlobAlignment and lives as
// long as `owner` or a copy of it (a mapping of the file, or memory).
struct PlanData {
  proto::Plan tables;
  absl::Span<const uint8_t> blobs;
  std::shared_ptr<const void> owner;
};

// The only tables that say where a plan is.
using PlanSlices = google::protobuf::RepeatedPtrField<proto::Slice>;
// A copy of a plan's tables, with these in place of its slices.
PlanData WithSlices(const PlanData& plan, PlanSlices slices);

// A PlanData that owns a copy of `blobs`.
PlanData MakePlanData(proto::Plan tables, absl::Span<const uint8_t> blobs);

// Whether `bytes` begin as a plan file does.
bool LooksLikePlan(absl::string_view bytes);

// Reads a plan from bytes, which need not outlive the result. InvalidArgument:
// the bytes are not a plan, damaged, or of another format version; the message
// names the part and both values.
absl::StatusOr<PlanData> ParsePlan(absl::string_view bytes);

// Maps the file at `path`, which must not be changed while the result lives
// (WritePlanFile replaces a file, it never changes one). NotFound or
// PermissionDenied as the system says; InvalidArgument: not a regular file, or
// as ParsePlan. All messages name `path`.
absl::StatusOr<PlanData> ReadPlanFile(const std::string& path);

// The bytes of a plan file: the same bytes for the same plan, always. Empty
// when a table is larger than kMaxTableBytes.
std::string SerializePlan(const proto::Plan& plan,
                          absl::Span<const uint8_t> blobs);

// Writes a plan file at once or not at all: a reader of `path` sees the old
// file or the whole new one. Errors name `path` and the system's reason and
// leave `path` as it was.
absl::Status WritePlanFile(const std::string& path, const proto::Plan& plan,
                           absl::Span<const uint8_t> blobs);

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_FILE_H_
