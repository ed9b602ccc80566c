//===- thread_world.cc - Actors on threads ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/thread_world.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/world/clock.h"
#include "runtime/world/envelope_body.h"
#include "runtime/world/futex.h"
#include "runtime/world/link.h"
#include "runtime/world/mix.h"

namespace pathways {
namespace {

constexpr TimeNs kDefaultSpinNs = 30'000;
// Spin time when answers come from other processes, or from workers that must
// wake up first: about twice the time that it takes to wake a thread on another
// core of a virtual machine.
constexpr TimeNs kFarSpinNs = 100'000;
// Replaces the defaults of `options`. Returns the time that threads which wait
// for the world spin.
TimeNs SetDefaults(ThreadOptions* options) {
  const int cores = std::max(1u, std::thread::hardware_concurrency());
  if (options->workers == 0) {
    options->workers = std::min(cores, ThreadOptions::kMaxWorkers);
  }
  if (options->clock == nullptr) {
    options->clock = std::make_shared<SteadyClock>();
  }
  if (options->spin_ns >= 0) return options->spin_ns;
  const bool has_cores = options->workers <= cores;
  const TimeNs wait_spin_ns = has_cores ? kFarSpinNs : 0;
  options->spin_ns = has_cores && !options->remote_channel.poll ? kDefaultSpinNs
                                                                : wait_spin_ns;
  return wait_spin_ns;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadWorld>> ThreadWorld::Create(
    ThreadOptions options) {
  if (options.workers < 0 || options.workers > ThreadOptions::kMaxWorkers) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.workers, " workers were requested, expected 1 to ",
        ThreadOptions::kMaxWorkers, ", or 0 for one for each core"));
  }
  if (options.followers && options.workers != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("followers need exactly 1 worker, got ", options.workers));
  }
  if (options.links) {
    if (absl::Status s = CheckLinkModels(*options.links); !s.ok()) return s;
  }
  const TimeNs wait_spin_ns = SetDefaults(&options);
  std::unique_ptr<ThreadWorld> world(
      new ThreadWorld(std::move(options), wait_spin_ns));
  if (absl::Status status = world->StartThreads(); !status.ok()) {
    return status;
  }
  return world;
}

ThreadWorld::ThreadWorld(ThreadOptions options, TimeNs wait_spin_ns)
    : World({.peers = this,
             .kernels = this,
             .batching = this,
             .loans = this,
             .arrivals = this}),
      options_(std::move(options)),
      clock_(options_.clock),
      wait_spin_ns_(wait_spin_ns),
      uplink_(std::move(options_.remote_channel)),
      workers_(options_.workers, options_.seed),
      router_(&actors_, &workers_, &calls_, &stopping_),
      carrier_(options_.links, std::move(options_.fault_hook),
               std::move(options_.control_fault_hook), &clock_, &actors_,
               &router_),
      leader_token_(
          options_.followers
              ? std::optional<LeaderToken>(std::in_place, &workers_[0].mailbox)
              : std::nullopt),
      loop_({options_.spin_ns, options_.links ? 1 : kRoundsPerClock}, &clock_,
            &actors_, &workers_, &router_, &uplink_, &notifier_,
            leader_token_ ? &*leader_token_ : nullptr, &stopping_) {
  for (ThreadWorker& worker : workers_.all()) {
    worker.stage = uplink_.OpenStage();
    gates_.push_back(NewGate(worker));
  }
}

absl::Status ThreadWorld::StartThreads() {
  for (int i = 0; i < workers_.size(); ++i) {
    try {
      workers_[i].ended.store(0, std::memory_order_relaxed);
      workers_[i].thread = std::thread([this, i] { Run(workers_[i]); });
    } catch (const std::system_error& error) {
      workers_[i].ended.store(1, std::memory_order_relaxed);
      Stop();
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot start worker ", i, " of ", workers_.size(), ": ",
                       error.what()));
    }
  }
  {
    MutexLock lock(&stop_mutex_);
    listener_ = clock_.source()->AddListener([this] { workers_.WakeAll(); });
  }
  const WatchOptions& watch = options_.watch;
  if (watch.report_ns <= 0 && watch.limit_ns <= 0) return absl::OkStatus();
  watchdog_ =
      std::make_unique<Watchdog>(watch, clock_.source(), &gates_,
                                 [this](int worker, const KernelCall& call) {
                                   return GiveUp(worker, call);
                                 });
  absl::Status started = watchdog_->Start();
  if (!started.ok()) Stop();
  return started;
}

ThreadWorld::~ThreadWorld() {
  assert(workers_.Self() == nullptr && "a handler must not destroy its world");
  Stop();
  for (KernelGate* gate : gates_) delete gate;
}

LocalId ThreadWorld::Register(Actor* actor, Placement placement,
                              std::string name, ActorId address) {
  assert(actor != nullptr);
  placement.worker = workers_.WorkerOf(placement.worker);
  const LocalId id = actors_.Add(actor, placement, std::move(name), address);
  if (id != kNobody) SetLocalId(actor, id);
  return id;
}

KernelGate* const* ThreadWorld::kernel_gate(int worker) {
  return &gates_[workers_.WorkerOf(worker)];
}

void ThreadWorld::ExpectKernels(int by) {
  if (watchdog_ == nullptr) return;
  for (; by > 0; --by) watchdog_->Hold();
  for (; by < 0; ++by) watchdog_->Release();
}

TimeNs ThreadWorld::Now() { return clock_.Now(); }

uint64_t ThreadWorld::Random() {
  if (ThreadWorker* self = workers_.Self()) return self->random.Next();
  return Mix(options_.seed,
             ~outside_random_.fetch_add(1, std::memory_order_relaxed));
}

void ThreadWorld::SendLocal(LocalId from, LocalId to,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "message to nobody");
  ThreadWorker* self = workers_.Self();
  if (self == nullptr || self->polls) [[unlikely]] {
    assert(from == kNobody && "only a handler sends for its actor");
    return router_.Post(-1,
                        Envelope::Of(Envelope::kLocal, message, kNoActor, to));
  }
  assert((from == kNobody ||
          actors_.hot(IndexOf(from)).host == actors_.hot(IndexOf(to)).host) &&
         "a local message must not cross hosts");
  router_.Route(*self, QueueOf(message), Envelope::kLocal, message, kNoActor,
                to);
}

void ThreadWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                       Payload payload) {
  const LocalId receiver = actors_.Find(to);
  ThreadWorker* self = workers_.Self();
  if (receiver == kNobody) [[unlikely]] {
    return uplink_.Send(self, from, to, message, payload);
  }
  const WireBody body{message, payload};
  if (self == nullptr || self->polls) [[unlikely]] {
    assert(actors_.Find(from) == kNobody &&
           "only a handler sends for its actor");
    return router_.Arrive(
        KeepEnvelope(Envelope::Of(Envelope::kWire, body, from, receiver)));
  }
  if (carrier_.Carries(from, receiver)) [[unlikely]] {
    return carrier_.Send(*self, from, to, receiver, body);
  }
  router_.Route(*self, QueueOf(message), Envelope::kWire, body, from, receiver);
}

void ThreadWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  const LocalId receiver = actors_.Find(to);
  ThreadWorker* self = workers_.Self();
  if (receiver == kNobody) {
    return uplink_.SendControl(self, from, to, std::move(bytes));
  }
  if (self != nullptr && self->polls) self = nullptr;
  if (self != nullptr && carrier_.Carries(from, receiver)) {
    return carrier_.SendControl(*self, from, to, receiver, std::move(bytes));
  }
  auto* body = new std::string(std::move(bytes));
  if (self == nullptr) {
    assert(actors_.Find(from) == kNobody &&
           "only a handler sends for its actor");
    return router_.Arrive(
        Envelope::Of(Envelope::kControl, body, from, receiver));
  }
  router_.Route(*self, kDirectQueue, Envelope::kControl, body, from, receiver);
}

void ThreadWorld::PassControl(ActorId from, ActorId to, ControlBody* body) {
  const LocalId receiver = actors_.Find(to);
  ThreadWorker* self = workers_.Self();
  // Messages that cross a link with costs or faults are sent as bytes.
  if (receiver == kNobody ||
      (self != nullptr && carrier_.Carries(from, receiver))) {
    return World::PassControl(from, to, body);
  }
  if (self == nullptr) {
    if (from == kNoActor && !leader_token_) {
      router_.Rouse(router_.WorkerOf(receiver));
    }
    return router_.Post(-1,
                        Envelope::Of(Envelope::kBody, body, from, receiver));
  }
  router_.Route(*self, kDirectQueue, Envelope::kBody, body, from, receiver);
}

void ThreadWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "timer for nobody");
  TimeNs deadline = Now() + std::clamp<TimeNs>(delay, 0, kFarAway);
  ThreadWorker* self = workers_.Self();
  const Envelope envelope =
      Envelope::Of(Envelope::kLocal, message, kNoActor, to);
  if (self == nullptr) return router_.Post(deadline, envelope);
  assert((from == kNobody ||
          actors_.hot(IndexOf(from)).host == actors_.hot(IndexOf(to)).host) &&
         "a timer must not cross hosts");
  (void)from;
  self->mailbox.AddTimer(deadline, envelope);
}

// The news always go through the inbox, which keeps one order for all threads.
void ThreadWorld::Notify(LocalId watcher, const PeerWatch::News& news) {
  if (actors_.hot(IndexOf(watcher)).host == news.peer.host) return;
  router_.Post(-1, Envelope::Of(Envelope::kPeer, news, kNoActor, watcher));
}

void ThreadWorld::WatchPeers(LocalId actor) {
  peers_.Add(actor, [this](LocalId watcher, const PeerWatch::News& news) {
    Notify(watcher, news);
  });
}

void ThreadWorld::ReportPeerDown(int32_t host, uint32_t epoch) {
  peers_.ReportDown({host, epoch},
                    [this](LocalId watcher, const PeerWatch::News& news) {
                      Notify(watcher, news);
                    });
}

void ThreadWorld::ReportPeerUp(int32_t host, uint32_t epoch) {
  peers_.ReportUp({host, epoch},
                  [this](LocalId watcher, const PeerWatch::News& news) {
                    Notify(watcher, news);
                  });
}

bool ThreadWorld::RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) {
  assert(workers_.Self() == nullptr && "a handler must not wait for its world");
  const TimeNs until =
      limit_ns < 0 ? Notifier::kNever : Later(SteadyClock().Now(), limit_ns);
  if (leader_token_) return WaitAsFollower(done, until);
  return notifier_.Wait(done, stopping_, wait_spin_ns_, until);
}

void ThreadWorld::Notify() { notifier_.Notify(); }

void ThreadWorld::Stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  workers_.WakeAll();
  Notify();
  if (workers_.Self() != nullptr) return;
  // The lock also waits for another thread that is inside Stop.
  MutexLock lock(&stop_mutex_);
  if (listener_ != 0) clock_.source()->RemoveListener(listener_);
  listener_ = 0;
  // The watchdog looks for kernels that do not return until all workers have
  // ended.
  ExpectKernels(1);
  for (int i = 0; i < workers_.size(); ++i) {
    while (workers_[i].ended.load(std::memory_order_seq_cst) == 0) {
      FutexWait(workers_[i].ended, 0, -1);
    }
  }
  ExpectKernels(-1);
  if (watchdog_ != nullptr) watchdog_->Stop();
  for (int i = 0; i < workers_.size(); ++i) {
    if (workers_[i].thread.joinable()) workers_[i].thread.join();
  }
  workers_.DropAll();
}

}  // namespace pathways
