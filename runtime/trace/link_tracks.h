//===- link_tracks.h - Messages on links ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_LINK_TRACKS_H_
#define RUNTIME_TRACE_LINK_TRACKS_H_

#include "runtime/trace/log_index.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Returns the messages of a log by link, from one host to another. The group is
// empty if the log has no messages.
TrackGroup LinkTracks(const LogIndex& index);

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_LINK_TRACKS_H_
