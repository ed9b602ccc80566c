//===- sim_faults.h - Faults of messages in a simulation --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_FAULTS_H_
#define RUNTIME_WORLD_SIM_FAULTS_H_

#include <cstdint>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/world/fault.h"
#include "runtime/world/mix.h"
#include "runtime/world/world.h"

namespace pathways {

// The faults of all links.
struct FaultModel {
  FaultRates messages;  // for hot messages
  FaultRates controls;
  // Called first; where a hook returns kDeliver, the rates decide.
  FaultHook message_hook;
  ControlFaultHook control_hook;
};
// Returns InvalidArgument if a rate or delay is out of range.
absl::Status CheckFaultModel(const FaultModel& model);
// Returns InvalidArgument if a rate or delay is out of range, or a factor is
// not a number from 1 to 1e6.
absl::Status CheckLinkFault(const LinkFault& fault);

// The fate of one message.
struct FaultOutcome {
  bool dropped = false;
  bool duplicated = false;
  bool overtaken = false;   // later messages do not wait for this one
  TimeNs extra_ns = 0;      // added to the time of the link
  TimeNs duplicate_ns = 0;  // delay of the second copy after the first
  double latency_factor = 1, wire_factor = 1;
  TimeNs not_before = 0;  // earliest time of arrival
};

// Numbers of messages that had each fault.
struct FaultCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  // Delayed by a hook, by a link that holds messages, or in order.
  uint64_t delayed = 0;
  uint64_t reordered = 0;
};

// Decides the fate of messages that cross hosts. Invariants: (1) the outcomes
// are a function of the seed, of the faults of links, and of the messages asked
// about, in their order; (2) a message for which a hook planted a fault, or
// whose kind has no rates, draws no random number; (3) each message is counted
// once under each of its faults, and under no other. Owned by a SimWorld; not
// thread-safe.
class SimFaults {
 public:
  SimFaults(FaultModel model, uint64_t seed);

  FaultOutcome OfMessage(ActorId from, ActorId to, const WireMessage& message);
  FaultOutcome OfControl(ActorId from, ActorId to, std::string_view bytes);
  // Adds to `outcome` the faults of the links from one host to another; adds
  // nothing to a message that is dropped already.
  void AddLinkFaults(int32_t from, int32_t to, bool is_control,
                     FaultOutcome* outcome);
  // Begins a fault of links and returns its number, by which End ends it.
  int Begin(LinkFault fault);
  void End(int number) { on_links_.erase(number); }
  const FaultCounts& counts() const { return counts_; }

 private:
  FaultOutcome Decide(const Fault& planted, const FaultRates& rates);
  FaultOutcome Draw(const FaultRates& rates);

  const FaultModel model_;
  SplitMix random_;
  FaultCounts counts_;
  int begun_ = 0;
  std::map<int, LinkFault> on_links_;  // by number
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_FAULTS_H_
