//===- launch_spec.h - Requested launches, and effects ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LAUNCH_SPEC_H_
#define RUNTIME_CONTROLLER_LAUNCH_SPEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// A client's request. Launches and objects have ids that name their client
// (runtime/protocol/client_id.h).
struct LaunchSpec {
  struct Array {
    uint64_t object = 0;               // 0: no host holds a byte of it
    absl::Span<const uint32_t> hosts;  // hosts with blocks of it, ascending
    absl::Span<const uint64_t> bytes;  // on each host
    // Arguments only. `fresh`: its values come with this launch. `keep`: the
    // client refers to it beyond the launch.
    bool fresh = false, keep = false;
    // For a fresh argument without values, which has no bytes. `failure`: why
    // it has none; `missing`: the launch that was to fill it never began.
    absl::Status failure;
    bool missing = false;
  };
  uint64_t launch = 0;
  uint32_t program = 0;
  uint64_t steps = 0;
  uint64_t first_step = 0;  // number of the first step
  TimeNs asked = 0;
  Claim claim;
  // The hosts that hold values of the launch, and the islands that each report
  // its end. Both must outlive the launch.
  absl::Span<const int32_t> hosts, islands;
  // True if the launch must wait for LaunchReady from its hosts. False if the
  // controller already knows that they hold its arguments and have room for its
  // results.
  bool asks = true;
  std::vector<Array> arguments, results;
};

// Work that a call leaves for the caller, each list in order.
struct LaunchEffects {
  struct End {
    uint64_t launch = 0, steps = 0;
    absl::Status status;
    bool completed = false;          // all its firings are over
    bool granted = false;            // it had all its grants
    std::vector<uint32_t> poisoned;  // results without values, ascending
  };
  std::vector<uint64_t> ready;   // may be granted now
  std::vector<uint64_t> urgent;  // claim more than before
  // These have grants, and later launches must not wait for them.
  std::vector<uint64_t> given_up;
  std::vector<End> ended;   // notify their clients
  std::vector<Drop> drops;  // notify hosts

  void Clear() {
    ready.clear();
    urgent.clear();
    given_up.clear();
    ended.clear();
    drops.clear();
  }
  bool empty() const {
    return ready.empty() && urgent.empty() && given_up.empty() &&
           ended.empty() && drops.empty();
  }
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_SPEC_H_
