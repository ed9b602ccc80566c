//===- flows.cc - Arrows between slices -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/flows.h"

namespace pathways::trace {
namespace {

struct Ends {
  int starts = 0, ends = 0;
  TimeNs begin = 0, end = 0;
  const TrackGroup *from = nullptr, *to = nullptr;

  bool IsWhole() const {
    if (starts != 1 || ends != 1) return false;
    const TimeNs error =
        from->process == to->process ? 0 : from->clock_error + to->clock_error;
    return begin <= end + error;
  }
};

}  // namespace

void KeepWholeFlows(std::vector<TrackGroup>* groups) {
  absl::flat_hash_map<uint64_t, Ends> flows;
  for (const TrackGroup& group : *groups) {
    for (const Track& track : group.tracks) {
      for (const Slice& slice : track.slices) {
        for (const FlowEnd& flow : slice.flows) {
          Ends& ends = flows[flow.id];
          ++(flow.starts ? ends.starts : ends.ends);
          (flow.starts ? ends.begin : ends.end) = slice.begin;
          (flow.starts ? ends.from : ends.to) = &group;
        }
      }
    }
  }
  const auto is_broken = [&](const FlowEnd& flow) {
    return !flows[flow.id].IsWhole();
  };
  for (TrackGroup& group : *groups) {
    for (Track& track : group.tracks) {
      for (Slice& slice : track.slices) std::erase_if(slice.flows, is_broken);
    }
  }
}

}  // namespace pathways::trace
