//===- exchange_state.h - Progress of a host's exchange ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One host's progress in a group's exchange (layout/group_exchange.h). Owned by
// the host's executor; devices only access its memory.
//
// Firing n uses slot n mod 2 of the state and of the memory. Two slots are
// enough: a host at firing n + 2 has completed n + 1, so all hosts had begun n
// + 1, so every member had read its result of n and every host had received all
// messages of n. Hence no host reads slot n mod 2 any more.
//
// A firing is poisoned if any member is. Every message carries the poison known
// so far, and a host that is done has heard from all. A poisoned message has no
// payload, and nothing is computed from it.
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
    const char* payload = nullptr;  // null: poisoned, or values have no memory
    uint64_t bytes = 0;
  };

  // `reducer` is used if `plan` reduces.
  ExchangeState(std::shared_ptr<const layout::HostExchange> plan,
                Reducer reducer);

  const layout::HostExchange& plan() const { return *plan_; }
  // Bytes of one of the two slots.
  uint64_t slot_bytes() const { return plan_->bytes; }
  // Two slots, `stride` bytes apart; null: values have no memory.
  void SetMemory(char* data, uint64_t stride) {
    data_ = data;
    stride_ = stride;
  }
  char* memory(uint64_t firing) const {
    return data_ == nullptr ? nullptr : data_ + (firing & 1) * stride_;
  }

  // Contribute copies the contribution of the member with index `own` on this
  // host into the exchange. TakeResult copies its result out once the firing is
  // done. Called on the member's device.
  void Contribute(const CollectiveShape& shape, uint32_t own, uint64_t firing,
                  const char* source) const;
  void TakeResult(const CollectiveShape& shape, uint32_t own, uint64_t firing,
                  char* result) const;

  // Records that all members on this host have contributed to `firing`.
  void Arrive(uint64_t firing, bool poison);
  // Records a message of `firing`. Returns false if the firing is neither the
  // current one nor the next, if no such message is expected, if it is a
  // duplicate, or if its payload has the wrong length.
  bool Receive(uint64_t firing, int32_t host, uint32_t round, bool poison,
               const void* payload, uint64_t bytes);
  // Returns the address at which the payload of such a message may be placed
  // before Receive. Returns null if no such message is expected or values have
  // no memory.
  char* PlaceOf(uint64_t firing, int32_t host, uint32_t round,
                uint64_t bytes) const;
  // Takes the steps of `firing` that can be taken, and calls `send` with each
  // Outgoing. Once all steps are done, returns whether the firing is poisoned,
  // and the slot is free for the firing after the next. Returns nullopt before
  // that.
  template <typename Send>
  std::optional<bool> Advance(uint64_t firing, Send send);

  // Progress of `firing`, for reports. HasArrived: whether all members on this
  // host have arrived. Awaited: the message that the exchange waits for, or
  // null.
  bool HasArrived(uint64_t firing) const { return slot(firing).arrived; }
  const layout::ExchangeMessage* Awaited(uint64_t firing) const;

 private:
  struct Slot {
    bool arrived = false, poisoned = false;
    size_t next = 0;                // index of the next step
    std::vector<uint8_t> received;  // indexed like plan().receives
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
  uint64_t next_ = 0;  // firings below are done on this host
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
