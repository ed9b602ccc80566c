//===- sim_links.cc - Arrival times in a simulation -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_links.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pathways {
namespace {

// Returns value * factor, at most the largest Integer. The result is exactly
// `value` if the factor is 1.
template <typename Integer>
Integer Times(Integer value, double factor) {
  if (factor == 1) return value;
  const double product = static_cast<double>(value) * factor;
  // The largest Integer is not a double; it converts to 2^63 or 2^64.
  constexpr auto kMost = std::numeric_limits<Integer>::max();
  if (product >= static_cast<double>(kMost)) return kMost;
  return static_cast<Integer>(product);
}

}  // namespace

TimeNs SimLinks::JitterOf(const LinkModel& link) {
  if (link.jitter_ns == 0) return 0;
  return static_cast<TimeNs>(
      random_.UpTo(static_cast<uint64_t>(link.jitter_ns)));
}

TimeNs SimLinks::InHost(LocalId from, TimeNs now, uint64_t bytes) {
  const TimeNs time = Later(Later(now, local_.WireTime(bytes)),
                            local_.latency_ns + JitterOf(local_));
  const size_t sender = from == kNobody ? 0 : size_t{IndexOf(from)} + 1;
  if (sender >= last_in_host_.size()) last_in_host_.resize(sender + 1);
  // One clamp per sender keeps the order for each of its receivers. The tie of
  // the queue orders receivers with equal times.
  TimeNs& last = last_in_host_[sender];
  return last = std::max(last, time);
}

SimLinks::Way SimLinks::BetweenHosts(const Placement& from, const Placement& to,
                                     TimeNs now, uint64_t bytes,
                                     const FaultOutcome& outcome) {
  Wire& wire = between_.Between(from, to);
  Way way;
  way.begin = std::max(now, wire.busy_until());
  const TimeNs slower =
      Times(wire.model->latency_ns, outcome.latency_factor - 1);
  way.arrival = Later(
      wire.Carry(now, Times(bytes, outcome.wire_factor), JitterOf(*wire.model)),
      Later(outcome.extra_ns, slower));
  way.arrival = std::max(way.arrival, outcome.not_before);
  way.end = wire.busy_until();
  if (!outcome.overtaken && !outcome.dropped) wire.last_arrival = way.arrival;
  return way;
}

}  // namespace pathways
