//===- fault_presets.cc - Schedules of faults that have a name ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/faults/fault_schedule.h"

namespace pathways {
namespace {

// "The Llama 3 Herd of Models" (2024), table 5: in 54 days on 16,384 GPUs, 419
// interruptions that nobody had planned, 1.97e-5 for each GPU and hour. Its
// rows, by what they are here:
//   310  a host is lost (GPUs and their memory, other hardware, unplanned
//        maintenance, what it depends on): it comes again after five minutes
//    54  software: the same, noticed at once and back after one minute
//    42  switches, cables and NICs: nothing reaches a host for a minute
//     7  watchdogs of collectives: a host stands still for half a minute
//     6  thermal: a device runs at half its speed for ten minutes
// How long they last is a guess; the paper says how often they happen.
constexpr char kLlama3[] = R"(
hazards {
  per_device_hour: 1.460e-5
  fault { crash { noticed_after_seconds: 10 restart_after_seconds: 300 } }
}
hazards {
  per_device_hour: 2.543e-6
  fault { crash { restart_after_seconds: 60 } }
}
hazards {
  per_device_hour: 1.978e-6
  fault { for_seconds: 60 pause {} }
}
hazards {
  per_device_hour: 3.297e-7
  fault { for_seconds: 30 pause {} }
}
hazards {
  per_device_hour: 2.826e-7
  fault { for_seconds: 600 slow_device { factor: 2 } }
}
)";

// Every link between hosts doubles, delays and reorders what it carries, and
// loses nothing: results are what they always are.
constexpr char kJumbled[] = R"(
faults {
  bad_link {
    messages { duplicate: 0.1 delay: 0.1 reorder: 0.1 }
    controls { duplicate: 0.1 delay: 0.1 reorder: 0.1 }
  }
}
)";

// One message in a hundred that is no token or value is lost.
constexpr char kLossy[] = R"(
faults { bad_link { controls { drop: 0.01 } } }
)";

// A host stops once in 100 us of virtual time, for each host, and comes again.
constexpr char kCrashes[] = R"(
hazards {
  per_host_hour: 3.6e7
  fault { crash { restart_after_seconds: 20e-6 } }
}
)";

}  // namespace

const std::vector<std::pair<std::string, std::string>>& FaultPresets() {
  static const auto* const presets =
      new std::vector<std::pair<std::string, std::string>>{
          {"crashes", kCrashes},
          {"jumbled", kJumbled},
          {"llama3", kLlama3},
          {"lossy", kLossy}};
  return *presets;
}

}  // namespace pathways
