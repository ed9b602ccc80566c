//===- chrome_json.h - Tracks as trace events -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints tracks in the Chrome trace event format.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_CHROME_JSON_H_
#define RUNTIME_TRACE_CHROME_JSON_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "runtime/trace/tracks.h"
#include "runtime/world/world.h"

namespace pathways::trace {

// Returns `text` as a JSON string. Bytes that are not UTF-8 are replaced.
std::string Json(const std::string& text);

// Returns microseconds, the unit of the format: "1.005" for 1005 ns.
std::string Us(TimeNs ns);

// Members of a JSON object, for Slice::args. Keys are printed unescaped.
class Args {
 public:
  Args& Add(const char* key, const std::string& value) {
    return AddRaw(key, Json(value));
  }
  Args& Add(const char* key, uint64_t value);
  // `json` must be one JSON value.
  Args& AddRaw(const char* key, const std::string& json);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Prints the elements of the array "traceEvents", one per line. A group gets
// the number of its process; a group without one gets the number after the
// largest so far, from 1. Tracks of all groups are numbered from 1 in the order
// of printing.
class EventPrinter {
 public:
  explicit EventPrinter(std::ostream* out) : out_(*out) {}

  // Prints a group, with the slices of each track sorted by time. Of slices
  // that begin together, the outer one, which ends later, comes first.
  void Print(TrackGroup group);
  // Prints a mark across all tracks, under the first group.
  void PrintNote(TimeNs time, const char* category, const std::string& text);

 private:
  std::ostream& NewEvent();
  void PrintName(const char* what, int track, const std::string& name,
                 int64_t order);
  void PrintTrack(Track* track);
  void PrintSlice(const Slice& slice);
  void PrintCounter(const Counter& counter);

  std::ostream& out_;
  bool is_first_ = true;
  int64_t group_ = 0;  // number of the last group
  int64_t largest_group_ = 0;
  std::optional<int64_t> first_group_;
  int track_ = 0;  // number of the last track
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_CHROME_JSON_H_
