//===- contributions.h - Ranks of a partial array's values ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_CONTRIBUTIONS_H_
#define RUNTIME_LAYOUT_CONTRIBUTIONS_H_

#include <cstdint>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways::layout {

// The contributions to an array of which each rank has one: values kept outside
// of the devices are then as many dense arrays, one behind the other by rank.
// Two arrays of equal contributions go on from each other with the same bits,
// whatever else of their layouts differs.
struct Contributions {
  Reduction reduction = Reduction::kNone;
  // Sizes of the axes that hold them, as named. Ranks are row-major over these.
  // Empty: there is one rank, whose contribution is the array.
  std::vector<int64_t> sizes;

  // How many ranks there are, at least 1.
  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    return count;
  }
  bool operator==(const Contributions&) const = default;
};

// Returns the contributions to an array of `layout`, which fits `mesh`.
Contributions ContributionsOf(const Layout& layout, const Mesh& mesh);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_CONTRIBUTIONS_H_
