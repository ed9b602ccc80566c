//===- combine.h - Reduction of an array's contributions --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_COMBINE_H_
#define RUNTIME_CLIENT_COMBINE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "pathways/HostArray.h"
#include "runtime/client/array_value.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// Combines `contributions`, which are in order of rank in `values`, into
// `result`, with the bits of a reduction on the devices. Each contribution and
// the result have `bytes` bytes.
void CombineInto(const layout::Contributions& contributions,
                 ElementType element, const char* values, uint64_t bytes,
                 char* result);

// Combines the contributions in the data of `array` into one array of its
// shape. Returns `array` itself if there is only one rank. Returns
// ResourceExhausted if there is no memory for the result.
absl::StatusOr<HostArray> Combine(HostArray array,
                                  const layout::Contributions& contributions);

// Returns a copy of a value, with its contributions combined. `what` names it
// in errors. Returns ResourceExhausted if there is no memory for it, or errors
// of SavedArray::Read.
absl::StatusOr<HostArray> CombinedCopy(const ArrayValue& value,
                                       const std::string& what);

// Returns a line that tells the user that a program with the contributions
// `has` resumes with the contributions `had` of the array `what`. Returns an
// empty string if the bits are the same, since either has one rank or the ranks
// are the same.
std::string CombinedText(const std::string& what,
                         const layout::Contributions& had,
                         const layout::Contributions& has);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COMBINE_H_
