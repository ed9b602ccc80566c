//===- live_bytes.cc - Most bytes that are in use at a time ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/live_bytes.h"

#include <algorithm>
#include <limits>

namespace pathways::layout {

uint64_t PeakLiveBytes(int64_t positions,
                       const std::vector<LiveRange>& ranges) {
  if (positions <= 0) return 0;
  // There are fewer than 2^63 ranges, so no sum overflows.
  std::vector<__int128> change(static_cast<size_t>(positions) + 1);
  for (const LiveRange& range : ranges) {
    const int64_t begin = std::max<int64_t>(range.begin, 0);
    const int64_t end = std::min(range.end, positions - 1);
    if (begin > end) continue;
    change[static_cast<size_t>(begin)] += range.bytes;
    change[static_cast<size_t>(end) + 1] -= range.bytes;
  }
  __int128 now = 0, most = 0;
  for (__int128 step : change) {
    now += step;
    most = std::max(most, now);
  }
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return most > kMost ? kMost : static_cast<uint64_t>(most);
}

}  // namespace pathways::layout
