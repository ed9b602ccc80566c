//===- device_tracks.h - Tracks of a device ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_DEVICE_TRACKS_H_
#define RUNTIME_TRACE_DEVICE_TRACKS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/trace/flows.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Builds the tracks of one device after another: its queue, its transfers, and
// the launches submitted to it. Flows from grants end here; flows from a send
// to the receives of its pieces on other devices begin and end here. The index
// and the flows must outlive it.
class DeviceTracks {
 public:
  DeviceTracks(LogIndex* index, Flows* flows)
      : index_(*index), flows_(*flows) {}

  // `events`: events of the device in order of time.
  void Add(const std::string& name,
           const std::vector<const TraceEvent*>& events, TrackGroup* group);

 private:
  Slice GangSlice(const TraceEvent& gang);
  Slice MoveSlice(const TraceEvent& move);
  // Returns the ends of the flows of pieces that a send starts or a recv ends.
  std::vector<FlowEnd> PieceFlows(const TraceEvent& move,
                                  const proto::Action& action);

  // Program, send, firing, source and destination of a movement.
  using PieceKey = std::tuple<uint32_t, uint32_t, uint64_t, int64_t, int64_t>;

  LogIndex& index_;
  Flows& flows_;
  absl::flat_hash_map<PieceKey, uint64_t> pieces_;  // number of each flow
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_DEVICE_TRACKS_H_
