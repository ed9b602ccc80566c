//===- plan_manifest.h - Manifest of a plan ---------------------*- C++ -*-===//
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

// Sizes and hashes of a plan's tables and of each object of its kernels, in the
// order of the kernel table. Each part can be checked alone, so a process
// fetches only the code that it needs. docs/plan-format.md, "Between
// processes", has the format.
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

  // Returns the size in bytes of the manifest that begins with `start`, or
  // nullopt if it is no manifest or has more than `limit` bytes. `start` has at
  // least kHeaderBytes.
  static std::optional<uint64_t> SizeOf(absl::string_view start,
                                        uint64_t limit);
  // Returns nullopt if the bytes are no manifest.
  static std::optional<PlanManifest> Read(absl::string_view bytes);
  std::string Write() const;
  // Returns the bytes of the manifest and of all parts that it names, or
  // nullopt if these are more than 2^62.
  std::optional<uint64_t> TotalBytes() const;
};

// Returns the tables in the format for other processes. Equal plans give equal
// bytes. Returns ResourceExhausted if they are larger than a message may be.
absl::StatusOr<std::string> WriteTables(const proto::Plan& tables);

// Returns the objects of all kernels in order. Returns InvalidArgument if one
// is not within `blobs`.
absl::StatusOr<std::vector<absl::Span<const uint8_t>>> ObjectsOf(
    const PlanData& plan);

// Returns the manifest of a plan, without a copy of its tables or objects.
// Errors as for WriteTables and ObjectsOf.
absl::StatusOr<PlanManifest> ManifestOf(const PlanData& plan);
// Returns the name of a plan. Errors as for ManifestOf.
absl::StatusOr<PlanName> NameOf(const PlanData& plan);

// Names one plan with different slices, each for the cost of hashing the
// tables: the other tables are not serialized and the code is not hashed again.
// Any thread may call it.
class PlanNamer {
 public:
  // Errors as for NameOf.
  static absl::StatusOr<PlanNamer> Create(const PlanData& plan);
  // Returns NameOf the plan with these slices.
  absl::StatusOr<PlanName> NameWith(const PlanSlices& slices) const;

 private:
  std::string program_;
  std::string before_, after_;  // bytes of tables before and after the slices
  std::vector<PlanManifest::Part> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_MANIFEST_H_
