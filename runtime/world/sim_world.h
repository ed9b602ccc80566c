//===- sim_world.h - A deterministic simulation -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A simulation runs on one thread in virtual time. Its history is a function of
// the options and of the actors alone: events run in order of time, then of a
// tie that the seed breaks, then of sending. Everything that is delivered goes
// into a hash, so that two runs can be compared by one number.
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
  int workers = 1;  // value of num_workers(); nothing runs in parallel
  // Messages from one actor to all actors of one worker of its host stay in
  // order, as on threads.
  bool workers_keep_order = false;
  // Links: `local` inside a host; `ici` between hosts of an island; `dcn`
  // between islands; `control` to and from the hosts of the controller and of
  // clients. Inside a host no message waits for another one. Otherwise each
  // direction of a pair of hosts (of islands, for dcn) carries one message at a
  // time.
  LinkModel local{100, 0, 100};
  LinkModel ici{1'000, 50e9, 200};
  std::vector<LinkModel> ici_of;  // one per island; further islands use `ici`
  LinkModel dcn{10'000, 12.5e9, 2'000};
  LinkModel control{20'000, 1.25e9, 5'000};
  FaultRates faults;          // for hot messages
  FaultRates control_faults;  // for control messages
  std::vector<HostStop> host_stops;
  // Called first; where a hook returns kDeliver, the rates decide.
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  // Called before each control message that is delivered to any actor, with its
  // number, from 0. May do what a handler of the controller's host may do.
  std::function<void(uint64_t control)> before_control;
  // For tests of bug finding: may change a delivery, and returns how often to
  // deliver it. Each delivery happens once if there is no mutation.
  std::function<int(SimDelivery&)> mutation;
  // Carries messages to actors of other processes.
  RemoteChannel remote_channel;
  // Called before each delivery; must not call the world.
  std::function<void(const SimEvent&)> observer;
  // Called for each message between hosts that is not dropped; must not call
  // the world.
  std::function<void(const SimCrossing&)> on_crossing;
};

struct SimStats : FaultCounts {
  uint64_t messages = 0;  // hot messages delivered, except timers
  uint64_t timers = 0;
  uint64_t controls = 0;
  uint64_t crossed = 0;  // messages sent between hosts
  uint64_t crossed_bytes = 0;
  // Messages to actors that retired or whose hosts stopped.
  uint64_t unheard = 0;
  // Hot messages, except timers, sent to an actor that had as many messages
  // under way as were reserved for it (World::Reserve).
  uint64_t over_reserved = 0;
};

// A deterministic World in virtual time. Invariants: (1) without faults,
// messages from one actor to another arrive in the order sent, whatever the
// jitter; (2) no handler runs inside another one or inside Send; (3) a payload
// that crosses hosts is copied at Send, and the copy is freed after its last
// delivery. Handlers run inside RunUntil, RunFor and RunOne, on the calling
// thread. One thread at a time drives the simulation, and others wait. Any
// thread may send from outside, report peers, and call Notify, Now and Stop,
// but a run is repeatable only if one thread does everything. The payload of a
// message from outside is copied.
class SimWorld final : public World,
                       private PeerEvents,
                       private KernelSupervisor,
                       private RemoteArrivals {
 public:
  // Returns InvalidArgument if an option is out of range.
  static absl::StatusOr<std::unique_ptr<SimWorld>> Create(SimOptions options);
  ~SimWorld() override;

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override;
  TimeNs Now() override { return now_.load(std::memory_order_relaxed); }
  uint64_t Random() override { return actor_random_.Next(); }
  WorldTraits traits() const override {
    return {options_.workers, /*spins=*/false, /*simulated=*/true};
  }
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
  void Retire(LocalId actor) override {
    actors_[IndexOf(actor)].actor = nullptr;
  }
  // Evaluates `done` before the first event and after each one. Also returns
  // false if only background messages are left, or after Stop.
  using World::RunUntil;
  bool RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) override;
  void Notify() override {}
  void Stop() override;

  // Runs all events, including background ones, that are due within `duration`
  // ns, and then advances the clock by `duration`.
  void RunFor(TimeNs duration);
  // Runs the next event, background or not. Returns false if there was none.
  bool RunOne();

  // Stops a host; it never resumes. From then on its actors receive nothing,
  // not even timers of their own, so they send nothing, and they may be
  // destroyed. Messages that they sent before arrive. Watchers (WatchPeers) are
  // notified after `tell_after` ns, or never if it is negative. Actors that are
  // later registered for the host, at the same addresses and with another
  // epoch, are a new epoch of it. Must not be called from a handler of that
  // host.
  void StopHost(int32_t host, TimeNs tell_after);

  // Suspends the present actors of a host. Messages to them, and their own
  // timers, are kept in order until ResumeHost. So a host that sends nothing
  // may be alive. Must not be called from a handler of that host.
  void SuspendHost(int32_t host) { Suspend(host, true); }
  // Resumes all suspended actors of a host, of any epoch.
  void ResumeHost(int32_t host) { Suspend(host, false); }

  // Begin starts a fault of links and returns its number, by which End ends it.
  // Call both from a handler, or before the first one.
  int Begin(LinkFault fault) { return faults_.Begin(std::move(fault)); }
  void End(int number) { faults_.End(number); }
  // Makes the actors of this name, in all epochs, take `factor` times as long
  // for work that costs time.
  void SlowDown(const std::string& name, double factor);

  uint64_t events() const { return events_; }  // events delivered
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
  // The fields that each message reads are in one cache line.
  struct alignas(64) ActorInfo {
    Actor* actor = nullptr;  // null: the actor has retired, or its host stopped
    Placement placement;
    bool suspended = false;
    int64_t reserved = 0;
    int64_t under_way = 0;  // hot messages to it, without timers and duplicates
    double slowness = 1;
    std::string name;
    std::vector<SimQueue::Slot> kept;  // events for it while it is suspended
  };

  explicit SimWorld(SimOptions options);

  void WatchPeers(LocalId actor) override;
  void ReportPeerDown(int32_t host, uint32_t epoch) override;
  void ReportPeerUp(int32_t host, uint32_t epoch) override;
  // All workers share one gate: a simulation has one thread, which nothing
  // watches.
  KernelGate* const* kernel_gate(int) override { return &gate_of_all_; }
  void ExpectKernels(int) override {}
  TimeNs CostNow(LocalId actor, TimeNs cost) override;
  // No payload is offered to a simulation.
  bool Offer(ActorId, ActorId, const WireMessage&, uint64_t,
             uint64_t) override {
    return false;
  }
  void SendAll(absl::Span<const Arrival> arrivals) override;

  // Charges the link and returns the time of arrival.
  TimeNs ArrivalTime(LocalId from, LocalId to, uint64_t bytes,
                     uint64_t sequence, const FaultOutcome& outcome);
  bool Crosses(LocalId from, LocalId to) const;
  // Returns kNobody if no actor of this process has the address.
  LocalId Find(ActorId address) const;
  // Returns true, and counts a message, if the actor has retired or its host
  // has stopped.
  bool IsUnheard(LocalId to);
  // These functions do on the driving thread what the functions without `Now`
  // in their names were asked to do.
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
  // Announces the next events to their receivers, which prefetch memory.
  void LookAhead();
  void Deliver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(driver_);

  SimOptions options_;
  std::vector<ActorInfo> actors_;
  // Indexed by ActorId; kNobody: not in this process.
  std::vector<LocalId> addresses_;
  std::map<std::string, double> slowness_;  // factors by actor name
  // The first actor of each worker of each host.
  std::map<std::pair<int32_t, int32_t>, LocalId> first_of_worker_;
  PeerWatch peers_;
  // Time of the last news of each host; later news are not delivered earlier.
  absl::flat_hash_map<int32_t, TimeNs> told_at_;
  std::atomic<uint64_t> undelivered_{0};
  std::atomic<TimeNs> now_{0};
  uint64_t events_ = 0, hash_ = 0;
  SimQueue queue_;
  SimLinks links_;
  SimFaults faults_;
  SplitMix actor_random_;
  SimStats stats_;  // the counts of faults_ are added in stats()

  KernelGate gate_;
  KernelGate* const gate_of_all_ = &gate_;

  SimDriver driver_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_WORLD_H_
