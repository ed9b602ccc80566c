//===- entry_ops.cc - Tokens, pieces and operations of entries ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/entry_ops.h"

#include <cstring>

namespace pathways {

void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data) {
  int64_t row = element_bytes;  // bytes of one index of dimension d
  for (size_t d = shape.size(); d-- > 0;) {
    // For each index of the dimensions before d, including those in their
    // padding, zero the tail of d.
    const int64_t plane = row * shape[d];
    int64_t outer = 1;
    for (size_t o = 0; o < d; ++o) outer *= shape[o];
    const int64_t tail = (shape[d] - valid[d]) * row;
    for (int64_t o = 0; tail > 0 && o < outer; ++o) {
      std::memset(data + o * plane + valid[d] * row, 0, tail);
    }
    row = plane;
  }
}

}  // namespace pathways
