//===- thread_world.h - Actors on threads -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fixed worker threads; an actor lives on one of them and needs no lock. From
// an actor to another a message costs no lock and no allocation: on the same
// worker it is a store into a queue, to another worker one atomic store more,
// and one wake if that worker sleeps. A worker without work spins for some
// tens of microseconds, yielding to those who want its core, then sleeps, so an
// idle process uses no CPU.
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
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/leader_token.h"
#include "runtime/world/link.h"
#include "runtime/world/mailbox.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/notifier.h"
#include "runtime/world/peer_watch.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/watchdog.h"
#include "runtime/world/world.h"

namespace pathways {

struct ThreadOptions {
  static constexpr int kMaxWorkers = 256;

  int workers = 0;  // 0: one for each core this process may use
  // Called on each worker's thread before its first handler, say, to bind it
  // to a core. Must not call the world.
  std::function<void(int worker)> on_worker_start;
  std::shared_ptr<Clock> clock;  // null: SteadyClock
  // Real time that a worker without work spins before it sleeps, and a thread
  // that waits for the world; negative: the default, which is 30 us, 100 us
  // with an remote_channel that is polled and for who waits, and none with more
  // workers than cores.
  TimeNs spin_ns = -1;
  // Threads that wait for the world (RunUntil) work in the place of its only
  // worker, whose thread then does nothing: handlers run on any of them, but
  // not more than one at a time. No handler enters a kernel then.
  bool followers = false;
  uint64_t seed = 1;  // of Random, and of jitter
  // What messages between hosts cost; without, nothing. A message whose link
  // costs something takes an allocation and a lock, and its receiver's worker
  // keeps it until its time has come: never earlier, later when that is busy.
  std::optional<LinkModels> links;
  FaultHook fault_hook;
  ControlFaultHook control_fault_hook;
  RemoteChannel remote_channel;  // to actors of other processes
  // Kernels that do not return. Without its times nobody looks for them.
  WatchOptions watch;
};

// What one worker did so far. Read while it runs, the numbers may be of
// slightly different moments.
struct WorkerStats {
  uint64_t messages = 0;  // handled, hot and control
  uint64_t controls = 0;  // of these
  uint64_t remote = 0;    // of these, from other workers
  uint64_t outside = 0;   // of these, from threads that are not workers
  uint64_t timers = 0;    // that came due
  uint64_t spins = 0;     // times without work that ended while spinning
  uint64_t sleeps = 0;    // times that it slept
  uint64_t wakes = 0;     // sleeping workers that it woke
};

// Thread-safe as World says; Register and Reserve may be called from any
// thread at any time. Invariants: (1) handlers of actors of one worker run one
// at a time, on its thread (or a follower's); (2) messages from one actor to
// another, and from one outside thread to an actor, arrive in the order sent,
// apart from planted faults, but that bulk messages (World::Send) have a queue
// of their own: a worker handles one of them when it has no other message, or
// has handled others for some rounds; (3) no Send fails or waits for a
// receiver. A hot message between actors never takes a lock or allocates while
// no more are under way than were reserved, up to about a million; beyond, it
// allocates at first. Of a message from outside the payload is copied. Reserved
// memory is kept until the world is destroyed.
//
// What an actor says to other processes in handlers that the worker runs one
// after another goes to the remote_channel's stage, if it has one. The stage is
// flushed as soon as the worker has no more messages for that actor at hand,
// before it handles a large message, enters a kernel, or looks for others'
// work, and when a handler says that it takes long: so nothing waits for that.
//
// A thread whose kernel outlives its limit (WatchOptions) is given up: another
// one takes over its worker, with all that was queued there, but for the
// message whose handler does not return. The old thread touches nothing any
// more, should its kernel ever return, and nobody waits for it; what the kernel
// may touch must be there for ever.
class ThreadWorld final : public World {
 public:
  // InvalidArgument: an option is out of range. ResourceExhausted: the system
  // refused a thread; none is left running.
  static absl::StatusOr<std::unique_ptr<ThreadWorld>> Create(
      ThreadOptions options);
  ~ThreadWorld() override;

  // kNobody when there are kMaxActors already, or the address is above that.
  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address = kNoActor) override;
  void Reserve(LocalId to, int64_t messages) override;
  TimeNs Now() override;
  uint64_t Random() override;
  int num_workers() const override { return num_workers_; }
  bool spins() const override { return options_.spin_ns > 0; }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override;
  // Not over links whose faults and costs are those of the bytes.
  bool Lends(ActorId to) const override {
    return actors_.Find(to) == kNobody ? options_.remote_channel.lend != nullptr
                                       : !watched_;
  }
  bool Lend(ActorId from, ActorId to, const WireMessage& message,
            Payload payload, const LocalMessage& returned) override;
  bool Offer(ActorId from, ActorId to, const WireMessage& message,
             uint64_t bytes, uint64_t offer) override;
  void SendAll(absl::Span<const Arrival> arrivals) override;
  void SendControl(ActorId from, ActorId to, std::string bytes) override;
  void PassControl(ActorId from, ActorId to, ControlBody* body) override;
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
  KernelGate* const* kernel_gate(int worker) override;
  void ExpectKernels(int by) override;
  void Retire(LocalId actor) override {
    actors_.hot(IndexOf(actor)).actor = &retired_;
  }
  bool simulated() const override { return false; }
  // Looks at `done` at first and after each Notify. False only after Stop.
  // Several threads may wait at one time, no worker may.
  bool RunUntil(absl::FunctionRef<bool()> done) override;
  void Notify() override;
  void TakesLong() override;
  void BeginCall() override;
  void EndCall() override;
  // Idempotent, any thread. Called by a handler it returns at once: that
  // handler is its worker's last, other workers may still end theirs.
  void Stop() override;

  WorkerStats stats(int worker) const;
  // True if there was a moment during the call at which every worker slept, no
  // message was under way between workers, and no timer was due: until a timer
  // is due, only threads outside of the world can make something happen. A
  // worker in a kernel does not sleep. Tests turn a clock by this. Any thread;
  // not where followers work.
  bool AtRest() const;
  uint64_t faults() const { return faults_.load(std::memory_order_relaxed); }
  // Threads that were given up.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  const std::string& name(LocalId actor) const { return actors_.name(actor); }
  // Null: nobody watches.
  const Watchdog* watchdog() const { return watchdog_.get(); }

 private:
  struct Worker;
  class Visit;

  explicit ThreadWorld(ThreadOptions options);

  int WorkerOf(int placed) const {
    const int worker = placed % num_workers_;
    return worker < 0 ? worker + num_workers_ : worker;
  }
  Worker* Self() const;  // the calling thread's, null outside
  absl::Status StartThreads();
  void Run(Worker& self);
  // What a thread that takes over does.
  void Resume(Worker& self);
  void Work(Worker& self);
  // Once through all that a worker looks for; whether there was something.
  bool Round(Worker& self);
  // Gives up the thread of a worker if it is still in `call`.
  bool GiveUp(int worker, const KernelCall& call);
  bool RunLocal(Worker& self);
  bool RunRemote(Worker& self);
  // Whether bulk has waited long enough behind turns.
  static bool BulkIsDue(Worker& self);
  // Handles one bulk message, if there is one.
  bool RunBulk(Worker& self);
  // One message that may take long, of an actor to itself.
  bool RunTurn(Worker& self);
  void TakePosted(Worker& self);
  bool FireTimers(Worker& self);
  void Idle(Worker& self);
  // Until there is something to do; false: there was nothing for spin_ns, or it
  // is over.
  bool Spin(Worker& self, absl::FunctionRef<bool()> is_over);
  // RunUntil, where followers work.
  bool WaitAsFollower(absl::FunctionRef<bool()> done);
  // Until it is done, or there is nothing to do any more. With the leader
  // token.
  void WorkAsFollower(Worker& self, absl::FunctionRef<bool()> done);
  bool IsInCall() const;
  void WakeForPosted();
  // Whether messages of other processes came.
  bool Polled(Worker& self);
  // To an actor of another process.
  void SendFar(ActorId from, ActorId to, const WireMessage& message,
               Payload payload);
  void SendControlFar(ActorId from, ActorId to, std::string bytes);
  // To one of this process, who reads the payload where it lies.
  void LendNear(Worker& self, const WireBody& wire, ActorId from,
                LocalId receiver, const LocalMessage& returned);
  // Has an actor say where what is offered is to be put.
  void TakeOffer(Actor* actor, const Envelope& envelope);
  // The stage to use, if the thread is a worker that runs handlers.
  UplinkStage* StageOf(Worker* self) const;
  // Before a message is handled, while the stage keeps something.
  void FlushBefore(Worker& self, Envelope& next);
  static void Flush(Worker& self);
  KernelGate* NewGate(Worker& worker);
  bool SharesCore(Worker& self);
  void Sleep(Worker& self);
  // Whether a handler ran.
  bool Deliver(Worker& self, Envelope& envelope);
  bool DeliverRare(Worker& self, Actor* actor, Envelope& envelope);
  template <typename T>
  void Route(Worker& self, MailboxQueue queue, Envelope::Kind kind,
             const T& body, ActorId from, LocalId to);
  void RouteAgain(Worker& self, const Envelope& envelope);
  // From a thread that is not a worker; negative: not a timer.
  void Post(TimeNs deadline, const Envelope& envelope);
  // Likewise, or from one that polls: together, to one worker.
  void Arrive(int worker, absl::Span<const Posted> posted);
  // Before something is posted to a worker that sleeps: what a client asks for
  // seldom stays on one worker, and cores come out of deep sleep together in
  // the time of one. A worker that is on the caller's core wakes with the post.
  void Rouse(int worker);
  void Notify(LocalId watcher, const PeerWatch::News& news);
  bool Crosses(ActorId from, LocalId to) const;
  // What faults and links do to a message between hosts, of `bytes`.
  void SendAcross(Worker& self, const Envelope& envelope, uint64_t bytes,
                  const Fault& fault);
  // Puts a message on its link and returns when it arrives; negative: at once.
  TimeNs Carry(Worker& self, const Envelope& envelope, uint64_t bytes,
               bool in_order);
  // Has the receiver's worker keep a message until `time`; negative: does not.
  void SendAt(Worker& self, TimeNs time, const Envelope& envelope);
  void WakeAll();
  static Envelope Keep(const Envelope& envelope);
  static void Drop(const Envelope& envelope);

  ThreadOptions options_;
  bool watched_ = false;  // faults or links see what crosses hosts
  uint32_t clock_mask_ =
      0;  // a busy worker's rounds between looks at the clock
  int num_workers_ = 1;
  TimeNs wait_spin_ns_ = 0;  // of who waits for the world
  TimeNs start_ = 0;         // the clock's time at which the world began
  int listener_ ABSL_GUARDED_BY(stop_mutex_) = 0;  // of the clock; 0: none
  ActorTable actors_;
  BlockPool pool_;
  std::unique_ptr<Worker[]> workers_;
  std::optional<LeaderToken>
      leader_token_;  // of the only worker, if there are followers
  std::vector<KernelGate*> gates_;  // by worker; owned, unless given up
  Actor retired_;  // gets what is sent to those that have retired
  std::unique_ptr<Watchdog> watchdog_;
  std::atomic<int64_t> reserved_{0};
  std::atomic<uint64_t> outside_random_{0};
  Mutex links_mutex_;
  // As options_.links has them; none: nothing costs.
  std::optional<LinkTable> links_ ABSL_GUARDED_BY(links_mutex_);
  std::atomic<uint64_t> faults_{0}, lost_{0};
  std::atomic<uint64_t> undelivered_{0};
  PeerWatch peers_;
  std::atomic<int> awake_{
      0};  // workers, where they poll for the remote_channel
  std::atomic<bool> stopping_{false};
  Mutex stop_mutex_;  // held while threads are joined
  Notifier notifier_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_THREAD_WORLD_H_
