//===- plan_source.h - Plan that other processes may fetch ------*- C++ -*-===//
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

// Largest part of a plan in one message, in bytes.
inline constexpr uint64_t kMaxPlanPiece = uint64_t{256} << 10;

// The bytes of a plan that other processes request: its *head*, which is the
// manifest followed by the tables, and its objects. Immutable; any thread may
// call it.
class PlanSource {
 public:
  // Returns the source of `plan`, whose blobs are not copied. Errors as for
  // NameOf.
  static absl::StatusOr<std::shared_ptr<const PlanSource>> Create(
      const PlanData& plan);
  // Makes a source of a plan that was fetched and checked.
  PlanSource(std::string head, const PlanManifest& manifest,
             std::vector<std::string> objects);

  const PlanName& name() const { return name_; }
  // Returns the bytes that the source owns.
  uint64_t kept_bytes() const { return kept_bytes_; }

  struct Piece {
    uint64_t total = 0;  // bytes of everything requested
    std::string bytes;   // bytes from the offset on, at most kMaxPlanPiece
  };
  // Returns a piece, from `offset` on, of the concatenation of these objects,
  // or of the head if `objects` is empty. Returns OutOfRange if there is no
  // such object or offset.
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
