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

// Contributions to an array. Outside of devices, the values of a partial array
// are one dense array per contribution, one after the other by rank. If two
// arrays have equal contributions, the values of one can be used as those of
// the other without changing a bit, however else their layouts differ.
struct Contributions {
  Reduction reduction = Reduction::kNone;
  // Sizes of the axes that hold contributions, in the layout's order. Ranks are
  // row-major over them. Empty: there is one rank, whose contribution is the
  // array.
  std::vector<int64_t> sizes;

  // Returns the number of ranks, at least 1.
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
