//===- plan_source.h - A plan that others may ask for -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_SOURCE_H_
#define RUNTIME_PLAN_PLAN_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_manifest.h"

namespace pathways {

// Most bytes of a plan in one message.
inline constexpr uint64_t kMaxPlanPiece = uint64_t{256} << 10;

// The bytes of a plan as other processes ask for them: its *head*, which is the
// manifest and then the tables, and its objects. Immutable; any thread.
class PlanSource {
 public:
  // Of `plan`, whose blobs are not copied. As NameOf.
  static absl::StatusOr<std::shared_ptr<const PlanSource>> Create(
      const PlanData& plan);
  // What was fetched and checked.
  PlanSource(std::string head, const PlanManifest& manifest,
             std::vector<std::string> objects);

  const PlanName& name() const { return name_; }
  // That it keeps itself.
  uint64_t kept_bytes() const { return kept_bytes_; }

  struct Piece {
    uint64_t total = 0;  // bytes of all that was asked for
    std::string bytes;   // from the offset, at most kMaxPlanPiece
  };
  // The head, if `objects` is empty, else these objects one after the other:
  // what of it is at `offset`. OutOfRange: there is no such object or offset.
  absl::StatusOr<Piece> Read(absl::Span<const uint32_t> objects,
                             uint64_t offset) const;

 private:
  PlanSource() = default;

  PlanName name_;
  uint64_t kept_bytes_ = 0;
  std::string head_;
  std::vector<absl::Span<const uint8_t>> objects_;
  std::vector<std::string> own_;  // objects, unless `owner_` has them
  std::shared_ptr<const void> owner_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_SOURCE_H_
