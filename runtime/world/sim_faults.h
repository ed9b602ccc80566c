//===- sim_faults.h - What a simulation does to messages --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_FAULTS_H_
#define RUNTIME_WORLD_SIM_FAULTS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/world/fault.h"
#include "runtime/world/mix.h"
#include "runtime/world/world.h"

namespace pathways {

// Probabilities, in [0, 1], for messages that cross hosts.
struct FaultRates {
  double drop = 0;
  double duplicate = 0;  // the second copy comes up to max_extra_ns later
  double delay = 0;      // this and all later ones of the link, in order
  double reorder = 0;    // up to max_extra_ns later, may be overtaken
  TimeNs max_extra_ns = 100'000;

  bool any() const {
    return drop > 0 || duplicate > 0 || delay > 0 || reorder > 0;
  }
};

struct FaultModel {
  FaultRates messages;  // hot ones
  FaultRates controls;
  // Asked first; where it says kDeliver the rates decide.
  FaultHook message_hook;
  ControlFaultHook control_hook;
};
// InvalidArgument: a number of the rates is out of range.
absl::Status CheckFaultModel(const FaultModel& model);

// What becomes of one message.
struct FaultOutcome {
  bool dropped = false;
  bool duplicated = false;
  bool overtaken = false;   // later messages do not wait for this one
  TimeNs extra_ns = 0;      // later than the link alone would be
  TimeNs duplicate_ns = 0;  // the second copy, after the first
};

// How many messages had which fault.
struct FaultCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t delayed = 0;  // by a hook, or in order
  uint64_t reordered = 0;
};

// Decides what becomes of the messages that cross hosts. Invariants: (1) the
// outcomes are a function of the seed and of the messages asked about, in their
// order; (2) a message for which a hook planted a fault, or whose kind has no
// rates, draws nothing; (3) each message is counted once under each fault that
// it has, and no other one under any. Owned by a SimWorld, and not thread-safe.
class SimFaults {
 public:
  SimFaults(FaultModel model, uint64_t seed);

  FaultOutcome OfMessage(ActorId from, ActorId to, const WireMessage& message);
  FaultOutcome OfControl(ActorId from, ActorId to, std::string_view bytes);
  const FaultCounts& counts() const { return counts_; }

 private:
  FaultOutcome Decide(const Fault& planted, const FaultRates& rates);
  FaultOutcome Draw(const FaultRates& rates);

  const FaultModel model_;
  SplitMix random_;
  FaultCounts counts_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_FAULTS_H_
