//===- recording_world.h - A world around one actor -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For unit tests of actors. Nothing happens by itself: what an actor sends is
// kept in the order of sending, for the test to look at and, if it likes, to
// deliver; the clock stands still but for Advance.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_
#define RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/world/mix.h"
#include "runtime/world/world.h"

namespace pathways::testing {

// One thing that was sent.
struct Sent {
  enum Kind { kWire, kControl, kLocal, kTimer, kLent, kOffer };
  Kind kind = kWire;
  ActorId from = kNoActor;  // kWire, kControl, kLent, kOffer
  ActorId to = kNoActor;
  LocalId local_from = kNobody;  // kLocal, kTimer
  LocalId local_to = kNobody;
  WireMessage wire;
  Payload payload;  // the sender's, or `copy`; of kOffer without data
  std::shared_ptr<std::vector<char>> copy;
  LocalMessage local;  // of kLent what the sender is to get
  uint64_t offer = 0;  // kOffer
  std::string bytes;   // kControl
  TimeNs due = 0;      // kTimer

  // A control message, parsed as protocol buffer T.
  template <typename T>
  T As() const {
    T parsed;
    if (kind != kControl || !parsed.ParseFromString(bytes)) parsed.Clear();
    return parsed;
  }
};

// Used by one thread. Actors are not owned. Invariants: (1) no handler runs but
// inside Deliver, Advance, DeliverAll and reports of peers; (2) a timer is
// delivered once, by Advance, in order of time, then of sending.
class RecordingWorld final : public World {
 public:
  explicit RecordingWorld(uint64_t seed = 1) : random_(seed) {}

  // What was sent and not taken, timers too.
  std::vector<Sent> sent;
  std::vector<Sent> Take() { return std::exchange(sent, {}); }
  // Hot messages that are reserved for each actor.
  std::map<LocalId, int64_t> reserved;
  // Where actors with an address are.
  std::map<ActorId, Placement> places;
  // Of wire messages, as links to other processes do.
  bool copies_payloads = false;
  // Of those that are long enough, none are sent but lent.
  bool lends = false;
  bool is_simulated = true;
  int workers = 1;

  // Has its receiver handle a message; false: nobody is there, or a timer.
  bool Deliver(const Sent& one);
  // Takes and delivers until nothing more is sent, timers left out, and returns
  // what had no receiver. A test whose actors talk for ever does not end.
  std::vector<Sent> DeliverAll();
  // Moves the clock by `duration` ns and delivers the timers that become due,
  // also those set meanwhile.
  void Advance(TimeNs duration);
  // Moves the clock while nothing runs, as of a process that is suspended.
  // Timers that become due are delivered by the next Advance, too late.
  void Suspend(TimeNs duration) { now_ += duration; }
  size_t timers() const { return timers_.size(); }

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override {
    reserved[to] += messages;
  }
  TimeNs Now() override { return now_; }
  uint64_t Random() override { return random_.Next(); }
  int num_workers() const override { return workers; }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override;
  bool Lends(ActorId) const override { return lends; }
  bool Lend(ActorId from, ActorId to, const WireMessage& message,
            Payload payload, const LocalMessage& returned) override;
  bool Offer(ActorId from, ActorId to, const WireMessage& message,
             uint64_t bytes, uint64_t offer) override;
  void SendControl(ActorId from, ActorId to, std::string bytes) override;
  void SendLocal(LocalId from, LocalId to,
                 const LocalMessage& message) override;
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& message) override;
  uint64_t undelivered() const override { return 0; }
  void WatchPeers(LocalId actor) override { watchers.push_back(actor); }
  // Tell the watchers, during the call, whatever was told before.
  void ReportPeerDown(int32_t host, uint32_t epoch) override;
  void ReportPeerUp(int32_t host, uint32_t epoch) override;
  KernelGate* const* kernel_gate(int) override { return &gate_of_all_; }
  void ExpectKernels(int by) override { expected_kernels += by; }
  void Retire(LocalId actor) override {
    Actor* const gone = std::exchange(actors_[IndexOf(actor)], nullptr);
    std::erase_if(addresses_, [&](auto& at) { return at.second == gone; });
  }
  bool simulated() const override { return is_simulated; }
  bool RunUntil(absl::FunctionRef<bool()> done) override { return done(); }
  void Notify() override { ++notified; }
  void Stop() override {}

  std::vector<LocalId> watchers;
  int notified = 0;
  int expected_kernels = 0;

 private:
  Actor* At(LocalId id) const {
    return IndexOf(id) < actors_.size() ? actors_[IndexOf(id)] : nullptr;
  }

  KernelGate gate_;
  KernelGate* const gate_of_all_ = &gate_;
  SplitMix random_;
  TimeNs now_ = 0;
  std::vector<Actor*> actors_;  // by LocalId
  std::map<ActorId, Actor*> addresses_;
  // By (time, number); what is kept of a timer is also in `sent`.
  std::map<std::pair<TimeNs, uint64_t>, Sent> timers_;
  uint64_t next_timer_ = 0;
};

}  // namespace pathways::testing

#endif  // RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_
