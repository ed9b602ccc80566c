//===- copy.cc - Copies of boxes between dense buffers --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways::layout {
namespace {

// A dimension that must be stepped through. Strides are in bytes.
struct Step {
  int64_t count, source_stride, destination_stride;
};

// Copies `step.count` runs. A size that is known at compile time turns the copy
// of one element into a load and a store.
template <int64_t kBytes>
void CopyRuns(const char* source, char* destination, const Step& step,
              int64_t run) {
  for (int64_t i = 0; i < step.count; ++i) {
    std::memcpy(destination, source, kBytes > 0 ? kBytes : run);
    source += step.source_stride;
    destination += step.destination_stride;
  }
}

using RunCopier = void (*)(const char*, char*, const Step&, int64_t);

RunCopier CopierFor(int64_t run) {
  switch (run) {
    case 1:
      return CopyRuns<1>;
    case 2:
      return CopyRuns<2>;
    case 4:
      return CopyRuns<4>;
    case 8:
      return CopyRuns<8>;
    case 16:
      return CopyRuns<16>;
    default:
      return CopyRuns<0>;
  }
}

}  // namespace

int64_t DenseOffset(const std::vector<int64_t>& shape,
                    const std::vector<int64_t>& offset,
                    const std::vector<int64_t>& extent) {
  int64_t begin = 0;
  bool is_split = false;  // by an outer dimension
  for (size_t d = 0; d < shape.size(); ++d) {
    if (is_split && extent[d] != shape[d]) return -1;
    is_split |= extent[d] > 1;
    begin = begin * shape[d] + offset[d];
  }
  return begin;
}

void CopyBox(const void* source, const std::vector<int64_t>& source_shape,
             const std::vector<int64_t>& source_offset, void* destination,
             const std::vector<int64_t>& destination_shape,
             const std::vector<int64_t>& destination_offset,
             const std::vector<int64_t>& extent, int64_t element_bytes) {
  if (element_bytes <= 0) return;
  for (int64_t e : extent) {
    if (e <= 0) return;
  }
  const char* from = static_cast<const char*>(source);
  char* into = static_cast<char*>(destination);

  // Steps, minor first. Dimensions of extent 1 need none, so 62 steps suffice
  // for any box whose bytes can be counted, and nothing is allocated.
  std::array<Step, 63> steps;  // not cleared: most boxes need none
  size_t num_steps = 0;
  int64_t run = element_bytes;  // contiguous on both sides
  int64_t source_stride = element_bytes;
  int64_t destination_stride = element_bytes;
  for (size_t d = extent.size(); d-- > 0;) {
    from += source_offset[d] * source_stride;
    into += destination_offset[d] * destination_stride;
    if (extent[d] > 1) {
      if (num_steps == 0 && source_stride == run && destination_stride == run) {
        run *= extent[d];
      } else {
        steps[num_steps++] = {extent[d], source_stride, destination_stride};
      }
    }
    source_stride *= source_shape[d];
    destination_stride *= destination_shape[d];
  }
  if (num_steps == 0) {
    std::memcpy(into, from, run);
    return;
  }

  RunCopier copy = CopierFor(run);
  std::array<int64_t, 63> at = {};
  while (true) {
    copy(from, into, steps[0], run);
    size_t s = 1;
    for (; s < num_steps; ++s) {
      from += steps[s].source_stride;
      into += steps[s].destination_stride;
      if (++at[s] < steps[s].count) break;
      from -= steps[s].source_stride * steps[s].count;
      into -= steps[s].destination_stride * steps[s].count;
      at[s] = 0;
    }
    if (s == num_steps) return;
  }
}

}  // namespace pathways::layout
