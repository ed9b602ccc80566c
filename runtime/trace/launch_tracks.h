//===- launch_tracks.h - Launches, by client and island ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_LAUNCH_TRACKS_H_
#define RUNTIME_TRACE_LAUNCH_TRACKS_H_

#include <cstdint>
#include <string>

#include "runtime/trace/flows.h"
#include "runtime/trace/launch_log.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Builds the tracks of the calls and runs of clients, and of the launches on
// schedulers. Flows lead from a call to its grants, and from a grant to the
// first gangs of the launch. So the client must be added before the schedulers,
// and a scheduler before the devices of its island. The index and the flows
// must outlive it.
class LaunchTracks {
 public:
  LaunchTracks(const LogIndex* index, Flows* flows)
      : index_(*index), launches_(&index->log()), flows_(*flows) {}

  void AddClient(TrackGroup* group);
  // Adds the launches of a scheduler on tracks called `name`.
  void AddScheduler(uint32_t scheduler, const std::string& name,
                    TrackGroup* group);

 private:
  Slice CallSlice(const TraceEvent& call, const LaunchLog::Launch* launch);
  TrackRows::Group Granted(const LaunchLog::OnIsland& launch);

  const LogIndex& index_;
  const LaunchLog launches_;
  Flows& flows_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_LAUNCH_TRACKS_H_
