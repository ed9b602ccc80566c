//===- trace_counters.cc - Steps in flight and memory in use --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace_counters.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways::trace {

std::vector<Counter> StepsInFlight(const LogIndex& index) {
  // Beginning and end by (program, firing).
  std::map<std::pair<uint32_t, uint64_t>, std::pair<TimeNs, TimeNs>> firings;
  for (const TraceEvent& e : index.log().events) {
    if (e.Kind() != TraceKind::kGang && e.Kind() != TraceKind::kMove) continue;
    auto [found, is_new] =
        firings.try_emplace({e.program, e.firing}, e.time, e.end());
    auto& [begin, end] = found->second;
    begin = std::min(begin, e.time);
    end = std::max(end, e.end());
  }
  std::map<uint32_t, Steps> programs;
  for (const auto& [key, span] : firings) {
    Steps& steps = programs[key.first];
    steps.Add(span.first, 1);
    steps.Add(span.second, -1);
  }
  std::vector<Counter> counters;
  for (const auto& [program, steps] : programs) {
    counters.push_back(
        {absl::StrCat(index.ProgramName(program), " steps in flight"), "steps",
         steps.Values()});
  }
  return counters;
}

Counter MemoryInUse(const std::string& name,
                    const std::vector<const TraceEvent*>& events,
                    TraceKind kind) {
  Counter counter{name, "bytes", {}};
  for (const TraceEvent* e : events) {
    if (e->Kind() != kind) continue;
    counter.values.emplace_back(e->time, static_cast<int64_t>(e->value));
  }
  return counter;
}

}  // namespace pathways::trace
