//===- chrome_json.h - Tracks as trace events -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Chrome trace event format, of tracks.
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

// A JSON string. `text` is any bytes; those that are no UTF-8 are replaced.
std::string Json(const std::string& text);

// Microseconds, in which the format counts: "1.005" of 1005 ns.
std::string Us(TimeNs ns);

// The members of a JSON object, for Slice::args. Keys are printed as they are.
class Args {
 public:
  Args& Add(const char* key, const std::string& value) {
    return AddRaw(key, Json(value));
  }
  Args& Add(const char* key, uint64_t value);
  // `json` is one value.
  Args& AddRaw(const char* key, const std::string& json);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Prints the elements of the array "traceEvents", one a line. A group has the
// number of its process; where there is none, groups are numbered from 1, after
// the largest so far. Tracks of all groups are numbered from 1, in order of
// printing.
class EventPrinter {
 public:
  explicit EventPrinter(std::ostream* out) : out_(*out) {}

  // The slices of each track in order of time; of those that begin together the
  // outer, which ends later, first.
  void Print(TrackGroup group);
  // A mark across all tracks, under the first heading.
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
  int64_t group_ = 0;  // of the last one
  int64_t largest_group_ = 0;
  std::optional<int64_t> first_group_;
  int track_ = 0;  // the last number
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_CHROME_JSON_H_
