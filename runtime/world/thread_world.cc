//===- thread_world.cc - Actors on threads ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/thread_world.h"

#include <sched.h>

#include <algorithm>
#include <array>
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
#include "runtime/world/thread_worker.h"

namespace pathways {
namespace {

constexpr TimeNs kDefaultSpinNs = 30'000;
// Spin time when answers come from other processes, or from workers that must
// wake up first: about twice the time that it takes to wake a thread on another
// core of a virtual machine.
constexpr TimeNs kFarSpinNs = 100'000;
// Most blocks that reservations set aside (75 MiB). More messages allocate
// their blocks when they first need them, so that a huge plan costs no more
// than it uses.
constexpr int64_t kMaxReservedBlocks = 1 << 15;
// Blocks provisioned at the start, for the first message of each pair of
// workers.
constexpr int64_t kMaxPairBlocks = 2048;

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
      num_workers_(options_.workers),
      wait_spin_ns_(wait_spin_ns) {
  clock_mask_ = kRoundsPerClock - 1;
  if (options_.links) {
    links_.emplace(*options_.links);
    clock_mask_ = 0;
  }
  watched_ =
      options_.fault_hook || options_.control_fault_hook || options_.links;
  const int64_t queues = int64_t{kNumQueues} * num_workers_ * num_workers_;
  pool_.Provision(std::min(queues, kMaxPairBlocks));
  workers_ = std::make_unique<Worker[]>(num_workers_);
  for (int i = 0; i < num_workers_; ++i) {
    Worker& worker = workers_[i];
    worker.world = this;
    worker.index = i;
    worker.random = SplitMix(Mix(options_.seed, i));
    worker.mailbox.Open(&pool_, i, num_workers_);
    const auto& open_stage = options_.remote_channel.open_stage;
    if (open_stage) worker.stage = open_stage();
    gates_.push_back(NewGate(worker));
  }
  if (options_.followers) leader_token_.emplace(&workers_[0].mailbox);
}

absl::Status ThreadWorld::StartThreads() {
  awake_.store(num_workers_, std::memory_order_relaxed);
  for (int i = 0; i < num_workers_; ++i) {
    try {
      workers_[i].ended.store(0, std::memory_order_relaxed);
      workers_[i].thread = std::thread([this, i] { Run(workers_[i]); });
    } catch (const std::system_error& error) {
      workers_[i].ended.store(1, std::memory_order_relaxed);
      Stop();
      return absl::ResourceExhaustedError(absl::StrCat(
          "cannot start worker ", i, " of ", num_workers_, ": ", error.what()));
    }
  }
  {
    MutexLock lock(&stop_mutex_);
    listener_ = clock_.source()->AddListener([this] { WakeAll(); });
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
  assert(Self() == nullptr && "a handler must not destroy its world");
  Stop();
  for (KernelGate* gate : gates_) delete gate;
}

LocalId ThreadWorld::Register(Actor* actor, Placement placement,
                              std::string name, ActorId address) {
  assert(actor != nullptr);
  placement.worker = WorkerOf(placement.worker);
  const LocalId id = actors_.Add(actor, placement, std::move(name), address);
  if (id != kNobody) SetLocalId(actor, id);
  return id;
}

void ThreadWorld::Reserve(LocalId to, int64_t messages) {
  (void)to;  // one pool serves all queues
  int64_t total =
      reserved_.fetch_add(messages, std::memory_order_relaxed) + messages;
  // Each queue may hold one block that is partly full, and one that is empty
  // and not given back yet.
  const int64_t queues = int64_t{kNumQueues} * num_workers_ * num_workers_;
  pool_.Provision(std::min(total / MessageBlock::kSlots +
                               2 * std::min(queues, total) +
                               std::min(queues, kMaxPairBlocks),
                           kMaxReservedBlocks));
}

KernelGate* const* ThreadWorld::kernel_gate(int worker) {
  return &gates_[WorkerOf(worker)];
}

void ThreadWorld::ExpectKernels(int by) {
  if (watchdog_ == nullptr) return;
  for (; by > 0; --by) watchdog_->Hold();
  for (; by < 0; ++by) watchdog_->Release();
}

TimeNs ThreadWorld::Now() { return clock_.Now(); }

uint64_t ThreadWorld::Random() {
  if (Worker* self = Self()) return self->random.Next();
  return Mix(options_.seed,
             ~outside_random_.fetch_add(1, std::memory_order_relaxed));
}

bool ThreadWorld::Crosses(ActorId from, LocalId to) const {
  const LocalId sender = actors_.Find(from);
  return sender != kNobody &&
         actors_.hot(IndexOf(sender)).host != actors_.hot(IndexOf(to)).host;
}

void ThreadWorld::SendLocal(LocalId from, LocalId to,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "message to nobody");
  Worker* self = Self();
  if (self == nullptr || self->polls) [[unlikely]] {
    assert(from == kNobody && "only a handler sends for its actor");
    return Post(-1, Envelope::Of(Envelope::kLocal, message, kNoActor, to));
  }
  assert((from == kNobody ||
          actors_.hot(IndexOf(from)).host == actors_.hot(IndexOf(to)).host) &&
         "a local message must not cross hosts");
  Route(*self, QueueOf(message), Envelope::kLocal, message, kNoActor, to);
}

void ThreadWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                       Payload payload) {
  const LocalId receiver = actors_.Find(to);
  if (receiver == kNobody) [[unlikely]] {
    return SendFar(from, to, message, payload);
  }
  Worker* self = Self();
  const WireBody body{message, payload};
  if (self == nullptr || self->polls) [[unlikely]] {
    assert(actors_.Find(from) == kNobody &&
           "only a handler sends for its actor");
    const Posted posted = {
        -1, KeepEnvelope(Envelope::Of(Envelope::kWire, body, from, receiver))};
    return Arrive(actors_.hot(IndexOf(receiver)).worker,
                  absl::MakeConstSpan(&posted, 1));
  }
  if (watched_ && Crosses(from, receiver)) [[unlikely]] {
    Fault fault;
    if (options_.fault_hook) fault = options_.fault_hook(from, to, message);
    return SendAcross(*self,
                      Envelope::Of(Envelope::kWire, body, from, receiver),
                      payload.bytes, fault);
  }
  Route(*self, QueueOf(message), Envelope::kWire, body, from, receiver);
}

void ThreadWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  const LocalId receiver = actors_.Find(to);
  if (receiver == kNobody) return SendControlFar(from, to, std::move(bytes));
  Worker* self = Self();
  if (self != nullptr && self->polls) self = nullptr;
  Fault fault;
  const bool is_watched =
      self != nullptr && watched_ && Crosses(from, receiver);
  if (is_watched && options_.control_fault_hook) {
    fault = options_.control_fault_hook(from, to, bytes);
  }
  const uint64_t size = bytes.size();
  std::string* body = new std::string(std::move(bytes));
  if (is_watched) {
    return SendAcross(*self,
                      Envelope::Of(Envelope::kControl, body, from, receiver),
                      size, fault);
  }
  if (self == nullptr) {
    assert(actors_.Find(from) == kNobody &&
           "only a handler sends for its actor");
    const Posted posted = {
        -1, Envelope::Of(Envelope::kControl, body, from, receiver)};
    return Arrive(actors_.hot(IndexOf(receiver)).worker,
                  absl::MakeConstSpan(&posted, 1));
  }
  Route(*self, kDirectQueue, Envelope::kControl, body, from, receiver);
}

void ThreadWorld::PassControl(ActorId from, ActorId to, ControlBody* body) {
  const LocalId receiver = actors_.Find(to);
  Worker* self = Self();
  // Messages that cross a link with costs or faults are sent as bytes.
  if (receiver == kNobody ||
      (self != nullptr && watched_ && Crosses(from, receiver))) {
    return World::PassControl(from, to, body);
  }
  if (self == nullptr) {
    if (from == kNoActor && !leader_token_) {
      Rouse(actors_.hot(IndexOf(receiver)).worker);
    }
    return Post(-1, Envelope::Of(Envelope::kBody, body, from, receiver));
  }
  Route(*self, kDirectQueue, Envelope::kBody, body, from, receiver);
}

void ThreadWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "timer for nobody");
  TimeNs deadline = Now() + std::clamp<TimeNs>(delay, 0, kFarAway);
  Worker* self = Self();
  const Envelope envelope =
      Envelope::Of(Envelope::kLocal, message, kNoActor, to);
  if (self == nullptr) return Post(deadline, envelope);
  assert((from == kNobody ||
          actors_.hot(IndexOf(from)).host == actors_.hot(IndexOf(to)).host) &&
         "a timer must not cross hosts");
  (void)from;
  self->mailbox.AddTimer(deadline, envelope);
}

// The news always go through the inbox, which keeps one order for all threads.
void ThreadWorld::Notify(LocalId watcher, const PeerWatch::News& news) {
  if (actors_.hot(IndexOf(watcher)).host == news.peer.host) return;
  Post(-1, Envelope::Of(Envelope::kPeer, news, kNoActor, watcher));
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

void ThreadWorld::Post(TimeNs deadline, const Envelope& envelope) {
  Mailbox& mailbox = workers_[actors_.hot(envelope.to).worker].mailbox;
  if (!mailbox.Post(Posted{deadline, envelope}, stopping_, IsInCall())) {
    DropEnvelope(envelope);
  }
}

void ThreadWorld::Rouse(int worker) {
  Worker& own = workers_[worker];
  if (!own.mailbox.seems_asleep()) return;
  // A sleeping core wakes up while the system works on the next call.
  if (own.core.load(std::memory_order_relaxed) != sched_getcpu()) {
    own.mailbox.Wake();
  }
  Mailbox& next = workers_[(worker + 1) % num_workers_].mailbox;
  if (next.asleep()) next.Wake();
}

bool ThreadWorld::DeliverRare(Worker& self, Actor* actor, Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::kOwned: {
      const WireBody& wire = envelope.As<WireBody>();
      actor->OnWire(envelope.from, wire.message, wire.payload);
      DropEnvelope(envelope);
      return true;
    }
    case Envelope::kOffer: {
      TakeOffer(actor, envelope);
      return true;
    }
    case Envelope::kLent: {
      std::unique_ptr<const LentBody> lent(envelope.As<LentBody*>());
      // If the handler stops the world, the message is dropped with the queue,
      // so its envelope must not own the body.
      envelope.kind = Envelope::kLocal;
      actor->OnWire(envelope.from, lent->wire.message, lent->wire.payload);
      SendLocal(kNobody, lent->owner, lent->returned);
      return true;
    }
    case Envelope::kLater: {
      // Messages of one sender come in the order of their times.
      std::unique_ptr<const Posted> posted(envelope.As<Posted*>());
      self.mailbox.AddTimer(posted->deadline, posted->envelope);
      return false;
    }
    case Envelope::kPeer: {
      const auto [peer, is_up] = envelope.As<PeerWatch::News>();
      actor->OnPeer({peer.host, peer.epoch, is_up});
      return true;
    }
    case Envelope::kBody: {
      ControlBody* const body = envelope.As<ControlBody*>();
      // If the handler stops the world, the message is dropped with the queue,
      // so its envelope must not own the body.
      envelope.kind = Envelope::kLocal;
      actor->OnControl(envelope.from, ReceivedControl(body));
      self.stats.controls.Add(1);
      return true;
    }
    default:
      break;
  }
  std::unique_ptr<const std::string> bytes(envelope.As<std::string*>());
  // If the handler stops the world, the message is dropped with the queue, so
  // its envelope must not own the body.
  envelope.kind = Envelope::kLocal;
  actor->OnControl(envelope.from, *bytes);
  self.stats.controls.Add(1);
  return true;
}

void ThreadWorld::WakeAll() {
  for (int i = 0; i < num_workers_; ++i) workers_[i].mailbox.Wake();
}

bool ThreadWorld::RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) {
  assert(Self() == nullptr && "a handler must not wait for its world");
  const TimeNs until =
      limit_ns < 0 ? Notifier::kNever : Later(SteadyClock().Now(), limit_ns);
  if (leader_token_) return WaitAsFollower(done, until);
  return notifier_.Wait(done, stopping_, wait_spin_ns_, until);
}

void ThreadWorld::Notify() { notifier_.Notify(); }

void ThreadWorld::Stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  WakeAll();
  Notify();
  if (Self() != nullptr) return;
  // The lock also waits for another thread that is inside Stop.
  MutexLock lock(&stop_mutex_);
  if (listener_ != 0) clock_.source()->RemoveListener(listener_);
  listener_ = 0;
  // The watchdog looks for kernels that do not return until all workers have
  // ended.
  ExpectKernels(1);
  for (int i = 0; i < num_workers_; ++i) {
    while (workers_[i].ended.load(std::memory_order_seq_cst) == 0) {
      FutexWait(workers_[i].ended, 0, -1);
    }
  }
  ExpectKernels(-1);
  if (watchdog_ != nullptr) watchdog_->Stop();
  for (int i = 0; i < num_workers_; ++i) {
    if (workers_[i].thread.joinable()) workers_[i].thread.join();
  }
  for (int i = 0; i < num_workers_; ++i)
    workers_[i].mailbox.DropAll(&DropEnvelope);
}

// A thread that sends to a resting worker wakes it, and a woken worker ends its
// rest before it sends. So if each worker rests in the first loop, and is in
// the same rest and was not woken in the second one, all of them rested between
// the two loops.
bool ThreadWorld::AtRest() const {
  std::array<uint64_t, ThreadOptions::kMaxWorkers> rests;
  for (int i = 0; i < num_workers_; ++i) {
    rests[i] = workers_[i].rests.load(std::memory_order_seq_cst);
    if (rests[i] % 2 == 0) return false;
  }
  for (int i = 0; i < num_workers_; ++i) {
    const Worker& worker = workers_[i];
    if (!worker.mailbox.asleep() ||
        worker.rests.load(std::memory_order_seq_cst) != rests[i]) {
      return false;
    }
  }
  return true;
}

WorkerStats ThreadWorld::stats(int worker) const {
  const auto& from = workers_[worker].stats;
  WorkerStats stats;
  stats.messages = from.messages.get();
  stats.controls = from.controls.get();
  stats.remote = from.remote.get();
  stats.outside = from.outside.get();
  stats.timers = from.timers.get();
  stats.spins = from.spins.get();
  stats.sleeps = from.sleeps.get();
  stats.wakes = from.wakes.get();
  return stats;
}

}  // namespace pathways
