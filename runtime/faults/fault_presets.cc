//===- fault_presets.cc - Fault schedules that have a name ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/faults/fault_schedule.h"

namespace pathways {
namespace {

// Source: "The Llama 3 Herd of Models" (2024), table 5: in 54 days on 16,384
// GPUs there were 419 unplanned interruptions, 1.97e-5 for each GPU and hour.
// Its rows, by the fault that stands for them here:
//   310  a host is lost (GPUs and their memory, other hardware, unplanned
//        maintenance, dependencies of the host); it returns after five minutes
//    54  software: a host is lost, noticed at once, and back after one minute
//    42  switches, cables and NICs: nothing reaches a host for a minute
//     7  watchdogs of collectives: a host stands still for half a minute
//     6  thermal: a device runs at half its speed for ten minutes
// The durations are guesses; the paper gives only the frequencies.
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

// Every link between hosts duplicates, delays and reorders messages but loses
// none. Results do not change.
constexpr char kJumbled[] = R"(
faults {
  bad_link {
    messages { duplicate: 0.1 delay: 0.1 reorder: 0.1 }
    controls { duplicate: 0.1 delay: 0.1 reorder: 0.1 }
  }
}
)";

// One message in a hundred is lost, but no token and no value.
constexpr char kLossy[] = R"(
faults { bad_link { controls { drop: 0.01 } } }
)";

// Each host stops once in 100 us of virtual time on average, and returns.
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
