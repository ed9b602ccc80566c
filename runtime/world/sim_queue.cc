//===- sim_queue.cc - The events of a simulation, in order ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_queue.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "runtime/world/mix.h"

namespace pathways {

// A copy of a payload, shared by the events of a duplicated message.
struct alignas(128) SimQueue::PayloadCopy {
  uint32_t uses = 1;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }

  static PayloadCopy* Make(Payload payload) {
    void* memory = ::operator new(sizeof(PayloadCopy) + payload.bytes,
                                  std::align_val_t(alignof(PayloadCopy)));
    PayloadCopy* copy = new (memory) PayloadCopy;
    std::memcpy(copy->bytes(), payload.data, payload.bytes);
    return copy;
  }
  static void Drop(PayloadCopy* copy) {
    if (copy == nullptr || --copy->uses > 0) return;
    ::operator delete(copy, std::align_val_t(alignof(PayloadCopy)));
  }
};

SimQueue::Event& SimQueue::PushCopy(TimeNs time, LocalId from,
                                    const Envelope& envelope) {
  Event& event = Push(time, from, envelope);
  Payload& payload = event.envelope.As<WireBody>().payload;
  if (payload.data == nullptr || payload.bytes == 0) return event;
  event.payload = PayloadCopy::Make(payload);
  payload.data = event.payload->bytes();
  return event;
}

SimQueue::Event& SimQueue::PushAgain(TimeNs time, const Event& event) {
  Event& again = Push(time, event.from, event.envelope);
  again.payload = event.payload;
  if (again.payload != nullptr) ++again.payload->uses;
  return again;
}

void SimQueue::PutBack(TimeNs time, Slot slot) {
  const Event& event = At(slot);
  if (!event.background()) ++foreground_;
  // The tie is equal for all messages of a pair at one time, so that they stay
  // in order; the seed decides the order of pairs.
  const uint64_t pair = static_cast<uint64_t>(IndexOf(event.from)) << 32 |
                        PlaceOf(event.envelope.to);
  const uint64_t tie = Mix(Mix(seed_, pair), static_cast<uint64_t>(time));
  PutIn({time, static_cast<uint32_t>(tie >> 32), slot, put_in_++});
}

void SimQueue::PutIn(const Key& key) {
  if (ahead_size_ == kAhead) {
    if (!(key < Ahead(kAhead - 1))) return PushHeap(key);
    PushHeap(Ahead(--ahead_size_));
  }
  size_t at = ahead_size_++;
  for (; at > 0 && key < Ahead(at - 1); --at) Ahead(at) = Ahead(at - 1);
  Ahead(at) = key;
}

SimQueue::Due SimQueue::Pop() {
  const Due due{Ahead(0).time, Ahead(0).slot};
  if (!At(due.slot).background()) --foreground_;
  ahead_begin_ = (ahead_begin_ + 1) % kAhead;
  --ahead_size_;
  if (!heap_.empty()) Ahead(ahead_size_++) = PopHeap();
  return due;
}

void SimQueue::PushHeap(const Key& key) {
  size_t at = heap_.size();
  heap_.push_back(key);
  while (at > 0) {
    const size_t parent = (at - 1) / kWays;
    if (!(key < heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = key;
}

SimQueue::Key SimQueue::PopHeap() {
  const Key first = heap_.front();
  const Key last = heap_.back();
  heap_.pop_back();
  const size_t size = heap_.size();
  if (size == 0) return first;
  size_t at = 0;
  while (true) {
    size_t child = at * kWays + 1;
    if (child >= size) break;
    size_t least = child;
    const size_t end = std::min(child + kWays, size);
    for (++child; child < end; ++child) {
      if (heap_[child] < heap_[least]) least = child;
    }
    if (!(heap_[least] < last)) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = last;
  return first;
}

void SimQueue::AddBlock() {
  const Slot first = static_cast<Slot>(blocks_.size() * kBlockEvents);
  blocks_.push_back(std::make_unique<Event[]>(kBlockEvents));
  free_.reserve(blocks_.size() * kBlockEvents);
  for (Slot i = kBlockEvents; i-- > 0;) free_.push_back(first + i);
}

void SimQueue::Free(Slot slot) {
  Event& event = At(slot);
  PayloadCopy::Drop(event.payload);
  if (event.envelope.kind == Envelope::kControl) {
    delete event.envelope.As<std::string*>();
  }
  free_.push_back(slot);
}

void SimQueue::Clear() {
  for (; ahead_size_ > 0; --ahead_size_) Free(Ahead(ahead_size_ - 1).slot);
  for (const Key& key : heap_) Free(key.slot);
  heap_.clear();
  foreground_ = 0;
}

}  // namespace pathways
