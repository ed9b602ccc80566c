//===- combine.h - One array of its contributions ---------------*- C++ -*-===//
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
#include "runtime/base/host_array.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// Combines `contributions`, which are one behind the other in `values`, to
// `result`, which has as many bytes as each of them, with the bits that a
// reduction on the devices has.
void CombineInto(const layout::Contributions& contributions,
                 ElementType element, const char* values, uint64_t bytes,
                 char* result);

// An array of the shape of `array`, whose data are `contributions`; itself, if
// there is one rank only. ResourceExhausted: there is no memory for it.
absl::StatusOr<HostArray> Combine(HostArray array,
                                  const layout::Contributions& contributions);

// One line for whoever goes on from `had`, of the array that `what` names, with
// a program that has other contributions to it; empty: the bits are the same,
// since there is one rank on either side, or the ranks are the same.
std::string CombinedText(const std::string& what,
                         const layout::Contributions& had,
                         const layout::Contributions& has);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COMBINE_H_
