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
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/world/fault.h"
#include "runtime/world/mix.h"
#include "runtime/world/world.h"

namespace pathways {

struct FaultModel {
  FaultRates messages;  // hot ones
  FaultRates controls;
  // Asked first; where it says kDeliver the rates decide.
  FaultHook message_hook;
  ControlFaultHook control_hook;
};
// InvalidArgument: a number of the rates is out of range.
absl::Status CheckFaultModel(const FaultModel& model);
// InvalidArgument: likewise, or a factor is no number from 1 to 1e6.
absl::Status CheckLinkFault(const LinkFault& fault);

// What becomes of one message.
struct FaultOutcome {
  bool dropped = false;
  bool duplicated = false;
  bool overtaken = false;   // later messages do not wait for this one
  TimeNs extra_ns = 0;      // later than the link alone would be
  TimeNs duplicate_ns = 0;  // the second copy, after the first
  double latency_factor = 1, wire_factor = 1;
  TimeNs not_before = 0;  // it arrives
};

// How many messages had which fault.
struct FaultCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t delayed = 0;  // by a hook, or in order
  uint64_t reordered = 0;
};

// Decides what becomes of the messages that cross hosts. Invariants: (1) the
// outcomes are a function of the seed, of the faults of links and of the
// messages asked about, in their order; (2) a message for which a hook planted
// a fault, or whose kind has no rates, draws nothing; (3) each message is
// counted once under each fault that it has, and no other one under any. Owned
// by a SimWorld, and not thread-safe.
class SimFaults {
 public:
  SimFaults(FaultModel model, uint64_t seed);

  FaultOutcome OfMessage(ActorId from, ActorId to, const WireMessage& message);
  FaultOutcome OfControl(ActorId from, ActorId to, std::string_view bytes);
  // Adds what the links from one host to another suffer from; nothing of what
  // is dropped already.
  void AddLinkFaults(int32_t from, int32_t to, bool is_control,
                     FaultOutcome* outcome);
  // From now on, until it is ended by its number.
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
