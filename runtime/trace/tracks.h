//===- tracks.h - Tracks of a trace viewer ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices on tracks and numbers over time, in groups. Nothing here depends on
// events or on a file format. docs/tracing.md lists the tracks.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_TRACKS_H_
#define RUNTIME_TRACE_TRACKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/world/world.h"

namespace pathways::trace {

// One end of a flow, which is an arrow between slices.
struct FlowEnd {
  uint64_t id = 0;
  const char* name = "";
  bool starts = false;
};

// Something that lasted from `begin` to `end`.
struct Slice {
  TimeNs begin = 0, end = 0;
  const char* category = "";
  std::string name;
  std::string args;            // members of a JSON object
  std::vector<FlowEnd> flows;  // flows that start or end at `begin`
};

// Returns a slice; `end` is raised to `begin` if it is earlier.
Slice Span(TimeNs begin, TimeNs end, const char* category, std::string name,
           std::string args = "");

// Track of nested slices.
struct Track {
  std::string name;
  std::vector<Slice> slices;
};

// A number over time: (time, value from then on), in order of time.
struct Counter {
  std::string name;
  const char* unit = "";
  std::vector<std::pair<TimeNs, int64_t>> values;
};

// Tracks and counters under one heading of the viewer.
struct TrackGroup {
  std::string name;
  std::vector<Track> tracks;
  std::vector<Counter> counters;
  // Process of the whole group; nullopt if there is only one process, or the
  // group belongs to several.
  std::optional<uint32_t> process = std::nullopt;
  TimeNs clock_error = 0;  // error of that process's clock

  // Append a track or a counter, unless it is empty.
  void Add(Track track);
  void Add(Counter counter);
};

// Places slices that may overlap on as few tracks as possible. Inner slices go
// on the track of their outer one.
class TrackRows {
 public:
  struct Group {
    Slice outer;
    std::vector<Slice> inner;
  };
  void Add(Group group) { groups_.push_back(std::move(group)); }
  // Appends the tracks, called `name`, "`name` 2", ..., and clears the rows.
  void Place(const std::string& name, std::vector<Track>* tracks);

 private:
  std::vector<Group> groups_;
};

// Computes the values of a counter from changes, which may come in any order.
class Steps {
 public:
  void Add(TimeNs time, int64_t change) { changes_.emplace_back(time, change); }
  // Returns (time, value after it), once for each time with a change. The
  // initial value is high enough that no value is negative: credits whose
  // taking is missing in the log may be returned in it.
  std::vector<std::pair<TimeNs, int64_t>> Values() const;

 private:
  std::vector<std::pair<TimeNs, int64_t>> changes_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_TRACKS_H_
