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

// The events under way in a simulation. Invariants: (1) events come out in
// order of time; at one time, in an order of the pairs of sender and receiver
// that the seed decides; events of one pair at one time, in the order in which
// they were put in. (2) An event that was taken out stays where it is, and may
// be read while others are put in, until it is freed or put back. (3) Memory
// that an event owns (a control message, a share in the copy of a payload) is
// freed with it. Owned by a SimWorld; not thread-safe. The destructor frees the
// events in the queue; a caller must first free the events that it took out.
class SimQueue {
 public:
  using Slot = uint32_t;  // index of an event
  struct PayloadCopy;

  // An event. The kind of its envelope is kLocal, kWire, kControl or kPeer.
  struct Event {
    Envelope envelope;
    LocalId from = kNobody;
    bool is_counted = false;  // counts as under way to its receiver
    bool is_timer = false;
    PayloadCopy* payload = nullptr;  // null: the envelope's payload is borrowed

    LocalId to() const { return LocalId{envelope.to}; }
    bool background() const;
  };
  struct Due {
    TimeNs time;
    Slot slot;
  };

  explicit SimQueue(uint64_t seed) : seed_(seed) {}
  // Makes actors share a place, of which `place` is one actor. Messages that
  // one sender sends at one time to actors of one place keep their order, as if
  // they were one actor.
  void Share(LocalId actor, LocalId place) {
    if (IndexOf(actor) >= places_.size()) places_.resize(IndexOf(actor) + 1);
    places_[IndexOf(actor)] = IndexOf(place) + 1;
  }
  ~SimQueue() { Clear(); }
  SimQueue(const SimQueue&) = delete;
  SimQueue& operator=(const SimQueue&) = delete;

  // Puts in a message from `from` and takes over what the envelope owns. The
  // event is valid until it is freed; its is_counted is false.
  Event& Push(TimeNs time, LocalId from, const Envelope& envelope);
  // Puts in a kWire message like Push, with a copy of its payload.
  Event& PushCopy(TimeNs time, LocalId from, const Envelope& envelope);
  // Puts in the kWire message of `event` again; both share the payload.
  Event& PushAgain(TimeNs time, const Event& event);

  size_t size() const { return ahead_size_ + heap_.size(); }
  bool empty() const { return ahead_size_ == 0; }
  // Returns true if the queue has an event that is not background.
  bool has_foreground() const { return foreground_ > 0; }
  // Returns the time of the next event. The queue must not be empty.
  TimeNs next_time() const { return Ahead(0).time; }
  // Takes the next event out. The queue must not be empty.
  Due Pop();
  // Finds the event that has `n` others before it, if it is among those that
  // are sorted already. Returns false if it is not, or does not exist.
  static constexpr size_t kAhead = 32;
  bool Peek(size_t n, Slot* slot) const {
    if (n >= ahead_size_) return false;
    *slot = Ahead(n).slot;
    return true;
  }
  Event& At(Slot slot) {
    return blocks_[slot / kBlockEvents][slot % kBlockEvents];
  }
  // Frees an event that was taken out.
  void Free(Slot slot);
  // Puts an event that was taken out in again, as if it were sent now.
  void PutBack(TimeNs time, Slot slot);
  // Frees all events in the queue.
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
  static constexpr size_t kBlockEvents = 1024;  // events allocated at once
  // Children of a node of the heap: 96 bytes of keys.
  static constexpr size_t kWays = 4;

  void AddBlock();
  void PutIn(const Key& key);
  void PushHeap(const Key& key);
  Key PopHeap();
  // Returns the n-th of the sorted events.
  Key& Ahead(size_t n) { return ahead_[(ahead_begin_ + n) % kAhead]; }
  const Key& Ahead(size_t n) const {
    return ahead_[(ahead_begin_ + n) % kAhead];
  }
  uint32_t PlaceOf(uint32_t actor) const {
    return actor < places_.size() && places_[actor] > 0 ? places_[actor] - 1
                                                        : actor;
  }

  const uint64_t seed_;
  // Place of each actor plus one; 0: a place of its own.
  std::vector<uint32_t> places_;
  uint64_t put_in_ = 0;
  size_t foreground_ = 0;  // events in the queue that are not background
  // The first events in order, in a ring: all events, or as many as fit. The
  // others are in the heap, the earliest first.
  Key ahead_[kAhead] = {};
  size_t ahead_begin_ = 0, ahead_size_ = 0;
  std::vector<Key> heap_;
  std::vector<std::unique_ptr<Event[]>> blocks_;
  std::vector<Slot> free_;
};

// Inline, so that the envelope is constructed in its final place.
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
