//===- recording_world.h - A world around one actor -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A world for unit tests of actors, in which nothing happens by itself. It
// records messages in the order sent, and the test inspects and delivers them
// as it likes. The clock moves only by Advance and Suspend.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_
#define RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/world/mix.h"
#include "runtime/world/world.h"

namespace pathways::testing {

// One recorded message.
struct Sent {
  enum Kind { kWire, kControl, kLocal, kTimer, kLent, kOffer };
  Kind kind = kWire;
  ActorId from = kNoActor;  // kWire, kControl, kLent, kOffer
  ActorId to = kNoActor;
  LocalId local_from = kNobody;  // kLocal, kTimer
  LocalId local_to = kNobody;
  WireMessage wire;
  Payload payload;  // the sender's, or `copy`; no data if kOffer
  std::shared_ptr<std::vector<char>> copy;
  LocalMessage local;  // kLent: the message that the sender gets later
  uint64_t offer = 0;  // kOffer
  std::string bytes;   // kControl
  TimeNs due = 0;      // kTimer

  // Returns a control message, parsed as protocol buffer T, or an empty T.
  template <typename T>
  T As() const {
    T parsed;
    if (kind != kControl || !parsed.ParseFromString(bytes)) parsed.Clear();
    return parsed;
  }
};

// A world that records messages. Used by one thread; does not own actors.
// Invariants: (1) handlers run only inside Deliver, Advance, DeliverAll and
// reports of peers; (2) a timer is delivered once, by Advance, in order of
// time, then of sending.
class RecordingWorld final : public World,
                             private PeerEvents,
                             private KernelSupervisor,
                             private PayloadLoans,
                             private RemoteArrivals {
 public:
  explicit RecordingWorld(uint64_t seed = 1)
      : World(
            {.peers = this, .kernels = this, .loans = this, .arrivals = this}),
        random_(seed) {}

  // Messages, including timers, that were sent and not taken yet.
  std::vector<Sent> sent;
  std::vector<Sent> Take() { return std::exchange(sent, {}); }
  // Hot messages reserved for each actor.
  std::map<LocalId, int64_t> reserved;
  // Places of the actors with an address.
  std::map<ActorId, Placement> places;
  // Copies the payloads of wire messages, as links to other processes do.
  bool copies_payloads = false;
  // Lends payloads of kMinLentBytes and more instead of sending them.
  bool lends = false;
  bool is_simulated = true;
  int workers = 1;

  // Makes the receiver handle a message. Returns false if there is no receiver,
  // or if it is a timer or about a lent payload.
  bool Deliver(const Sent& one);
  // Takes and delivers messages, except timers, until no more are sent, and
  // returns those without a receiver. Does not end if the actors send messages
  // to each other without end.
  std::vector<Sent> DeliverAll();
  // Moves the clock by `duration` ns and delivers the timers that become due,
  // including those set meanwhile.
  void Advance(TimeNs duration);
  // Moves the clock while nothing runs, like a process that is suspended. The
  // next Advance delivers the timers that became due, too late.
  void Suspend(TimeNs duration) { now_ += duration; }
  size_t timers() const { return timers_.size(); }

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override {
    reserved[to] += messages;
  }
  TimeNs Now() override { return now_; }
  uint64_t Random() override { return random_.Next(); }
  WorldTraits traits() const override {
    return {workers, /*spins=*/false, is_simulated};
  }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override;
  void SendControl(ActorId from, ActorId to, std::string bytes) override;
  void SendLocal(LocalId from, LocalId to,
                 const LocalMessage& message) override;
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& message) override;
  uint64_t undelivered() const override { return 0; }
  void Retire(LocalId actor) override {
    Actor* const gone = std::exchange(actors_[IndexOf(actor)], nullptr);
    std::erase_if(addresses_, [&](auto& at) { return at.second == gone; });
  }
  using World::RunUntil;
  // Calls `on_wait` once if it is set and `done` returns false.
  bool RunUntil(absl::FunctionRef<bool()> done, TimeNs) override {
    if (done()) return true;
    if (on_wait) on_wait();
    return done();
  }
  std::function<void()> on_wait;
  void Notify() override { ++notified; }
  void Stop() override {}

  std::vector<LocalId> watchers;
  int notified = 0;
  int expected_kernels = 0;

 private:
  void WatchPeers(LocalId actor) override { watchers.push_back(actor); }
  // Notifies all watchers during the call, whatever they were notified of
  // before.
  void ReportPeerDown(int32_t host, uint32_t epoch) override;
  void ReportPeerUp(int32_t host, uint32_t epoch) override;
  KernelGate* const* kernel_gate(int) override { return &gate_of_all_; }
  void ExpectKernels(int by) override { expected_kernels += by; }
  bool LendsTo(ActorId) const override { return lends; }
  bool LendTo(ActorId from, ActorId to, const WireMessage& message,
              Payload payload, const LocalMessage& returned) override;
  bool Offer(ActorId from, ActorId to, const WireMessage& message,
             uint64_t bytes, uint64_t offer) override;
  void SendAll(absl::Span<const Arrival> arrivals) override;

  Actor* At(LocalId id) const {
    return IndexOf(id) < actors_.size() ? actors_[IndexOf(id)] : nullptr;
  }

  KernelGate gate_;
  KernelGate* const gate_of_all_ = &gate_;
  SplitMix random_;
  TimeNs now_ = 0;
  std::vector<Actor*> actors_;  // indexed by LocalId; null: retired
  std::map<ActorId, Actor*> addresses_;
  // Timers by (due time, number). Each of them is also recorded in `sent`.
  std::map<std::pair<TimeNs, uint64_t>, Sent> timers_;
  uint64_t next_timer_ = 0;
};

}  // namespace pathways::testing

#endif  // RUNTIME_WORLD_TESTING_RECORDING_WORLD_H_
