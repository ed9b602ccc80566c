//===- plan_hash.h - Hashes and names of plans ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_HASH_H_
#define RUNTIME_PLAN_PLAN_HASH_H_

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace pathways {

// A SHA-256 hash.
struct PlanHash {
  std::array<uint8_t, 32> bytes = {};

  auto operator<=>(const PlanHash&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const PlanHash& hash) {
    return H::combine(std::move(state), hash.bytes);
  }
  // Returns the bytes to send.
  absl::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Sets the hash to the bytes. Returns false if their number is not that of a
  // hash.
  bool Read(absl::string_view from);
  // Returns the first 16 hexadecimal digits, for messages.
  std::string Text() const;
};

// Name of a plan between processes: the hash of its manifest, and the number of
// bytes of the whole plan (docs/plan-format.md, "Between processes").
struct PlanName {
  PlanHash hash;
  uint64_t bytes = 0;
  auto operator<=>(const PlanName&) const = default;
};

// Hashes bytes that arrive in parts.
class PlanHasher {
 public:
  PlanHasher();
  ~PlanHasher();

  void Add(absl::Span<const uint8_t> bytes);
  // Returns the hash. The hasher must not be used afterwards.
  PlanHash Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

PlanHash HashOf(absl::Span<const uint8_t> bytes);
inline PlanHash HashOf(absl::string_view bytes) {
  return HashOf(absl::MakeConstSpan(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_HASH_H_
