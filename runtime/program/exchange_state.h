//===- exchange_state.h - An exchange between hosts, under way --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One host's part of a group's exchange (layout/group_exchange.h) while firings
// go on. Belongs to the host's executor; devices only touch its memory.
//
// Firing n uses slot n mod 2 of the state and of the memory. Two are enough:
// whoever is at firing n + 2 has done n + 1, so all hosts had begun n + 1, so
// every member had read what it got at n, and every host had taken all messages
// of n. Nothing of slot n mod 2 is looked at any more, here or elsewhere.
//
// A firing is poisoned when any member is: what is known of that goes along
// with every message, and whoever is done has heard from all. A poisoned
// message has no payload, and what is made of it is not made.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_EXCHANGE_STATE_H_
#define RUNTIME_PROGRAM_EXCHANGE_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/layout/group_exchange.h"
#include "runtime/program/collective.h"
#include "runtime/program/reduction.h"

namespace pathways {

class ExchangeState {
 public:
  struct Outgoing {
    int32_t host = 0;
    uint32_t round = 0;
    bool poison = false;
    const char* payload = nullptr;  // null: poisoned, or no data anywhere
    uint64_t bytes = 0;
  };

  // `reducer` is for plans that reduce.
  ExchangeState(std::shared_ptr<const layout::HostExchange> plan,
                Reducer reducer);

  const layout::HostExchange& plan() const { return *plan_; }
  // Bytes of one of the two slots.
  uint64_t slot_bytes() const { return plan_->bytes; }
  // Two slots, `stride` bytes apart; null: there is no memory.
  void SetMemory(char* data, uint64_t stride) {
    data_ = data;
    stride_ = stride;
  }
  char* memory(uint64_t firing) const {
    return data_ == nullptr ? nullptr : data_ + (firing & 1) * stride_;
  }

  // Puts in what the member with own place `own` contributes, and takes out
  // its result once the firing is done. On the member's device.
  void Contribute(const CollectiveShape& shape, uint32_t own, uint64_t firing,
                  const char* source) const;
  void TakeResult(const CollectiveShape& shape, uint32_t own, uint64_t firing,
                  char* result) const;

  // All own members have contributed to `firing`.
  void Arrive(uint64_t firing, bool poison);
  // A message of `firing`. False: it is not of the firing under way or the next
  // one, no such message is expected, not again, or its payload is not as long
  // as it should be.
  bool Receive(uint64_t firing, int32_t host, uint32_t round, bool poison,
               const void* payload, uint64_t bytes);
  // Where the payload of such a message may be put before it is received; null:
  // it is no such message, or nothing has data.
  char* PlaceOf(uint64_t firing, int32_t host, uint32_t round,
                uint64_t bytes) const;
  // Takes the steps of `firing` that can be taken; `send` is called with each
  // Outgoing. When all are done, whether the firing is poisoned; the slot is
  // for the firing after the next from then on.
  template <typename Send>
  std::optional<bool> Advance(uint64_t firing, Send send);

  // Where `firing` stands, for reports: whether all own members have arrived,
  // and the message that is awaited; null: none.
  bool HasArrived(uint64_t firing) const { return slot(firing).arrived; }
  const layout::ExchangeMessage* Awaited(uint64_t firing) const;

 private:
  struct Slot {
    bool arrived = false, poisoned = false;
    size_t next = 0;                // step
    std::vector<uint8_t> received;  // by index in the plan's
  };
  Slot& slot(uint64_t firing) { return slots_[firing & 1]; }
  const Slot& slot(uint64_t firing) const { return slots_[firing & 1]; }
  void Copy(char* memory, const layout::ExchangeCopy& copy) const;
  void Reduce(char* memory, const layout::ExchangeReduction& reduction);

  const std::shared_ptr<const layout::HostExchange> plan_;
  const Reducer reducer_;
  char* data_ = nullptr;
  uint64_t stride_ = 0;
  Slot slots_[2];
  uint64_t next_ = 0;  // firings below are done here
  std::vector<const char*> operands_;
};

template <typename Send>
std::optional<bool> ExchangeState::Advance(uint64_t firing, Send send) {
  Slot& at = slot(firing);
  if (!at.arrived) return std::nullopt;
  char* const memory = this->memory(firing);
  for (; at.next < plan_->steps.size(); ++at.next) {
    const layout::ExchangeStep& step = plan_->steps[at.next];
    const bool works = memory != nullptr && !at.poisoned;
    switch (step.kind) {
      case layout::ExchangeStep::kSend: {
        const layout::ExchangeMessage& message = plan_->sends[step.index];
        Outgoing out;
        out.host = message.host;
        out.round = message.round;
        out.poison = at.poisoned;
        if (!at.poisoned) out.bytes = message.bytes;
        if (works && message.bytes > 0) out.payload = memory + message.begin;
        send(out);
        break;
      }
      case layout::ExchangeStep::kAwait:
        if (!at.received[step.index]) return std::nullopt;
        break;
      case layout::ExchangeStep::kCopy:
        if (works) Copy(memory, plan_->copies[step.index]);
        break;
      case layout::ExchangeStep::kReduce:
        if (works) Reduce(memory, plan_->reductions[step.index]);
        break;
    }
  }
  const bool poison = at.poisoned;
  at.arrived = at.poisoned = false;
  at.next = 0;
  at.received.assign(at.received.size(), 0);
  next_ = firing + 1;
  return poison;
}

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_EXCHANGE_STATE_H_
