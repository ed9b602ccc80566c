//===- sim_queue.h - The events of a simulation, in order -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_QUEUE_H_
#define RUNTIME_WORLD_SIM_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/world/message_queue.h"
#include "runtime/world/world.h"

namespace pathways {

// What is under way in a simulation. Invariants: (1) events come out in the
// order of their times; of one time, in an order of the pairs of sender and
// receiver that the seed decides; of one pair too, in the order in which they
// were put in. (2) An event that came out stays where it is, and may be read
// while others are put in, until it is freed or put back. (3) What an event
// owns (a control message, a share in the copy of a payload) goes with it.
// Owned by a SimWorld, and not thread-safe. Events that are in the queue at its
// end are freed; who has taken one out frees it before.
class SimQueue {
 public:
  using Slot = uint32_t;  // where an event is
  struct PayloadCopy;

  // Its envelope is kLocal, kWire, kControl or kPeer.
  struct Event {
    Envelope envelope;
    LocalId from = kNobody;
    bool is_counted = false;  // as under way to its receiver
    bool is_timer = false;
    PayloadCopy* payload = nullptr;  // null: what the envelope says is borrowed

    LocalId to() const { return LocalId{envelope.to}; }
    bool background() const;
  };
  struct Due {
    TimeNs time;
    Slot slot;
  };

  explicit SimQueue(uint64_t seed) : seed_(seed) {}
  // What one actor sends at one time to those that share a place, keeps its
  // order as if they were one. `place`: one of them.
  void Share(LocalId actor, LocalId place) {
    if (IndexOf(actor) >= places_.size()) places_.resize(IndexOf(actor) + 1);
    places_[IndexOf(actor)] = IndexOf(place) + 1;
  }
  ~SimQueue() { Clear(); }
  SimQueue(const SimQueue&) = delete;
  SimQueue& operator=(const SimQueue&) = delete;

  // Puts in what `from` sends; takes over what the envelope owns. The event is
  // valid until it is freed, and not counted as under way.
  Event& Push(TimeNs time, LocalId from, const Envelope& envelope);
  // As Push, of a kWire message, with a copy of the bytes of its payload.
  Event& PushCopy(TimeNs time, LocalId from, const Envelope& envelope);
  // Puts in the kWire message of `event` once more, with the same payload.
  Event& PushAgain(TimeNs time, const Event& event);

  size_t size() const { return ahead_size_ + heap_.size(); }
  bool empty() const { return ahead_size_ == 0; }
  // Whether an event is there that is not background.
  bool has_foreground() const { return foreground_ > 0; }
  // When the next one is due; not when empty.
  TimeNs next_time() const { return Ahead(0).time; }
  // Takes the next one out; not when empty.
  Due Pop();
  // Those that come next, as far as they are sorted already: the event with `n`
  // others before it. False: not known, or there is none.
  static constexpr size_t kAhead = 32;
  bool Peek(size_t n, Slot* slot) const {
    if (n >= ahead_size_) return false;
    *slot = Ahead(n).slot;
    return true;
  }
  Event& At(Slot slot) {
    return blocks_[slot / kBlockEvents][slot % kBlockEvents];
  }
  // Ends an event that was taken out.
  void Free(Slot slot);
  // Has one that was taken out come again; it counts as put in now.
  void PutBack(TimeNs time, Slot slot);
  // Frees those that are in.
  void Clear();

 private:
  struct Key {
    TimeNs time;
    uint32_t tie;
    Slot slot;
    uint64_t number;
    bool operator<(const Key& other) const {
      if (time != other.time) return time < other.time;
      if (tie != other.tie) return tie < other.tie;
      return number < other.number;
    }
  };
  static constexpr size_t kBlockEvents = 1024;  // allocated at once
  static constexpr size_t kWays = 4;  // children of a node: 96 bytes of keys

  void AddBlock();
  void PutIn(const Key& key);
  void PushHeap(const Key& key);
  Key PopHeap();
  // The n-th of those ahead, in order.
  Key& Ahead(size_t n) { return ahead_[(ahead_begin_ + n) % kAhead]; }
  const Key& Ahead(size_t n) const {
    return ahead_[(ahead_begin_ + n) % kAhead];
  }
  uint32_t PlaceOf(uint32_t actor) const {
    return actor < places_.size() && places_[actor] > 0 ? places_[actor] - 1
                                                        : actor;
  }

  const uint64_t seed_;
  std::vector<uint32_t> places_;  // by actor; one more than it; 0: its own
  uint64_t put_in_ = 0;
  size_t foreground_ = 0;  // events in the queue that are not background
  // The first ones in order, in a ring, all there are or as many as fit; the
  // others are in a heap, least first.
  Key ahead_[kAhead] = {};
  size_t ahead_begin_ = 0, ahead_size_ = 0;
  std::vector<Key> heap_;
  std::vector<std::unique_ptr<Event[]>> blocks_;
  std::vector<Slot> free_;
};

// In the header, so that the envelope can be made where it stays.
inline SimQueue::Event& SimQueue::Push(TimeNs time, LocalId from,
                                       const Envelope& envelope) {
  if (free_.empty()) AddBlock();
  const Slot slot = free_.back();
  free_.pop_back();
  Event& event = At(slot);
  event.envelope = envelope;
  event.from = from;
  event.is_counted = event.is_timer = false;
  event.payload = nullptr;
  PutBack(time, slot);
  return event;
}

inline bool SimQueue::Event::background() const {
  if (envelope.kind == Envelope::kLocal) {
    return (envelope.As<LocalMessage>().flags & kBackground) != 0;
  }
  return envelope.kind == Envelope::kWire &&
         (envelope.As<WireBody>().message.flags & kBackground) != 0;
}

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_QUEUE_H_
