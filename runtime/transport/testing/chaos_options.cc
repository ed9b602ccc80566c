//===- chaos_options.cc - Faults of a bad network -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/chaos_options.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace pathways {
namespace {

constexpr absl::Duration kLongest = absl::Hours(1);

struct Share {
  const char* name;
  double ChaosOptions::* value;
};
constexpr Share kShares[] = {{"delay", &ChaosOptions::delay},
                             {"duplicate", &ChaosOptions::duplicate},
                             {"reorder", &ChaosOptions::reorder},
                             {"drop", &ChaosOptions::drop},
                             {"cut", &ChaosOptions::cut}};
struct Time {
  const char* name;
  absl::Duration ChaosOptions::* value;
};
constexpr Time kTimes[] = {{"longest-delay", &ChaosOptions::longest_delay},
                           {"retry", &ChaosOptions::retry}};
constexpr char kSeed[] = "seed";
constexpr char kRate[] = "bytes-per-second";

absl::Status Wrong(absl::string_view name, absl::string_view expected,
                   absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat(
      "chaos: ", name, ": expected ", expected, ", got '", value, "'"));
}

absl::Status Set(absl::string_view name, absl::string_view value,
                 ChaosOptions* options) {
  for (const Share& share : kShares) {
    if (name != share.name) continue;
    double& number = options->*share.value;
    return absl::SimpleAtod(value, &number) && number >= 0 && number <= 1
               ? absl::OkStatus()
               : Wrong(name, "a number from 0 to 1", value);
  }
  for (const Time& time : kTimes) {
    if (name != time.name) continue;
    absl::Duration& duration = options->*time.value;
    return absl::ParseDuration(value, &duration) &&
                   duration >= absl::ZeroDuration() && duration <= kLongest
               ? absl::OkStatus()
               : Wrong(name, "a duration from 0 to 1h, such as 5ms", value);
  }
  if (name == kSeed) {
    return absl::SimpleAtoi(value, &options->seed)
               ? absl::OkStatus()
               : Wrong(name, "a number from 0", value);
  }
  if (name == kRate) {
    double& rate = options->bytes_per_second;
    return absl::SimpleAtod(value, &rate) && std::isfinite(rate) && rate >= 1
               ? absl::OkStatus()
               : Wrong(name, "a number from 1", value);
  }
  const auto name_of = [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.name);
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "chaos: unknown setting '", name, "', expected one of ",
      absl::StrJoin(kShares, ", ", name_of), ", ",
      absl::StrJoin(kTimes, ", ", name_of), ", ", kRate, ", ", kSeed));
}

}  // namespace

absl::StatusOr<ChaosOptions> ParseChaosOptions(absl::string_view text) {
  ChaosOptions options;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    absl::Status set = Set(parts.first, parts.second, &options);
    if (!set.ok()) return set;
  }
  return options;
}

}  // namespace pathways
