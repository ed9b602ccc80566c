//===- thread_world.cc - Actors on threads ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/thread_world.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/world/futex.h"
#include "runtime/world/mix.h"

namespace pathways {
namespace {

// Messages taken from one queue before the others are looked at.
constexpr int kBatch = 64;
// Rounds of a busy worker between two looks at the clock, a power of two.
constexpr uint32_t kRoundsPerClock = 32;
// Rounds of a worker without work between two looks for others to let run.
constexpr uint32_t kRoundsPerYield = 4;
constexpr TimeNs kDefaultSpinNs = 30'000;
// Blocks set aside by reservation at most (75 MiB); messages beyond get theirs
// when they are first needed, so that a huge plan costs no more than it uses.
constexpr int64_t kMaxReservedBlocks = 1 << 15;
constexpr uint32_t kMaxChunks = 1 << 14;
// Blocks to start with, for the first message of each pair of workers.
constexpr int64_t kMaxPairBlocks = 2048;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A counter with one writer, so without an atomic read-modify-write.
class Counter {
 public:
  void Add(uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

constexpr std::align_val_t kPayloadAlign{128};

// A copy of a message that is kept longer than its sender's promise.
Envelope Keep(const Envelope& envelope) {
  Envelope kept = envelope;
  if (envelope.kind == Envelope::kControl) {
    kept.As<std::string*>() = new std::string(*envelope.As<std::string*>());
  } else if (envelope.kind == Envelope::kWire) {
    Payload& payload = kept.As<WireBody>().payload;
    if (payload.data == nullptr || payload.bytes == 0) return kept;
    void* copy = ::operator new(payload.bytes, kPayloadAlign);
    std::memcpy(copy, payload.data, payload.bytes);
    payload.data = copy;
    kept.kind = Envelope::kOwned;
  }
  return kept;
}

}  // namespace

struct ThreadWorld::Timer {
  TimeNs deadline;
  uint64_t number;
  Envelope envelope;

  // For a heap with the earliest on top.
  bool operator<(const Timer& other) const {
    if (deadline != other.deadline) return deadline > other.deadline;
    return number > other.number;
  }
};

// Sent by a thread that is not a worker; or, when a message is kept, what its
// envelope points to.
struct ThreadWorld::Posted {
  TimeNs deadline;  // negative: not a timer
  Envelope envelope;
};

struct alignas(64) ThreadWorld::Worker {
  ThreadWorld* world = nullptr;
  int index = 0;
  uint32_t rounds = 0;
  LocalQueue local;
  std::unique_ptr<RemoteQueue[]> remote;  // by sending worker
  std::vector<Timer> timers;              // a heap
  uint64_t next_timer = 0;
  SplitMix random{0};
  std::vector<Posted> taken;  // the inbox's memory, taken in turn
  // Where the message lies that is being handled: the worker it came from.
  int serving = 0;
  std::thread thread;  // changed by the watchdog's alone, until that has ended
  std::atomic<uint32_t> ended{1};  // its thread, or there is none
  struct {
    Counter messages, controls, remote, outside, timers, spins, sleeps, wakes;
  } stats;
  // Read by others: the core it was on when it last had no work; -1: none yet.
  alignas(64) std::atomic<int> core{-1};
  // Written by others.
  std::atomic<uint32_t> sleeping{0};  // 1: asleep, or about to be
  alignas(64) std::atomic<bool> has_inbox{false};
  Mutex inbox_mutex;
  std::vector<Posted> inbox ABSL_GUARDED_BY(inbox_mutex);
};

// Of the world whose worker this thread is. A thread is a worker of one world
// only, for all its life.
static thread_local void* this_worker = nullptr;

ThreadWorld::Worker* ThreadWorld::Self() const {
  Worker* worker = static_cast<Worker*>(this_worker);
  return worker != nullptr && worker->world == this ? worker : nullptr;
}

absl::StatusOr<std::unique_ptr<ThreadWorld>> ThreadWorld::Create(
    ThreadOptions options) {
  if (options.workers < 0 || options.workers > ThreadOptions::kMaxWorkers) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.workers, " workers asked for, expected 1 to ",
        ThreadOptions::kMaxWorkers, ", or 0 for one for each core"));
  }
  if (options.links) {
    if (absl::Status s = CheckLinkModels(*options.links); !s.ok()) return s;
  }
  std::unique_ptr<ThreadWorld> world(new ThreadWorld(std::move(options)));
  if (absl::Status status = world->StartThreads(); !status.ok()) {
    return status;
  }
  return world;
}

ThreadWorld::ThreadWorld(ThreadOptions options)
    : options_(std::move(options)),
      chunks_(std::make_unique<std::atomic<ActorChunk*>[]>(kMaxChunks)),
      addresses_(std::make_unique<std::atomic<AddressChunk*>[]>(kMaxChunks)) {
  int cores = std::max(1u, std::thread::hardware_concurrency());
  num_workers_ = options_.workers > 0
                     ? options_.workers
                     : std::min(cores, ThreadOptions::kMaxWorkers);
  if (options_.spin_ns < 0) {
    options_.spin_ns = num_workers_ > cores ? 0 : kDefaultSpinNs;
  }
  if (options_.clock == nullptr) {
    options_.clock = std::make_shared<SteadyClock>();
  }
  clock_mask_ = kRoundsPerClock - 1;
  if (options_.links) {
    links_.emplace(*options_.links);
    clock_mask_ = 0;
  }
  watched_ =
      options_.fault_hook || options_.control_fault_hook || options_.links;
  start_ = options_.clock->Now();
  int64_t queues = int64_t{num_workers_} * num_workers_;
  pool_.Provision(std::min(queues, kMaxPairBlocks));
  workers_ = std::make_unique<Worker[]>(num_workers_);
  for (int i = 0; i < num_workers_; ++i) {
    Worker& worker = workers_[i];
    worker.world = this;
    worker.index = i;
    worker.remote = std::make_unique<RemoteQueue[]>(num_workers_);
    worker.random = SplitMix(Mix(options_.seed, i));
    worker.timers.reserve(64);
    gates_.push_back(new KernelGate);
  }
}

absl::Status ThreadWorld::StartThreads() {
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
    listener_ = options_.clock->AddListener([this] { WakeAll(); });
  }
  const WatchOptions& watch = options_.watch;
  if (watch.report_ns <= 0 && watch.limit_ns <= 0) return absl::OkStatus();
  watchdog_ =
      std::make_unique<Watchdog>(watch, options_.clock, &gates_,
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
  for (uint32_t i = 0; i < kMaxChunks; ++i) {
    delete chunks_[i].load(std::memory_order_relaxed);
    delete addresses_[i].load(std::memory_order_relaxed);
  }
}

LocalId ThreadWorld::Register(Actor* actor, Placement placement,
                              std::string name, ActorId address) {
  assert(actor != nullptr);
  MutexLock lock(&register_mutex_);
  uint32_t index = num_actors_ / ActorChunk::kActors;
  uint32_t at = num_actors_ % ActorChunk::kActors;
  const uint32_t address_index = address / ActorChunk::kActors;
  if (index == kMaxChunks ||
      (address != kNoActor && address_index >= kMaxChunks)) {
    return kNobody;
  }
  ActorChunk* chunk = chunks_[index].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new ActorChunk;
    chunks_[index].store(chunk, std::memory_order_release);
  }
  chunk->hot[at] = {actor, WorkerOf(placement.worker), placement.host};
  chunk->islands[at] = placement.island;
  chunk->names[at] = std::move(name);
  const LocalId id{num_actors_++};
  SetLocalId(actor, id);
  // Others read the entry only once they were told the number, in a message, or
  // have found the address.
  if (address == kNoActor) return id;
  AddressChunk* addresses =
      addresses_[address_index].load(std::memory_order_relaxed);
  if (addresses == nullptr) {
    addresses = new AddressChunk;
    for (std::atomic<LocalId>& one : addresses->ids) {
      one.store(kNobody, std::memory_order_relaxed);
    }
    addresses_[address_index].store(addresses, std::memory_order_release);
  }
  addresses->ids[address % ActorChunk::kActors].store(
      id, std::memory_order_release);
  return id;
}

LocalId ThreadWorld::Find(ActorId address) const {
  const uint32_t index = address / ActorChunk::kActors;
  if (index >= kMaxChunks) return kNobody;
  const AddressChunk* chunk = addresses_[index].load(std::memory_order_acquire);
  if (chunk == nullptr) return kNobody;
  return chunk->ids[address % ActorChunk::kActors].load(
      std::memory_order_acquire);
}

const std::string& ThreadWorld::name(LocalId actor) const {
  return chunks_[IndexOf(actor) / ActorChunk::kActors]
      .load(std::memory_order_acquire)
      ->names[IndexOf(actor) % ActorChunk::kActors];
}

void ThreadWorld::Reserve(LocalId to, int64_t messages) {
  (void)to;  // one pool serves all queues
  int64_t total =
      reserved_.fetch_add(messages, std::memory_order_relaxed) + messages;
  // Each queue may hold one block that is full in part and one that is empty
  // but not given back yet.
  int64_t queues = int64_t{num_workers_} * num_workers_;
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

TimeNs ThreadWorld::Now() { return options_.clock->Now() - start_; }

uint64_t ThreadWorld::Random() {
  if (Worker* self = Self()) return self->random.Next();
  return Mix(options_.seed,
             ~outside_random_.fetch_add(1, std::memory_order_relaxed));
}

bool ThreadWorld::Crosses(ActorId from, LocalId to) const {
  const LocalId sender = Find(from);
  return sender != kNobody &&
         hot(IndexOf(sender)).host != hot(IndexOf(to)).host;
}

template <typename T>
void ThreadWorld::Route(Worker& self, Envelope::Kind kind, const T& body,
                        ActorId from, LocalId to) {
  int32_t target = hot(IndexOf(to)).worker;
  if (target == self.index) {
    self.local.Push(pool_, kind, body, from, to);
    return;
  }
  Worker& other = workers_[target];
  other.remote[self.index].Push(pool_, kind, body, from, to);
  if (other.sleeping.load(std::memory_order_seq_cst) != 0) {
    self.stats.wakes.Add(1);
    Wake(other);
  }
}

void ThreadWorld::SendLocal(LocalId from, LocalId to,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "message to nobody");
  Worker* self = Self();
  if (self == nullptr) [[unlikely]] {
    assert(from == kNobody && "only a handler sends for its actor");
    return Post(-1, Envelope::Of(Envelope::kLocal, message, kNoActor, to));
  }
  assert(
      (from == kNobody || hot(IndexOf(from)).host == hot(IndexOf(to)).host) &&
      "a local message must not cross hosts");
  Route(*self, Envelope::kLocal, message, kNoActor, to);
}

void ThreadWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                       Payload payload) {
  const LocalId receiver = Find(to);
  if (receiver == kNobody) [[unlikely]] {
    if (options_.uplink.send) {
      return options_.uplink.send(from, to, message, payload);
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Worker* self = Self();
  const WireBody body{message, payload};
  if (self == nullptr) [[unlikely]] {
    assert(Find(from) == kNobody && "only a handler sends for its actor");
    return Post(-1, Keep(Envelope::Of(Envelope::kWire, body, from, receiver)));
  }
  if (watched_ && Crosses(from, receiver)) [[unlikely]] {
    Fault fault;
    if (options_.fault_hook) fault = options_.fault_hook(from, to, message);
    return SendAcross(*self,
                      Envelope::Of(Envelope::kWire, body, from, receiver),
                      payload.bytes, fault);
  }
  Route(*self, Envelope::kWire, body, from, receiver);
}

void ThreadWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  const LocalId receiver = Find(to);
  if (receiver == kNobody) {
    if (options_.uplink.send_control) {
      return options_.uplink.send_control(from, to, std::move(bytes));
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Worker* self = Self();
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
    assert(Find(from) == kNobody && "only a handler sends for its actor");
    return Post(-1, Envelope::Of(Envelope::kControl, body, from, receiver));
  }
  Route(*self, Envelope::kControl, body, from, receiver);
}

void ThreadWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                            const LocalMessage& message) {
  assert(IndexOf(to) <= kMaxActors && "timer for nobody");
  TimeNs deadline = Now() + std::clamp<TimeNs>(delay, 0, kFarAway);
  Worker* self = Self();
  const Envelope envelope =
      Envelope::Of(Envelope::kLocal, message, kNoActor, to);
  if (self == nullptr) return Post(deadline, envelope);
  assert(
      (from == kNobody || hot(IndexOf(from)).host == hot(IndexOf(to)).host) &&
      "a timer must not cross hosts");
  (void)from;
  AddTimer(*self, deadline, envelope);
}

void ThreadWorld::Tell(LocalId watcher, Peer peer) {
  const HotActor& actor = hot(IndexOf(watcher));
  if (actor.host == peer.host) return;
  if (Worker* self = Self()) {
    return Route(*self, Envelope::kPeerDown, peer, kNoActor, watcher);
  }
  Post(-1, Envelope::Of(Envelope::kPeerDown, peer, kNoActor, watcher));
}

void ThreadWorld::WatchPeers(LocalId actor) {
  for (const Peer& peer : peers_.Add(actor)) Tell(actor, peer);
}

void ThreadWorld::ReportPeerDown(int32_t host, uint32_t epoch) {
  const Peer peer{host, epoch};
  for (LocalId watcher : peers_.Report(peer)) Tell(watcher, peer);
}

Placement ThreadWorld::PlaceOf(LocalId actor) const {
  const ActorChunk* chunk = chunks_[IndexOf(actor) / ActorChunk::kActors].load(
      std::memory_order_acquire);
  const uint32_t at = IndexOf(actor) % ActorChunk::kActors;
  return {chunk->hot[at].host, chunk->hot[at].worker, chunk->islands[at]};
}

void ThreadWorld::SendAcross(Worker& self, const Envelope& envelope,
                             uint64_t bytes, const Fault& fault) {
  const bool kept_in_order =
      fault.kind == Fault::kDeliver || fault.kind == Fault::kDuplicate;
  const TimeNs time =
      options_.links
          ? Carry(self, envelope, kHeaderBytes + bytes, kept_in_order)
          : -1;
  if (fault.kind == Fault::kDeliver) return SendAt(self, time, envelope);
  faults_.fetch_add(1, std::memory_order_relaxed);
  if (fault.kind == Fault::kDrop) return Drop(envelope);
  const TimeNs later = Later(time < 0 ? Now() : time, fault.delay_ns);
  // Before the first copy goes out, and may be consumed.
  const Envelope kept = Keep(envelope);
  if (fault.kind == Fault::kDuplicate) {
    SendAt(self, time, envelope);
  } else {
    Drop(envelope);
  }
  SendAt(self, later, kept);
}

TimeNs ThreadWorld::Carry(Worker& self, const Envelope& envelope,
                          uint64_t bytes, bool in_order) {
  const Placement from = PlaceOf(Find(envelope.from)),
                  to = PlaceOf(LocalId{envelope.to});
  MutexLock lock(&links_mutex_);
  Wire& wire = links_->Between(from, to);
  if (wire.model->free()) return -1;
  TimeNs jitter = 0;
  if (wire.model->jitter_ns != 0) {
    jitter = static_cast<TimeNs>(self.random.UpTo(wire.model->jitter_ns));
  }
  // Looked at here, so that no message is put on a wire before an earlier one.
  const TimeNs time = wire.Carry(Now(), bytes, jitter);
  if (in_order) wire.last_arrival = time;
  return time;
}

void ThreadWorld::SendAt(Worker& self, TimeNs time, const Envelope& envelope) {
  const LocalId to{envelope.to};
  if (time < 0) return RouteAgain(self, envelope);
  Posted* carrier = new Posted{time, envelope};
  Route(self, Envelope::kLater, carrier, kNoActor, to);
}

// All bodies are copied whole, whatever they are.
void ThreadWorld::RouteAgain(Worker& self, const Envelope& envelope) {
  struct Body {
    alignas(8) std::byte bytes[sizeof(Envelope::body)];
  } body;
  std::memcpy(body.bytes, envelope.body, sizeof(body));
  Route(self, static_cast<Envelope::Kind>(envelope.kind), body, envelope.from,
        LocalId{envelope.to});
}

void ThreadWorld::Post(TimeNs deadline, const Envelope& envelope) {
  Worker& worker = workers_[hot(envelope.to).worker];
  {
    MutexLock lock(&worker.inbox_mutex);
    // Stop empties the inbox with this lock held, after it set the flag.
    if (stopping_.load(std::memory_order_seq_cst)) return Drop(envelope);
    worker.inbox.push_back(Posted{deadline, envelope});
  }
  worker.has_inbox.store(true, std::memory_order_seq_cst);
  if (worker.sleeping.load(std::memory_order_seq_cst) != 0) Wake(worker);
}

void ThreadWorld::TakeInbox(Worker& self) {
  // Before the messages are taken: one posted meanwhile sets it again.
  self.has_inbox.store(false, std::memory_order_seq_cst);
  {
    MutexLock lock(&self.inbox_mutex);
    self.taken.swap(self.inbox);
  }
  for (const Posted& posted : self.taken) {
    const Envelope& envelope = posted.envelope;
    self.stats.outside.Add(1);
    if (posted.deadline >= 0) {
      AddTimer(self, posted.deadline, envelope);
    } else {
      RouteAgain(self, envelope);
    }
  }
  self.taken.clear();
}

void ThreadWorld::AddTimer(Worker& self, TimeNs deadline,
                           const Envelope& envelope) {
  self.timers.push_back(Timer{deadline, self.next_timer++, envelope});
  std::push_heap(self.timers.begin(), self.timers.end());
}

bool ThreadWorld::TimerDue(const Worker& self) {
  return !self.timers.empty() && self.timers.front().deadline <= Now();
}

bool ThreadWorld::FireTimers(Worker& self) {
  if (self.timers.empty()) return false;
  TimeNs now = Now();
  bool any = false;
  for (int i = 0; i < kBatch && !self.timers.empty() &&
                  self.timers.front().deadline <= now;
       ++i) {
    std::pop_heap(self.timers.begin(), self.timers.end());
    Envelope envelope = self.timers.back().envelope;
    self.timers.pop_back();
    self.stats.timers.Add(1);
    any = true;
    RouteAgain(self, envelope);
  }
  return any;
}

bool ThreadWorld::Deliver(Worker& self, Envelope& envelope) {
  Actor* actor = hot(envelope.to).actor;
  if (envelope.kind == Envelope::kLocal) {
    actor->OnLocal(envelope.As<LocalMessage>());
    return true;
  }
  if (envelope.kind == Envelope::kWire) {
    const WireBody& wire = envelope.As<WireBody>();
    actor->OnWire(envelope.from, wire.message, wire.payload);
    return true;
  }
  return DeliverRare(self, actor, envelope);
}

bool ThreadWorld::DeliverRare(Worker& self, Actor* actor, Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::kOwned: {
      const WireBody& wire = envelope.As<WireBody>();
      actor->OnWire(envelope.from, wire.message, wire.payload);
      Drop(envelope);
      return true;
    }
    case Envelope::kLater: {
      // From one sender these come in the order of their times.
      std::unique_ptr<const Posted> posted(envelope.As<Posted*>());
      AddTimer(self, posted->deadline, posted->envelope);
      return false;
    }
    case Envelope::kPeerDown: {
      const Peer& peer = envelope.As<Peer>();
      actor->OnPeerDown(peer.host, peer.epoch);
      return true;
    }
    default:
      break;
  }
  std::unique_ptr<const std::string> bytes(envelope.As<std::string*>());
  // Dropped with the queue otherwise, should the handler stop the world.
  envelope.kind = Envelope::kLocal;
  actor->OnControl(envelope.from, *bytes);
  self.stats.controls.Add(1);
  return true;
}

void ThreadWorld::Drop(const Envelope& envelope) {
  if (envelope.kind == Envelope::kControl) {
    delete envelope.As<std::string*>();
  } else if (envelope.kind == Envelope::kOwned) {
    ::operator delete(const_cast<void*>(envelope.As<WireBody>().payload.data),
                      kPayloadAlign);
  } else if (envelope.kind == Envelope::kLater) {
    const Posted* posted = envelope.As<Posted*>();
    Drop(posted->envelope);
    delete posted;
  }
}

bool ThreadWorld::RunLocal(Worker& self) {
  int taken = 0;
  uint64_t handled = 0;
  self.serving = self.index;
  while (taken < kBatch && !stopping_.load(std::memory_order_relaxed)) {
    Envelope* envelope = self.local.Front(pool_);
    if (envelope == nullptr) break;
    handled += Deliver(self, *envelope);
    self.local.Pop();
    ++taken;
  }
  if (taken == 0) return false;
  self.stats.messages.Add(handled);
  return true;
}

bool ThreadWorld::RunRemote(Worker& self) {
  bool any = false;
  uint64_t handled = 0;
  for (int from = 0; from < num_workers_; ++from) {
    RemoteQueue& queue = self.remote[from];
    self.serving = from;
    for (int i = 0; i < kBatch && !stopping_.load(std::memory_order_relaxed);
         ++i) {
      Envelope* envelope = queue.Front(pool_);
      if (envelope == nullptr) break;
      handled += Deliver(self, *envelope);
      queue.Pop();
      any = true;
    }
  }
  if (!any) return false;
  self.stats.messages.Add(handled);
  self.stats.remote.Add(handled);
  return true;
}

bool ThreadWorld::HasWork(const Worker& self) const {
  if (!self.local.empty() || self.has_inbox.load(std::memory_order_seq_cst) ||
      stopping_.load(std::memory_order_seq_cst)) {
    return true;
  }
  for (int from = 0; from < num_workers_; ++from) {
    if (!self.remote[from].empty()) return true;
  }
  return false;
}

void ThreadWorld::Run(Worker& self) {
  this_worker = &self;
  // Unasked, the system would have timers 50 us late.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  if (options_.on_worker_start) options_.on_worker_start(self.index);
  Work(self);
}

void ThreadWorld::Resume(Worker& self) {
  this_worker = &self;
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  // Where the lost thread was bound to, it may still be busy.
  if (self.serving == self.index) {
    self.local.Pop();
  } else {
    self.remote[self.serving].Pop();
  }
  Work(self);
}

bool ThreadWorld::GiveUp(int index, const KernelCall& call) {
  Worker& worker = workers_[index];
  // There is another thread before there is one less.
  enum : uint32_t { kUndecided, kTakeOver, kGo };
  auto decision = std::make_shared<std::atomic<uint32_t>>(kUndecided);
  std::thread next;
  try {
    next = std::thread([this, &worker, decision] {
      while (decision->load(std::memory_order_acquire) == kUndecided) {
        FutexWait(*decision, kUndecided, -1);
      }
      if (decision->load(std::memory_order_acquire) == kTakeOver) {
        Resume(worker);
      }
    });
  } catch (const std::system_error&) {
    return false;  // the next look may find a thread
  }
  const bool lost = gates_[index]->GiveUp(call.number);
  if (lost) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    gates_[index] = new KernelGate;  // the old one is for the lost thread
    if (options_.watch.casualties) {
      for (LocalId actor : options_.watch.casualties(call)) Retire(actor);
    }
    worker.thread.detach();
    worker.thread.swap(next);
  }
  decision->store(lost ? kTakeOver : kGo, std::memory_order_release);
  FutexWake(*decision, 1);
  if (next.joinable()) next.join();
  if (lost && options_.watch.on_lost) options_.watch.on_lost(call);
  return lost;
}

void ThreadWorld::Work(Worker& self) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    bool busy = RunLocal(self);
    busy |= RunRemote(self);
    if (self.has_inbox.load(std::memory_order_relaxed)) {
      TakeInbox(self);
      busy = true;
    }
    // A busy worker looks at the clock now and then, one without work in Idle.
    if ((++self.rounds & clock_mask_) == 0) busy |= FireTimers(self);
    if (!busy) Idle(self);
  }
  this_worker = nullptr;
  self.ended.store(1, std::memory_order_seq_cst);
  FutexWake(self.ended, INT_MAX);
}

void ThreadWorld::Idle(Worker& self) {
  // Real time, whatever the world's clock: spinning is a matter of the machine.
  SteadyClock real;
  TimeNs end = -1;
  for (uint32_t i = 1;; ++i) {
    if (HasWork(self)) {
      self.stats.spins.Add(1);
      return;
    }
    // Not at first: the answer to a message is often here before the clock is.
    const bool crowded = spinning_.load(std::memory_order_relaxed) != 0;
    if (i % kRoundsPerClock == 0 || options_.spin_ns == 0) {
      if (FireTimers(self)) return;
      TimeNs now = real.Now();
      if (end < 0) end = now + options_.spin_ns;
      // Who is woken may be put on a free core.
      if (now >= end || (!crowded && SharesCore(self))) return Sleep(self);
    }
    // A client that spins too may be on this core. To yield costs less than to
    // sleep and be woken.
    if (crowded && i % kRoundsPerYield == 0) sched_yield();
    Pause();
  }
}

// Whether a worker that may have work was last seen on this worker's core. Then
// spinning would keep it from the work that this one waits for.
bool ThreadWorld::SharesCore(Worker& self) {
  const int core = sched_getcpu();
  if (core != self.core.load(std::memory_order_relaxed)) {
    self.core.store(core, std::memory_order_relaxed);
  }
  if (core < 0) return false;
  for (int i = 0; i < num_workers_; ++i) {
    const Worker& other = workers_[i];
    if (&other != &self && other.core.load(std::memory_order_relaxed) == core &&
        other.sleeping.load(std::memory_order_relaxed) == 0) {
      return true;
    }
  }
  return false;
}

// No wake-up is lost: a sender publishes its message, then reads `sleeping`;
// this sets `sleeping`, then looks for messages. All four are sequentially
// consistent, so at least one of the two sees what the other did. The same
// holds for the inbox, the clock and stopping_.
void ThreadWorld::Sleep(Worker& self) {
  self.sleeping.store(1, std::memory_order_seq_cst);
  if (!HasWork(self) && !TimerDue(self)) {
    TimeNs timeout = -1;
    if (!self.timers.empty()) {
      timeout =
          options_.clock->RealDelay(self.timers.front().deadline + start_);
      // Waking takes time too: up to the timer, the worker spins.
      if (timeout > options_.spin_ns) timeout -= options_.spin_ns;
    }
    self.stats.sleeps.Add(1);
    FutexWait(self.sleeping, 1, timeout);
  }
  self.sleeping.store(0, std::memory_order_seq_cst);
}

void ThreadWorld::Wake(Worker& worker) {
  // Of several who want to, one makes the system call.
  if (worker.sleeping.exchange(0, std::memory_order_seq_cst) != 0) {
    FutexWake(worker.sleeping, 1);
  }
}

void ThreadWorld::WakeAll() {
  for (int i = 0; i < num_workers_; ++i) Wake(workers_[i]);
}

bool ThreadWorld::RunUntil(const std::function<bool()>& done) {
  assert(Self() == nullptr && "a handler must not wait for its world");
  bool reached = false;
  // To be woken costs more than many a wait takes.
  if (options_.spin_ns > 0) {
    SteadyClock real;
    const TimeNs end = real.Now() + options_.spin_ns;
    spinning_.fetch_add(1, std::memory_order_relaxed);
    while (!(reached = done()) && !stopping_.load(std::memory_order_relaxed) &&
           real.Now() < end) {
      sched_yield();
    }
    spinning_.fetch_sub(1, std::memory_order_relaxed);
    if (reached) return true;
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    // Read before the condition: a Notify after it lets the wait return.
    uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
    bool stopping = stopping_.load(std::memory_order_seq_cst);
    reached = done();
    if (reached || stopping) break;
    FutexWait(epoch_, epoch, -1);
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  return reached;
}

void ThreadWorld::Notify() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) != 0) {
    FutexWake(epoch_, INT_MAX);
  }
}

void ThreadWorld::Stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  WakeAll();
  Notify();
  if (Self() != nullptr) return;
  // Also waits for another thread that is in here.
  MutexLock lock(&stop_mutex_);
  if (listener_ != 0) options_.clock->RemoveListener(listener_);
  listener_ = 0;
  // Until the last one has ended its handler somebody looks whether it does.
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
  DropQueued();
}

// With all workers joined.
void ThreadWorld::DropQueued() {
  for (int i = 0; i < num_workers_; ++i) {
    Worker& worker = workers_[i];
    while (Envelope* envelope = worker.local.Front(pool_)) {
      Drop(*envelope);
      worker.local.Pop();
    }
    for (int from = 0; from < num_workers_; ++from) {
      RemoteQueue& queue = worker.remote[from];
      while (Envelope* envelope = queue.Front(pool_)) {
        Drop(*envelope);
        queue.Pop();
      }
    }
    for (const Timer& timer : worker.timers) Drop(timer.envelope);
    worker.timers.clear();
    MutexLock lock(&worker.inbox_mutex);
    for (const Posted& posted : worker.inbox) Drop(posted.envelope);
    worker.inbox.clear();
  }
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
