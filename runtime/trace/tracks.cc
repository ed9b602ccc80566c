//===- tracks.cc - Tracks of a trace viewer -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/tracks.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace pathways::trace {

Slice Span(TimeNs begin, TimeNs end, const char* category, std::string name,
           std::string args) {
  return {begin,           std::max(begin, end), category,
          std::move(name), std::move(args),      {}};
}

void TrackGroup::Add(Track track) {
  if (!track.slices.empty()) tracks.push_back(std::move(track));
}

void TrackGroup::Add(Counter counter) {
  if (!counter.values.empty()) counters.push_back(std::move(counter));
}

void TrackRows::Place(const std::string& name, std::vector<Track>* tracks) {
  std::vector<Group> groups = std::exchange(groups_, {});
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) {
                     return std::make_pair(a.outer.begin, a.outer.end) <
                            std::make_pair(b.outer.begin, b.outer.end);
                   });
  const size_t first = tracks->size();
  std::set<std::pair<TimeNs, size_t>> busy;  // (end, index) of tracks in use
  std::set<size_t> free;
  for (Group& group : groups) {
    while (!busy.empty() && busy.begin()->first <= group.outer.begin) {
      free.insert(busy.begin()->second);
      busy.erase(busy.begin());
    }
    if (free.empty()) {
      const size_t row = tracks->size() - first;
      free.insert(row);
      tracks->push_back(
          {row == 0 ? name : absl::StrCat(name, " ", row + 1), {}});
    }
    const size_t row = *free.begin();
    free.erase(free.begin());
    busy.insert({group.outer.end, row});
    std::vector<Slice>& slices = (*tracks)[first + row].slices;
    slices.push_back(std::move(group.outer));
    for (Slice& slice : group.inner) slices.push_back(std::move(slice));
  }
}

std::vector<std::pair<TimeNs, int64_t>> Steps::Values() const {
  std::vector<std::pair<TimeNs, int64_t>> changes = changes_;
  // At equal times, increases come before decreases.
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  int64_t value = 0, least = 0;
  for (const auto& [time, change] : changes) {
    least = std::min(least, value += change);
  }
  value = -least;
  std::vector<std::pair<TimeNs, int64_t>> values;
  for (const auto& [time, change] : changes) {
    value += change;
    if (!values.empty() && values.back().first == time) {
      values.back().second = value;
    } else {
      values.emplace_back(time, value);
    }
  }
  return values;
}

}  // namespace pathways::trace
