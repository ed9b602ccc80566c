//===- chrome_json.cc - Tracks as trace events ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/chrome_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace pathways::trace {

std::string Json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string Us(TimeNs ns) {
  const uint64_t magnitude =
      ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return absl::StrFormat("%s%d.%03d", ns < 0 ? "-" : "", magnitude / 1000,
                         magnitude % 1000);
}

Args& Args::Add(const char* key, uint64_t value) {
  return AddRaw(key, absl::StrCat(value));
}

Args& Args::AddRaw(const char* key, const std::string& json) {
  absl::StrAppend(&text_, text_.empty() ? "" : ",", "\"", key, "\":", json);
  return *this;
}

std::ostream& EventPrinter::NewEvent() {
  out_ << (is_first_ ? "\n" : ",\n");
  is_first_ = false;
  return out_;
}

void EventPrinter::Print(TrackGroup group) {
  group_ = group.process.has_value() ? *group.process : largest_group_ + 1;
  largest_group_ = std::max(largest_group_, group_);
  if (!first_group_.has_value()) first_group_ = group_;
  PrintName("process", 0, group.name, group_);
  for (Track& track : group.tracks) {
    ++track_;
    PrintName("thread", track_, track.name, track_);
    PrintTrack(&track);
  }
  for (const Counter& counter : group.counters) PrintCounter(counter);
}

// Prints the name of a track or group, and its place: without one, viewers sort
// by name.
void EventPrinter::PrintName(const char* what, int track,
                             const std::string& name, int64_t order) {
  NewEvent() << "{\"ph\":\"M\",\"pid\":" << group_ << ",\"tid\":" << track
             << ",\"name\":\"" << what
             << "_name\",\"args\":{\"name\":" << Json(name) << "}}";
  NewEvent() << "{\"ph\":\"M\",\"pid\":" << group_ << ",\"tid\":" << track
             << ",\"name\":\"" << what
             << "_sort_index\",\"args\":{\"sort_index\":" << order << "}}";
}

void EventPrinter::PrintTrack(Track* track) {
  std::stable_sort(track->slices.begin(), track->slices.end(),
                   [](const Slice& a, const Slice& b) {
                     return a.begin != b.begin ? a.begin < b.begin
                                               : a.end > b.end;
                   });
  for (const Slice& slice : track->slices) PrintSlice(slice);
}

void EventPrinter::PrintSlice(const Slice& slice) {
  NewEvent() << "{\"ph\":\"X\",\"pid\":" << group_ << ",\"tid\":" << track_
             << ",\"ts\":" << Us(slice.begin)
             << ",\"dur\":" << Us(slice.end - slice.begin) << ",\"cat\":\""
             << slice.category << "\",\"name\":" << Json(slice.name)
             << ",\"args\":{" << slice.args << "}}";
  for (const FlowEnd& flow : slice.flows) {
    NewEvent() << "{\"ph\":\"" << (flow.starts ? "s" : "f\",\"bp\":\"e")
               << "\",\"id\":" << flow.id << ",\"pid\":" << group_
               << ",\"tid\":" << track_ << ",\"ts\":" << Us(slice.begin)
               << ",\"cat\":\"flow\",\"name\":\"" << flow.name << "\"}";
  }
}

void EventPrinter::PrintCounter(const Counter& counter) {
  for (const auto& [time, value] : counter.values) {
    NewEvent() << "{\"ph\":\"C\",\"pid\":" << group_ << ",\"ts\":" << Us(time)
               << ",\"name\":" << Json(counter.name) << ",\"args\":{\""
               << counter.unit << "\":" << value << "}}";
  }
}

void EventPrinter::PrintNote(TimeNs time, const char* category,
                             const std::string& text) {
  NewEvent() << "{\"ph\":\"i\",\"s\":\"g\",\"pid\":" << first_group_.value_or(1)
             << ",\"tid\":0,\"ts\":" << Us(time) << ",\"cat\":\"" << category
             << "\",\"name\":" << Json(text) << "}";
}

}  // namespace pathways::trace
