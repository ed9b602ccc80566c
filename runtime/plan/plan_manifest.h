//===- plan_manifest.h - What a plan consists of ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_MANIFEST_H_
#define RUNTIME_PLAN_PLAN_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_hash.h"

namespace pathways {

// The sizes and hashes of a plan's tables and of each object of its kernels, in
// the order of the kernel table: enough to check any of them alone, so who
// needs some of the code takes no more. docs/plan-format.md, "Between
// processes", has its bytes.
struct PlanManifest {
  struct Part {
    uint64_t bytes = 0;
    PlanHash hash;
    bool operator==(const Part&) const = default;
  };
  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kObjectBytes = 40;

  Part tables;
  std::vector<Part> objects;
  bool operator==(const PlanManifest&) const = default;

  // Of how many bytes the manifest is that begins so; nullopt: of none, or it
  // has more than `limit`. `start` has at least kHeaderBytes.
  static std::optional<uint64_t> SizeOf(absl::string_view start,
                                        uint64_t limit);
  // Nullopt: it is none.
  static std::optional<PlanManifest> Read(absl::string_view bytes);
  std::string Write() const;
  // Of all that it names, and of itself; nullopt: more than 2^62 bytes.
  std::optional<uint64_t> TotalBytes() const;
};

// The tables as other processes read them: the same bytes for the same plan,
// always. ResourceExhausted: there are more than one message may have.
absl::StatusOr<std::string> WriteTables(const proto::Plan& tables);

// The objects of all kernels, in order. InvalidArgument: one is not within
// `blobs`.
absl::StatusOr<std::vector<absl::Span<const uint8_t>>> ObjectsOf(
    const PlanData& plan);

// The manifest of a plan, whose tables are not kept: nothing is copied.
// Errors of both of these.
absl::StatusOr<PlanManifest> ManifestOf(const PlanData& plan);
// Its name. Errors of the last.
absl::StatusOr<PlanName> NameOf(const PlanData& plan);

// Names of one plan at many places, each for the price of a hash: neither the
// other tables are written again, nor is code hashed. Any thread.
class PlanNamer {
 public:
  // Errors as NameOf.
  static absl::StatusOr<PlanNamer> Create(const PlanData& plan);
  // As NameOf of the plan with these slices.
  absl::StatusOr<PlanName> NameWith(const PlanSlices& slices) const;

 private:
  std::string program_;
  std::string before_, after_;  // bytes of tables in front of slices, behind
  std::vector<PlanManifest::Part> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_MANIFEST_H_
