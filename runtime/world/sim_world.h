//===- sim_world.h - A deterministic simulation -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread, virtual time. What happens is a function of the options and of
// the actors alone: events run in order of time, then of a tie broken by the
// seed, then of sending, and all that is delivered goes into a hash, so that
// two runs can be compared by one number.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_WORLD_H_
#define RUNTIME_WORLD_SIM_WORLD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/world/fault.h"
#include "runtime/world/link.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/mix.h"
#include "runtime/world/peer_watch.h"
#include "runtime/world/uplink.h"
#include "runtime/world/world.h"

namespace pathways {

// Probabilities, in [0, 1], for messages that cross hosts.
struct FaultRates {
  double drop = 0;
  double duplicate = 0;  // the second copy comes up to max_extra_ns later
  double delay = 0;      // this and all later ones of the link, in order
  double reorder = 0;    // up to max_extra_ns later, may be overtaken
  TimeNs max_extra_ns = 100'000;
};

// One delivery, as the observer sees it, before the handler runs. Of `wire`,
// `local` and `control` one is not null; or none is, and a peer is down.
struct SimEvent {
  uint64_t number = 0;  // of the deliveries, from 0
  TimeNs time = 0;
  LocalId from = kNobody;  // kNobody: from outside
  LocalId to = kNobody;
  const WireMessage* wire = nullptr;
  Payload payload;  // of `wire`
  const LocalMessage* local = nullptr;
  const std::string* control = nullptr;
};

// The way of a message between hosts, known when it is sent: it waits for the
// wire until `begin`, is on it until `end`, and arrives at `arrival`.
struct SimCrossing {
  LocalId from = kNobody;
  LocalId to = kNobody;
  TimeNs sent = 0, begin = 0, end = 0, arrival = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;  // WireMessage::sequence; 0: a control message
};

struct SimOptions {
  uint64_t seed = 1;
  int workers = 1;  // what num_workers() says; nothing runs in parallel
  // Inside a host; between hosts of an island; between islands; from and to
  // the controller's host. Inside a host a message waits for no other one. A
  // direction of a pair of hosts (islands, for dcn) carries one at a time.
  LinkModel local{100, 0, 100};
  LinkModel ici{1'000, 50e9, 200};
  std::vector<LinkModel> ici_of;  // by island; of those that it lacks: ici
  LinkModel dcn{10'000, 12.5e9, 2'000};
  LinkModel control{20'000, 1.25e9, 5'000};
  FaultRates faults;          // of hot messages
  FaultRates control_faults;  // of control messages
  std::vector<HostStop> host_stops;
  // Asked first; where it says kDeliver the rates decide.
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  Uplink uplink;  // to actors of other processes
  // Called before each delivery; must not call the world.
  std::function<void(const SimEvent&)> observer;
  // Called for each message between hosts that is not dropped; must not call
  // the world.
  std::function<void(const SimCrossing&)> on_crossing;
};

struct SimStats {
  uint64_t messages = 0;  // delivered, hot, timers left out
  uint64_t timers = 0;
  uint64_t controls = 0;
  uint64_t crossed = 0;  // sent between hosts
  uint64_t crossed_bytes = 0;
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t delayed = 0;
  uint64_t reordered = 0;
  uint64_t unheard = 0;  // for actors that retired, or whose hosts stopped
  // Hot messages, timers left out, sent to an actor that had as many under way
  // as were reserved for it (World::Reserve).
  uint64_t over_reserved = 0;
};

// Invariants: (1) without faults, messages from one actor to another arrive in
// the order sent, whatever the jitter; (2) no handler runs inside another or
// inside Send; (3) a payload that crosses hosts is copied at Send and the copy
// is freed after its last delivery. Handlers run inside RunUntil, RunFor and
// RunOne, on the calling thread; only one thread drives at a time, others wait.
// What sends from outside, ReportPeerDown, Notify, Now and Stop may come from
// any thread, but a run is repeatable only when one thread does it all. Of a
// message from outside the payload is copied.
class SimWorld final : public World {
 public:
  // InvalidArgument: an option is out of range.
  static absl::StatusOr<std::unique_ptr<SimWorld>> Create(SimOptions options);
  ~SimWorld() override;

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override;
  TimeNs Now() override { return now_.load(std::memory_order_relaxed); }
  uint64_t Random() override { return actor_random_.Next(); }
  int num_workers() const override { return options_.workers; }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override;
  void SendControl(ActorId from, ActorId to, std::string bytes) override;
  void SendLocal(LocalId from, LocalId to,
                 const LocalMessage& message) override;
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& message) override;
  uint64_t undelivered() const override {
    return undelivered_.load(std::memory_order_relaxed);
  }
  void WatchPeers(LocalId actor) override;
  void ReportPeerDown(int32_t host, uint32_t epoch) override;
  // One for all: a simulation has one thread, and nobody watches it.
  KernelGate* const* kernel_gate(int) override { return &gate_of_all_; }
  void ExpectKernels(int) override {}
  void Retire(LocalId actor) override {
    actors_[IndexOf(actor)].actor = nullptr;
  }
  bool simulated() const override { return true; }
  // `done` is looked at before the first event and after each one. False too
  // when only background messages are left, or after Stop.
  bool RunUntil(const std::function<bool()>& done) override;
  void Notify() override {}
  void Stop() override;

  // Runs everything, background too, that is due within `duration` ns, and
  // moves the clock to their end.
  void RunFor(TimeNs duration);
  // Runs the next event, background or not. False: there was none.
  bool RunOne();

  // Stops a host for ever: from then on nothing reaches its actors, timers of
  // their own neither, so nothing comes from them, and they may be destroyed.
  // What they had sent arrives. Those who watch (WatchPeers) are told after
  // `tell_after` ns; negative: never. Actors that are registered for the host
  // later, at the same addresses and with another epoch, are another life of
  // it. Not from a handler of that host.
  void StopHost(int32_t host, TimeNs tell_after);

  uint64_t events() const { return events_; }  // delivered
  uint64_t event_hash() const { return hash_; }
  size_t pending() const { return heap_.size(); }
  const SimStats& stats() const { return stats_; }
  const std::string& name(LocalId actor) const {
    return actors_[IndexOf(actor)].name;
  }
  Placement placement(LocalId actor) const {
    return actors_[IndexOf(actor)].placement;
  }

 private:
  struct ActorInfo {
    Actor* actor = nullptr;  // null: it has retired, or its host has stopped
    Placement placement;
    std::string name;
    TimeNs last_local = 0;  // arrival of the last message it sent in its host
    int64_t reserved = 0;
    int64_t under_way = 0;  // hot messages to it, timers and duplicates not
  };
  struct Key {
    TimeNs time;
    uint32_t tie;
    uint32_t slot;
    uint64_t number;
    bool operator<(const Key& other) const {
      if (time != other.time) return time < other.time;
      if (tie != other.tie) return tie < other.tie;
      return number < other.number;
    }
  };
  struct Event;
  struct PayloadCopy;
  struct Outcome;

  explicit SimWorld(SimOptions options);

  bool OnDriver() const;
  Outcome Decide(const Fault& planted, const FaultRates& rates);
  // Charges the link and returns the time of arrival.
  TimeNs Arrival(LocalId from, LocalId to, uint64_t bytes, uint64_t sequence,
                 const Outcome& outcome);
  bool Crosses(LocalId from, LocalId to) const;
  // kNobody: not of this process.
  LocalId Find(ActorId address) const;
  // Whether the actor has retired, or its host stopped; counts a message to it.
  bool IsUnheard(LocalId to);
  // Each does what the call without `Now` asked for, as the driver.
  void SendNow(ActorId from, ActorId to, const WireMessage& message,
               Payload payload);
  void SendControlNow(ActorId from, ActorId to, std::string bytes);
  void SendLocalNow(LocalId from, LocalId to, const LocalMessage& message);
  void SendAfterNow(LocalId from, LocalId to, TimeNs delay,
                    const LocalMessage& message);
  void ReportNow(Peer peer, TimeNs delay);
  void TellPeerDown(LocalId watcher, Peer peer, TimeNs delay);
  void StopHostNow(int32_t host, TimeNs tell_after);
  void CountUnderWay(LocalId to);
  // Puts what is sent from `from` into the heap.
  Event& Push(TimeNs time, LocalId from, const Envelope& envelope);
  Key Pop();
  void StartDriving() ABSL_EXCLUSIVE_LOCK_FUNCTION(drive_);
  void StopDriving() ABSL_UNLOCK_FUNCTION(drive_);
  uint32_t NewSlot();
  Event& At(uint32_t slot);
  void FreeEvent(uint32_t slot);
  void Handle(Actor* actor, const Event& event);
  void Observe(const Event& event);
  void Deliver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(drive_);
  void TakePosted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(drive_);
  void Clear();
  // Has the driver do something that another thread asked for.
  void Post(std::function<void()> call);

  SimOptions options_;
  bool faulty_ = false, control_faulty_ = false;
  std::vector<ActorInfo> actors_;
  std::vector<LocalId> addresses_;  // by ActorId; kNobody: not here
  PeerWatch peers_;
  std::atomic<uint64_t> undelivered_{0};
  std::atomic<TimeNs> now_{0};
  uint64_t events_ = 0, hash_ = 0, sent_ = 0;
  size_t foreground_ = 0;  // events in the heap that are not background
  TimeNs outside_last_ = 0;
  std::vector<Key> heap_;  // 4-ary, least first
  // Events live in blocks that never move, since a handler reads its message
  // in place while it sends others.
  std::vector<std::unique_ptr<Event[]>> blocks_;
  std::vector<uint32_t> free_;
  LinkTable links_;
  SplitMix jitter_random_, fault_random_, actor_random_;
  SimStats stats_;

  KernelGate gate_;
  KernelGate* const gate_of_all_ = &gate_;

  Mutex drive_;  // held by the thread that runs events
  std::atomic<std::thread::id> driver_{};
  std::atomic<bool> stopped_{false};
  Mutex posted_mutex_;
  // Asked for by threads that do not drive.
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(posted_mutex_);
  std::atomic<bool> has_posted_{false};
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_WORLD_H_
