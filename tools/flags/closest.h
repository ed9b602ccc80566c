//===- closest.h - Suggestions for misspelled names -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_FLAGS_CLOSEST_H_
#define TOOLS_FLAGS_CLOSEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pathways::flags {

// Returns the one of `names` that is closest to `name` by edit distance, or ""
// if none is close.
std::string Closest(absl::string_view name,
                    const std::vector<std::string>& names);

// Returns "; did you mean 'NAME'?", or "" if no name is close.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& names);

}  // namespace pathways::flags

#endif  // TOOLS_FLAGS_CLOSEST_H_
