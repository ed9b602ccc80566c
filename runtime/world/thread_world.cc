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
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/world/clock.h"
#include "runtime/world/envelope_body.h"
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
  // If a thread is missing, the destructor of the world ends the others.
  if (absl::Status s = world->threads_.Start(); !s.ok()) return s;
  {
    MutexLock lock(&world->stop_mutex_);
    world->listener_ = world->clock_.source()->AddListener(
        [workers = &world->workers_] { workers->WakeAll(); });
  }
  return world;
}

ThreadWorld::ThreadWorld(ThreadOptions options, TimeNs wait_spin_ns)
    : World({.peers = this,
             .kernels = this,
             .batching = this,
             .loans = this,
             .arrivals = this}),
      seed_(options.seed),
      spin_ns_(options.spin_ns),
      wait_spin_ns_(wait_spin_ns),
      clock_(std::move(options.clock)),
      uplink_(std::move(options.remote_channel)),
      workers_(options.workers, options.seed, uplink_.stage_opener()),
      router_(&actors_, &workers_, &calls_, &stopping_),
      carrier_(options.links, std::move(options.fault_hook),
               std::move(options.control_fault_hook), &clock_, &actors_,
               &router_),
      leader_token_(options.followers ? std::optional<LeaderToken>(
                                            std::in_place, &workers_[0].mailbox)
                                      : std::nullopt),
      loop_({spin_ns_, options.links ? 1 : kRoundsPerClock}, &clock_, &actors_,
            &workers_, &router_, &uplink_, &notifier_,
            leader_token_ ? &*leader_token_ : nullptr, &stopping_),
      threads_(std::move(options.on_worker_start), std::move(options.watch),
               &clock_, &actors_, &workers_, &loop_),
      peer_notices_(&actors_, &router_),
      arrivals_(&actors_, &workers_, &router_, &uplink_) {
  if (leader_token_) {
    followers_.emplace(spin_ns_, &clock_, &*leader_token_, &calls_, &workers_,
                       &loop_, &uplink_, &notifier_, &stopping_);
  }
}

ThreadWorld::~ThreadWorld() {
  assert(workers_.Self() == nullptr && "a handler must not destroy its world");
  Stop();
}

LocalId ThreadWorld::Register(Actor* actor, Placement placement,
                              std::string name, ActorId address) {
  assert(actor != nullptr);
  placement.worker = workers_.WorkerOf(placement.worker);
  const LocalId id = actors_.Add(actor, placement, std::move(name), address);
  if (id != kNobody) SetLocalId(actor, id);
  return id;
}

TimeNs ThreadWorld::Now() { return clock_.Now(); }

uint64_t ThreadWorld::Random() {
  if (ThreadWorker* self = workers_.Self()) return self->random.Next();
  return Mix(seed_, ~outside_random_.fetch_add(1, std::memory_order_relaxed));
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
    if (from == kNoActor && !followers_) {
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

bool ThreadWorld::RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) {
  assert(workers_.Self() == nullptr && "a handler must not wait for its world");
  const TimeNs until =
      limit_ns < 0 ? Notifier::kNever : Later(SteadyClock().Now(), limit_ns);
  if (followers_) return followers_->Wait(done, until);
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
  threads_.Join();
  workers_.DropAll();
}

void ThreadWorld::TakesLong() {
  ThreadWorker* self = workers_.Self();
  if (self != nullptr) self->FlushStage();
}

bool ThreadWorld::LendTo(ActorId from, ActorId to, const WireMessage& message,
                         Payload payload, const LocalMessage& returned) {
  ThreadWorker* self = workers_.Self();
  if (payload.bytes < kMinLentBytes || payload.data == nullptr ||
      self == nullptr || self->polls || !Lends(to)) {
    Send(from, to, message, payload);
    return false;
  }
  if (const LocalId receiver = actors_.Find(to); receiver != kNobody) {
    // The receiver reads the payload in place.
    auto* lent = new LentBody{{message, payload}, actors_.Find(from), returned};
    router_.Route(*self, QueueOf(message), Envelope::kLent, lent, from,
                  receiver);
    return true;
  }
  return uplink_.Lend(*self, from, to, message, payload, actors_.Find(from),
                      returned);
}

}  // namespace pathways
