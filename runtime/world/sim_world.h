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
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/world/fault.h"
#include "runtime/world/link.h"
#include "runtime/world/mix.h"
#include "runtime/world/peer_watch.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/sim_driver.h"
#include "runtime/world/sim_event.h"
#include "runtime/world/sim_faults.h"
#include "runtime/world/sim_links.h"
#include "runtime/world/sim_queue.h"
#include "runtime/world/world.h"

namespace pathways {

struct SimOptions {
  uint64_t seed = 1;
  int workers = 1;  // what num_workers() says; nothing runs in parallel
  // What an actor sends to those of one worker of its host stays in order, as
  // on threads.
  bool workers_keep_order = false;
  // Inside a host; between hosts of an island; between islands; from and to
  // the controller's host, and clients. Inside a host a message waits for no
  // other one. A direction of a pair of hosts (islands, for dcn) carries one at
  // a time.
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
  // Called before each control message that is delivered to anybody, with its
  // number, from 0; may do what a handler of the controller's host may.
  std::function<void(uint64_t control)> before_control;
  // For tests of what finds bugs: may change what is about to be delivered,
  // and says how often it is, once if it is empty.
  std::function<int(SimDelivery&)> mutation;
  RemoteChannel remote_channel;  // to actors of other processes
  // Called before each delivery; must not call the world.
  std::function<void(const SimEvent&)> observer;
  // Called for each message between hosts that is not dropped; must not call
  // the world.
  std::function<void(const SimCrossing&)> on_crossing;
};

struct SimStats : FaultCounts {
  uint64_t messages = 0;  // delivered, hot, timers left out
  uint64_t timers = 0;
  uint64_t controls = 0;
  uint64_t crossed = 0;  // sent between hosts
  uint64_t crossed_bytes = 0;
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
// What sends from outside, reports of peers, Notify, Now and Stop may come from
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
  void ReportPeerUp(int32_t host, uint32_t epoch) override;
  // One for all: a simulation has one thread, and nobody watches it.
  KernelGate* const* kernel_gate(int) override { return &gate_of_all_; }
  void ExpectKernels(int) override {}
  void Retire(LocalId actor) override {
    actors_[IndexOf(actor)].actor = nullptr;
  }
  TimeNs CostNow(LocalId actor, TimeNs cost) override;
  bool simulated() const override { return true; }
  // `done` is looked at before the first event and after each one. False too
  // when only background messages are left, or after Stop.
  bool RunUntil(absl::FunctionRef<bool()> done) override;
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

  // What reaches the host's actors that there are now is kept, in its order,
  // until it goes on; timers of theirs too. So a host that nobody hears may be
  // alive. Not from a handler of that host.
  void SuspendHost(int32_t host) { Suspend(host, true); }
  // All that host's actors that stand still, whatever life they are of, go on.
  void ResumeHost(int32_t host) { Suspend(host, false); }

  // Both from a handler, or before the first. What links suffer from, until it
  // is ended by the number that this returns.
  int Begin(LinkFault fault) { return faults_.Begin(std::move(fault)); }
  void End(int number) { faults_.End(number); }
  // The actors of that name, of any life, take `factor` times as long for what
  // costs time.
  void SlowDown(const std::string& name, double factor);

  uint64_t events() const { return events_; }  // delivered
  uint64_t event_hash() const { return hash_; }
  size_t pending() const { return queue_.size(); }
  SimStats stats() const;
  const std::string& name(LocalId actor) const {
    return actors_[IndexOf(actor)].name;
  }
  Placement placement(LocalId actor) const {
    return actors_[IndexOf(actor)].placement;
  }

 private:
  // What each message reads lies in one cache line.
  struct alignas(64) ActorInfo {
    Actor* actor = nullptr;  // null: it has retired, or its host has stopped
    Placement placement;
    bool suspended = false;
    int64_t reserved = 0;
    int64_t under_way = 0;  // hot messages to it, timers and duplicates not
    double slowness = 1;
    std::string name;
    std::vector<SimQueue::Slot> kept;  // what reaches it, while it is
  };

  explicit SimWorld(SimOptions options);

  // Charges the link and returns the time of arrival.
  TimeNs Arrival(LocalId from, LocalId to, uint64_t bytes, uint64_t sequence,
                 const FaultOutcome& outcome);
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
  void ReportNow(const PeerWatch::News& news, TimeNs delay);
  void NotifyPeer(LocalId watcher, const PeerWatch::News& news, TimeNs delay);
  void StopHostNow(int32_t host, TimeNs tell_after);
  void Suspend(int32_t host, bool suspended);
  void SuspendNow(int32_t host, bool suspended);
  void CountUnderWay(LocalId to);
  void Handle(Actor* actor, const SimQueue::Event& event);
  void HandleChanged(LocalId to, SimQueue::Event& event);
  void Observe(const SimQueue::Event& event);
  // Says to those who get the next events that these come.
  void LookAhead();
  void Deliver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(driver_);

  SimOptions options_;
  std::vector<ActorInfo> actors_;
  std::vector<LocalId> addresses_;          // by ActorId; kNobody: not here
  std::map<std::string, double> slowness_;  // of actors, by name
  // The first actor of each host and worker.
  std::map<std::pair<int32_t, int32_t>, LocalId> first_of_worker_;
  PeerWatch peers_;
  // When the last news of each host are told: later ones are not told before.
  absl::flat_hash_map<int32_t, TimeNs> told_at_;
  std::atomic<uint64_t> undelivered_{0};
  std::atomic<TimeNs> now_{0};
  uint64_t events_ = 0, hash_ = 0;
  SimQueue queue_;
  SimLinks links_;
  SimFaults faults_;
  SplitMix actor_random_;
  SimStats stats_;  // those of faults_ not

  KernelGate gate_;
  KernelGate* const gate_of_all_ = &gate_;

  SimDriver driver_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_WORLD_H_
