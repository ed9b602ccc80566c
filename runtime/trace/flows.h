//===- flows.h - Arrows between slices --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_FLOWS_H_
#define RUNTIME_TRACE_FLOWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Numbers flows, from 1, in the order in which they are asked for; and knows
// which event a flow ends at when its start is made first.
class Flows {
 public:
  uint64_t New() { return ++last_; }
  // A new flow, which ends at `event` of the log; the last one to it counts.
  uint64_t NewTo(const TraceEvent& event) { return to_[&event] = New(); }
  std::optional<uint64_t> To(const TraceEvent& event) const {
    auto found = to_.find(&event);
    if (found == to_.end()) return std::nullopt;
    return found->second;
  }

 private:
  uint64_t last_ = 0;
  absl::flat_hash_map<const TraceEvent*, uint64_t> to_;
};

// Drops the ends of each flow that has not one start and one end, the end no
// earlier than the start: either may be gone from the log. Between processes
// the end may seem earlier by the errors of both clocks.
void KeepWholeFlows(std::vector<TrackGroup>* groups);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_FLOWS_H_
