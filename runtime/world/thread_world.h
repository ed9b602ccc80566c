//===- thread_world.h - Actors on threads -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ThreadWorld has a fixed set of worker threads. An actor lives on one of
// them and needs no lock. A message from an actor to another costs no lock and
// no allocation: on the same worker it is a store into a queue; to another
// worker it takes one more atomic store, and one wake if that worker sleeps. A
// worker without work spins for some tens of microseconds and yields to threads
// that want its core; then it sleeps, so an idle process uses no CPU.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_THREAD_WORLD_H_
#define RUNTIME_WORLD_THREAD_WORLD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/followers.h"
#include "runtime/world/leader_token.h"
#include "runtime/world/link.h"
#include "runtime/world/link_carrier.h"
#include "runtime/world/notifier.h"
#include "runtime/world/open_calls.h"
#include "runtime/world/peer_notices.h"
#include "runtime/world/posted_arrivals.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/router.h"
#include "runtime/world/uplink.h"
#include "runtime/world/watchdog.h"
#include "runtime/world/worker_loop.h"
#include "runtime/world/worker_set.h"
#include "runtime/world/worker_threads.h"
#include "runtime/world/world.h"

namespace pathways {

struct ThreadOptions {
  static constexpr int kMaxWorkers = WorkerSet::kMaxWorkers;

  int workers = 0;  // 0: one for each core that this process may use
  // Called on each worker's thread before its first handler, for example to
  // bind it to a core. Must not call the world.
  std::function<void(int worker)> on_worker_start;
  std::shared_ptr<Clock> clock;  // null means SteadyClock
  // Real time in ns that a worker without work, or a thread that waits for the
  // world, spins before it sleeps. Negative selects the default: 30 us for
  // workers, or 100 us if the remote_channel is polled; 100 us for waiting
  // threads; 0 for both if there are more workers than cores.
  TimeNs spin_ns = -1;
  // Threads that wait for the world (RunUntil) work in place of its only
  // worker, whose thread then does nothing. Handlers may run on any of these
  // threads, but only one at a time. No handler may enter a kernel then.
  bool followers = false;
  uint64_t seed = 1;  // seed of Random and of jitter
  // Costs of messages between hosts; without this they cost nothing. A message
  // on a link that costs something takes an allocation and a lock, and its
  // receiver's worker holds it until it is due. It is never handled early, and
  // late if that worker is busy.
  std::optional<LinkModels> links;
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  // Carries messages to actors of other processes.
  RemoteChannel remote_channel;
  // Supervision of kernels. No thread looks for kernels that do not return if
  // both times are 0.
  WatchOptions watch;
};

// A World on threads. Thread-safe as World says; Register and Reserve may be
// called from any thread at any time. Invariants: (1) handlers of the actors of
// one worker run one at a time, on its thread (or on a follower's); (2)
// messages from one actor to another, and from one outside thread to an actor,
// arrive in the order sent, apart from planted faults and from bulk messages
// (World::Send), which have a queue of their own: a worker handles one of them
// when it has no other message, or has handled others for some rounds; (3) no
// Send fails or waits for a receiver. A hot message between actors never takes
// a lock or allocates while no more are under way than were reserved, up to
// about a million; beyond that, it allocates at first. The payload of a message
// from an outside thread is copied. Reserved memory is kept until the world is
// destroyed.
//
// Messages to other processes go to the stage of the remote_channel, if it has
// one, which batches the messages of handlers that a worker runs one after
// another. The worker flushes the stage as soon as it has no more messages at
// hand, before it handles a large message, before it enters a kernel, looks for
// bulk messages or polls, and when a handler calls TakesLong. So no staged
// message waits for long work.
//
// A thread whose kernel exceeds its limit (WatchOptions) is given up. Another
// thread takes over its worker with everything that was queued there, except
// for the message whose handler does not return. Should the kernel return after
// all, the old thread touches nothing, and no thread waits for it. Memory that
// the kernel may touch must be kept until the process ends.
class ThreadWorld final : public World,
                          private PeerEvents,
                          private KernelSupervisor,
                          private SendBatching,
                          private PayloadLoans,
                          private RemoteArrivals {
 public:
  // Returns InvalidArgument if an option is out of range, and ResourceExhausted
  // if the system refused a thread; then no thread is left running.
  static absl::StatusOr<std::unique_ptr<ThreadWorld>> Create(
      ThreadOptions options);
  ~ThreadWorld() override;

  // Returns kNobody if there are kMaxActors already, or if `address` is above
  // that.
  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override {
    (void)to;  // one pool serves all queues
    workers_.Reserve(messages);
  }
  TimeNs Now() override;
  uint64_t Random() override;
  WorldTraits traits() const override {
    return {workers_.size(), /*spins=*/spin_ns_ > 0,
            /*simulated=*/false};
  }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override;
  void SendControl(ActorId from, ActorId to, std::string bytes) override;
  void PassControl(ActorId from, ActorId to, ControlBody* body) override;
  void SendLocal(LocalId from, LocalId to,
                 const LocalMessage& message) override;
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& message) override;
  uint64_t undelivered() const override { return uplink_.undelivered(); }
  void Retire(LocalId actor) override { actors_.Retire(actor); }
  // Evaluates `done` at first and after each Notify. Returns false only after
  // Stop. Several threads may wait at one time; a worker must not.
  using World::RunUntil;
  bool RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) override;
  void Notify() override;
  // Idempotent; may be called on any thread. A call from a handler returns at
  // once: that handler is the last one of its worker, while handlers of other
  // workers may still be running.
  void Stop() override;

  WorkerStats stats(int worker) const { return workers_.stats(worker); }
  // Returns true if there was a moment during the call at which every worker
  // slept, no message was under way between workers, and no timer was due.
  // Until a timer is due, only threads outside of the world can then make
  // something happen. A worker in a kernel does not sleep. Tests advance a
  // clock by this. Any thread; not for a world with followers.
  bool AtRest() const { return workers_.AtRest(); }
  uint64_t faults() const { return carrier_.faults(); }
  // Returns the number of threads that were given up.
  uint64_t lost() const { return threads_.lost(); }
  const std::string& name(LocalId actor) const { return actors_.name(actor); }
  // Returns null if kernels are not watched.
  const Watchdog* watchdog() const { return threads_.watchdog(); }

 private:
  // `options` have no defaults left. Waiting threads spin for `wait_spin_ns`.
  ThreadWorld(ThreadOptions options, TimeNs wait_spin_ns);

  // World takes its parts before the members are constructed, so this class
  // passes their calls on.
  void WatchPeers(LocalId actor) override { peer_notices_.WatchPeers(actor); }
  void ReportPeerDown(int32_t host, uint32_t epoch) override {
    peer_notices_.ReportPeerDown(host, epoch);
  }
  void ReportPeerUp(int32_t host, uint32_t epoch) override {
    peer_notices_.ReportPeerUp(host, epoch);
  }
  KernelGate* const* kernel_gate(int worker) override {
    return threads_.kernel_gate(worker);
  }
  void ExpectKernels(int by) override { threads_.ExpectKernels(by); }
  bool Offer(ActorId from, ActorId to, const WireMessage& message,
             uint64_t bytes, uint64_t offer) override {
    return arrivals_.Offer(from, to, message, bytes, offer);
  }
  void SendAll(absl::Span<const Arrival> arrivals) override {
    arrivals_.SendAll(arrivals);
  }
  void TakesLong() override;
  void BeginCall() override {
    if (followers_) followers_->BeginCall();
  }
  void EndCall() override {
    if (followers_) followers_->EndCall();
  }
  // Payloads are not lent over links with faults or costs, which need their
  // bytes.
  bool LendsTo(ActorId to) const override {
    return actors_.Find(to) == kNobody ? uplink_.lends()
                                       : !carrier_.is_active();
  }
  bool LendTo(ActorId from, ActorId to, const WireMessage& message,
              Payload payload, const LocalMessage& returned) override;

  const uint64_t seed_;
  const TimeNs spin_ns_;       // spin time of workers
  const TimeNs wait_spin_ns_;  // spin time of threads that wait
  WorldClock clock_;
  ActorTable actors_;
  std::atomic<bool> stopping_{false};
  Uplink uplink_;
  WorkerSet workers_;
  OpenCalls calls_;
  Router router_;
  LinkCarrier carrier_;
  Notifier notifier_;
  // Token of the only worker, if there are followers.
  std::optional<LeaderToken> leader_token_;
  WorkerLoop loop_;
  WorkerThreads threads_;
  std::optional<Followers> followers_;
  PeerNotices peer_notices_;
  PostedArrivals arrivals_;
  std::atomic<uint64_t> outside_random_{0};
  Mutex stop_mutex_;  // held while threads are joined
  // Listener of the clock; 0: none.
  int listener_ ABSL_GUARDED_BY(stop_mutex_) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_THREAD_WORLD_H_
