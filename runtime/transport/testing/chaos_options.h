//===- chaos_options.h - Faults of a bad network ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TESTING_CHAOS_OPTIONS_H_
#define RUNTIME_TRANSPORT_TESTING_CHAOS_OPTIONS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/steady_time.h"

namespace pathways {

// Frequency of faults, as a share of all messages sent, and their size.
struct ChaosOptions {
  uint64_t seed = 1;
  double delay = 0;      // arrives late, with all later ones of its class
  double duplicate = 0;  // arrives a second time, later
  double reorder = 0;    // arrives late, and others overtake it
  double drop = 0;       // is lost, and sent again after `retry`
  double cut = 0;        // the connection breaks
  absl::Duration longest_delay = absl::Milliseconds(10);
  absl::Duration retry = absl::Milliseconds(50);
  double bytes_per_second = 0;  // limit to each peer; 0: none
  // Returns true for the header of a message that may only be delayed, and that
  // no later message of either class may overtake. Null: there is none.
  std::function<bool(absl::Span<const char> header)> keeps_order;
  // Returns the time for delays. Runs on any thread. Null: real time, watched
  // by a thread of this transport; otherwise delayed messages are sent by Poll
  // only.
  std::function<SteadyTime()> now;
};

// Parses text such as "delay=0.3,drop=0.1,retry=5ms". delay, duplicate,
// reorder, drop and cut are 0 to 1; longest-delay and retry are durations of at
// most an hour; bytes-per-second is at least 1; seed is any number. Returns
// InvalidArgument with the reason if the text is wrong.
absl::StatusOr<ChaosOptions> ParseChaosOptions(absl::string_view text);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_CHAOS_OPTIONS_H_
