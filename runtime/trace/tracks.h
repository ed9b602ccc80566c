//===- tracks.h - What a viewer shows of a trace ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices on tracks and numbers over time, under headings. Nothing here knows of
// events or of a file format. docs/tracing.md says what is on which track.
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

// One of the two ends of a flow, an arrow from slice to slice.
struct FlowEnd {
  uint64_t id = 0;
  const char* name = "";
  bool starts = false;
};

// Something that took from `begin` to `end`.
struct Slice {
  TimeNs begin = 0, end = 0;
  const char* category = "";
  std::string name;
  std::string args;            // members of a JSON object
  std::vector<FlowEnd> flows;  // at `begin`
};

// A slice that ends no earlier than it begins.
Slice Span(TimeNs begin, TimeNs end, const char* category, std::string name,
           std::string args = "");

// Slices that nest.
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

// What is under one heading of the viewer.
struct TrackGroup {
  std::string name;
  std::vector<Track> tracks;
  std::vector<Counter> counters;
  // The process that all of it is of; nullopt: there is only one, or it is of
  // several.
  std::optional<uint32_t> process = std::nullopt;
  TimeNs clock_error = 0;  // of that process

  // Leave out what is empty.
  void Add(Track track);
  void Add(Counter counter);
};

// Slices that may overlap, on as few tracks as it takes. What is inside of a
// slice goes where it is.
class TrackRows {
 public:
  struct Group {
    Slice outer;
    std::vector<Slice> inner;
  };
  void Add(Group group) { groups_.push_back(std::move(group)); }
  // Appends the tracks, called `name`, "`name` 2", ..., and is empty again.
  void Place(const std::string& name, std::vector<Track>* tracks);

 private:
  std::vector<Group> groups_;
};

// Makes the values of a counter from changes, in any order.
class Steps {
 public:
  void Add(TimeNs time, int64_t change) { changes_.emplace_back(time, change); }
  // (time, value after it), once for each time with a change. Starts high
  // enough never to be negative: of what is given back, what is gone from the
  // log was taken before.
  std::vector<std::pair<TimeNs, int64_t>> Values() const;

 private:
  std::vector<std::pair<TimeNs, int64_t>> changes_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_TRACKS_H_
