//===- chaos_options.h - What a bad network is to do ------------*- C++ -*-===//
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

// How often, as a share of all messages sent, and how much.
struct ChaosOptions {
  uint64_t seed = 1;
  double delay = 0;      // comes later, and what is behind it in its class too
  double duplicate = 0;  // comes once more, later
  double reorder = 0;    // comes later, and others pass it
  double drop = 0;       // is lost, and sent again after `retry`
  double cut = 0;        // and the connection is gone
  absl::Duration longest_delay = absl::Milliseconds(10);
  absl::Duration retry = absl::Milliseconds(50);
  double bytes_per_second = 0;  // to each peer; 0: no limit
  // By its header, whether a message may only be delayed, and no later one of
  // either class is sent before it. Null: none.
  std::function<bool(absl::Span<const char> header)> keeps_order;
  // The time by which things are late; any thread. Null: real time, which a
  // thread of chaos's own watches; else only Poll does.
  std::function<SteadyTime()> now;
};

// From text such as "delay=0.3,drop=0.1,retry=5ms": delay, duplicate, reorder,
// drop and cut are from 0 to 1; longest-delay and retry durations up to an
// hour; bytes-per-second at least 1; seed any number. InvalidArgument: what is
// wrong.
absl::StatusOr<ChaosOptions> ParseChaosOptions(absl::string_view text);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_CHAOS_OPTIONS_H_
