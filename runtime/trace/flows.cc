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

  bool IsWhole() const { return starts == 1 && ends == 1 && begin <= end; }
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
