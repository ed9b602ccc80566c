//===- sim_faults.cc - Faults of messages in a simulation -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_faults.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/world/link.h"

namespace pathways {
namespace {

absl::Status CheckRates(absl::string_view of, const FaultRates& rates) {
  const std::pair<absl::string_view, double> all[] = {
      {"drop", rates.drop},
      {"duplicate", rates.duplicate},
      {"delay", rates.delay},
      {"reorder", rates.reorder}};
  for (const auto& [name, rate] : all) {
    if (!(rate >= 0 && rate <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the probability to ", name, " ", of, " is ", rate,
                       ", expected 0 to 1"));
    }
  }
  if (rates.max_extra_ns < 0 || rates.max_extra_ns > kFarAway) {
    return absl::InvalidArgumentError(
        absl::StrCat("the longest delay of ", of, " is ", rates.max_extra_ns,
                     " ns, expected 0 to ", kFarAway));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFaultModel(const FaultModel& model) {
  if (absl::Status s = CheckRates("messages", model.messages); !s.ok()) {
    return s;
  }
  return CheckRates("control messages", model.controls);
}

absl::Status CheckLinkFault(const LinkFault& fault) {
  if (absl::Status s = CheckRates("messages", fault.messages); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckRates("control messages", fault.controls);
      !s.ok()) {
    return s;
  }
  for (double factor : {fault.latency_factor, fault.wire_factor}) {
    if (factor >= 1 && factor <= 1e6) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a link is ", factor, " times as slow, expected 1 to 1e6"));
  }
  return absl::OkStatus();
}

bool LinkFault::Concerns(int32_t from, int32_t to) const {
  const auto has = [](const std::vector<int32_t>& hosts, int32_t host) {
    return hosts.empty() ||
           std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  };
  return (has(some, from) && has(others, to)) ||
         (has(some, to) && has(others, from));
}

SimFaults::SimFaults(FaultModel model, uint64_t seed)
    : model_(std::move(model)), random_(seed) {}

FaultOutcome SimFaults::OfMessage(ActorId from, ActorId to,
                                  const WireMessage& message) {
  Fault planted;
  if (model_.message_hook) planted = model_.message_hook(from, to, message);
  return Decide(planted, model_.messages);
}

FaultOutcome SimFaults::OfControl(ActorId from, ActorId to,
                                  std::string_view bytes) {
  Fault planted;
  if (model_.control_hook) planted = model_.control_hook(from, to, bytes);
  return Decide(planted, model_.controls);
}

FaultOutcome SimFaults::Decide(const Fault& planted, const FaultRates& rates) {
  FaultOutcome outcome;
  switch (planted.kind) {
    case Fault::kDrop:
      outcome.dropped = true;
      break;
    case Fault::kDuplicate:
      outcome.duplicated = true;
      outcome.duplicate_ns = planted.delay_ns;
      break;
    case Fault::kDelay:
      outcome.overtaken = true;
      outcome.extra_ns = planted.delay_ns;
      ++counts_.delayed;
      break;
    case Fault::kDeliver:
      if (rates.any()) outcome = Draw(rates);
      break;
  }
  if (outcome.dropped) ++counts_.dropped;
  if (outcome.duplicated) ++counts_.duplicated;
  return outcome;
}

int SimFaults::Begin(LinkFault fault) {
  on_links_.emplace(++begun_, std::move(fault));
  return begun_;
}

void SimFaults::AddLinkFaults(int32_t from, int32_t to, bool is_control,
                              FaultOutcome* outcome) {
  // A client and the controller share a connection, which sends lost messages
  // again.
  const bool is_connection = from < 0 && to < 0;
  for (const auto& [number, fault] : on_links_) {
    if (outcome->dropped) return;
    if (!fault.Concerns(from, to)) continue;
    outcome->latency_factor *= fault.latency_factor;
    outcome->wire_factor *= fault.wire_factor;
    if (fault.cut == LinkFault::kHolds) {
      outcome->not_before = std::max(outcome->not_before, fault.until);
      ++counts_.delayed;
    }
    const FaultRates& rates = is_control ? fault.controls : fault.messages;
    FaultOutcome drawn;
    if (rates.any()) drawn = Draw(rates);
    if (drawn.dropped && is_connection) {
      drawn.dropped = false;
      drawn.extra_ns = rates.max_extra_ns;
      ++counts_.delayed;
    }
    drawn.dropped |= fault.cut == LinkFault::kLoses;
    if (drawn.dropped) ++counts_.dropped;
    if (drawn.duplicated && !outcome->duplicated) ++counts_.duplicated;
    outcome->dropped |= drawn.dropped;
    outcome->duplicated |= drawn.duplicated;
    outcome->overtaken |= drawn.overtaken;
    outcome->extra_ns = Later(outcome->extra_ns, drawn.extra_ns);
    outcome->duplicate_ns = std::max(outcome->duplicate_ns, drawn.duplicate_ns);
  }
}

FaultOutcome SimFaults::Draw(const FaultRates& rates) {
  FaultOutcome outcome;
  if (random_.Chance(rates.drop)) {
    outcome.dropped = true;
    return outcome;
  }
  const uint64_t longest = static_cast<uint64_t>(rates.max_extra_ns);
  if (random_.Chance(rates.duplicate)) {
    outcome.duplicated = true;
    outcome.duplicate_ns = static_cast<TimeNs>(random_.UpTo(longest));
  }
  if (random_.Chance(rates.reorder)) {
    outcome.overtaken = true;
    outcome.extra_ns = static_cast<TimeNs>(random_.UpTo(longest));
    ++counts_.reordered;
  } else if (random_.Chance(rates.delay)) {
    outcome.extra_ns = static_cast<TimeNs>(random_.UpTo(longest));
    ++counts_.delayed;
  }
  return outcome;
}

}  // namespace pathways
