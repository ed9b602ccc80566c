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

// Numbers flows from 1 in the order of the requests. It also records the event
// at which a flow ends, for flows whose start is built first.
class Flows {
 public:
  uint64_t New() { return ++last_; }
  // Returns a new flow that ends at `event` of the log. A later flow to the
  // same event replaces it.
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

// Drops each flow that does not have exactly one start and one end, either of
// which may be missing in the log, or whose end is before its start. Between
// processes the end may seem earlier by at most the sum of both clock errors.
void KeepWholeFlows(std::vector<TrackGroup>* groups);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_FLOWS_H_
