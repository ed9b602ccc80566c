//===- thread_world.cc - Actors on threads ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/thread_world.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
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
constexpr TimeNs kSecond = 1'000'000'000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sleeps while `word` is `value`, for `timeout` ns at most; negative: no limit.
// May return early for no reason.
void FutexWait(std::atomic<uint32_t>& word, uint32_t value, TimeNs timeout) {
  static_assert(sizeof(word) == sizeof(uint32_t));
  timespec limit;
  limit.tv_sec = timeout / kSecond;
  limit.tv_nsec = timeout % kSecond;
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE,
          value, timeout < 0 ? nullptr : &limit, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
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

// A copy of a message that a fault keeps longer than its sender's promise.
Envelope Keep(const Envelope& envelope) {
  const Message& message = envelope.message;
  Envelope kept = envelope;
  if (envelope.kind == Envelope::kControl) {
    kept.message.payload =
        new std::string(*static_cast<const std::string*>(message.payload));
  } else if (message.payload != nullptr && message.payload_bytes > 0) {
    void* copy = ::operator new(message.payload_bytes, kPayloadAlign);
    std::memcpy(copy, message.payload, message.payload_bytes);
    kept.message.payload = copy;
    kept.kind = Envelope::kOwnedPayload;
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
  std::thread thread;
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
      chunks_(std::make_unique<std::atomic<ActorChunk*>[]>(kMaxChunks)) {
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
  }
}

absl::Status ThreadWorld::StartThreads() {
  for (int i = 0; i < num_workers_; ++i) {
    try {
      workers_[i].thread = std::thread([this, i] { Run(workers_[i]); });
    } catch (const std::system_error& error) {
      Stop();
      return absl::ResourceExhaustedError(absl::StrCat(
          "cannot start worker ", i, " of ", num_workers_, ": ", error.what()));
    }
  }
  MutexLock lock(&stop_mutex_);
  listener_ = options_.clock->AddListener([this] { WakeAll(); });
  return absl::OkStatus();
}

ThreadWorld::~ThreadWorld() {
  assert(Self() == nullptr && "a handler must not destroy its world");
  Stop();
  for (uint32_t i = 0; i < kMaxChunks; ++i) {
    ActorChunk* chunk = chunks_[i].load(std::memory_order_relaxed);
    if (chunk == nullptr) break;
    delete chunk;
  }
}

ActorId ThreadWorld::Register(Actor* actor, Placement placement,
                              std::string name) {
  assert(actor != nullptr);
  MutexLock lock(&register_mutex_);
  uint32_t index = num_actors_ / ActorChunk::kActors;
  uint32_t at = num_actors_ % ActorChunk::kActors;
  if (index == kMaxChunks) return kNoActor;
  ActorChunk* chunk = chunks_[index].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new ActorChunk;
    chunks_[index].store(chunk, std::memory_order_release);
  }
  int32_t worker = placement.worker % num_workers_;
  if (worker < 0) worker += num_workers_;
  chunk->hot[at] = {actor, worker, placement.host};
  chunk->islands[at] = placement.island;
  chunk->names[at] = std::move(name);
  // Others read the entry only once they were told the number, in a message.
  return num_actors_++;
}

const std::string& ThreadWorld::name(ActorId actor) const {
  return chunks_[actor / ActorChunk::kActors]
      .load(std::memory_order_acquire)
      ->names[actor % ActorChunk::kActors];
}

void ThreadWorld::Reserve(ActorId to, int64_t messages) {
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

TimeNs ThreadWorld::Now() { return options_.clock->Now() - start_; }

uint64_t ThreadWorld::Random() {
  if (Worker* self = Self()) return self->random.Next();
  return Mix(options_.seed,
             ~outside_random_.fetch_add(1, std::memory_order_relaxed));
}

bool ThreadWorld::Crosses(ActorId from, ActorId to) const {
  return from != kNoActor && hot(from).host != hot(to).host;
}

void ThreadWorld::Route(Worker& self, ActorId from, ActorId to,
                        const Message& message, Envelope::Kind kind) {
  int32_t target = hot(to).worker;
  if (target == self.index) {
    self.local.Push(pool_, message, from, to, kind);
    return;
  }
  Worker& other = workers_[target];
  other.remote[self.index].Push(pool_, message, from, to, kind);
  if (other.sleeping.load(std::memory_order_seq_cst) != 0) {
    self.stats.wakes.Add(1);
    Wake(other);
  }
}

void ThreadWorld::Send(ActorId from, ActorId to, const Message& message) {
  assert(to <= kMaxActors && "message to an actor that is not registered");
  Worker* self = Self();
  if (self == nullptr) [[unlikely]] {
    assert(from == kNoActor && "only a handler sends for its actor");
    return Post(to, -1, message, Envelope::kMessage);
  }
  if (watched_ && Crosses(from, to)) [[unlikely]] {
    Fault fault;
    if (options_.fault_hook) fault = options_.fault_hook(from, to, message);
    return SendAcross(*self, Envelope{message, from, to, Envelope::kMessage},
                      message.payload_bytes, fault);
  }
  Route(*self, from, to, message, Envelope::kMessage);
}

void ThreadWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  assert(to <= kMaxActors && "message to an actor that is not registered");
  Worker* self = Self();
  Message message;
  if (self != nullptr && watched_ && Crosses(from, to)) {
    Fault fault;
    if (options_.control_fault_hook) {
      fault = options_.control_fault_hook(from, to, bytes);
    }
    const uint64_t size = bytes.size();
    message.payload = new std::string(std::move(bytes));
    return SendAcross(*self, Envelope{message, from, to, Envelope::kControl},
                      size, fault);
  }
  message.payload = new std::string(std::move(bytes));
  if (self == nullptr) {
    assert(from == kNoActor && "only a handler sends for its actor");
    return Post(to, -1, message, Envelope::kControl);
  }
  Route(*self, from, to, message, Envelope::kControl);
}

void ThreadWorld::SendAfter(ActorId from, ActorId to, TimeNs delay,
                            const Message& message) {
  assert(to <= kMaxActors && "timer for an actor that is not registered");
  TimeNs deadline = Now() + std::clamp<TimeNs>(delay, 0, kFarAway);
  Worker* self = Self();
  if (self == nullptr) return Post(to, deadline, message, Envelope::kMessage);
  assert(!Crosses(from, to) && "a timer must not cross hosts");
  AddTimer(*self, deadline, Envelope{message, from, to, Envelope::kMessage});
}

Placement ThreadWorld::PlaceOf(ActorId actor) const {
  const ActorChunk* chunk =
      chunks_[actor / ActorChunk::kActors].load(std::memory_order_acquire);
  const uint32_t at = actor % ActorChunk::kActors;
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
  const Placement from = PlaceOf(envelope.from), to = PlaceOf(envelope.to);
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
  if (time < 0) {
    return Route(self, envelope.from, envelope.to, envelope.message,
                 static_cast<Envelope::Kind>(envelope.kind));
  }
  Message carrier;
  carrier.payload = new Posted{time, envelope};
  Route(self, envelope.from, envelope.to, carrier, Envelope::kLater);
}

void ThreadWorld::Post(ActorId to, TimeNs deadline, const Message& message,
                       Envelope::Kind kind) {
  Posted posted{deadline, Envelope{message, kNoActor, to, kind}};
  Worker& worker = workers_[hot(to).worker];
  {
    MutexLock lock(&worker.inbox_mutex);
    // Stop empties the inbox with this lock held, after it set the flag.
    if (stopping_.load(std::memory_order_seq_cst)) {
      return Drop(posted.envelope);
    }
    worker.inbox.push_back(posted);
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
      self.local.Push(pool_, envelope.message, envelope.from, envelope.to,
                      static_cast<Envelope::Kind>(envelope.kind));
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
    Route(self, envelope.from, envelope.to, envelope.message,
          static_cast<Envelope::Kind>(envelope.kind));
  }
  return any;
}

bool ThreadWorld::Deliver(Worker& self, Envelope& envelope) {
  Actor* actor = hot(envelope.to).actor;
  if (envelope.kind != Envelope::kMessage) [[unlikely]] {
    return DeliverRare(self, actor, envelope);
  }
  actor->OnMessage(envelope.from, envelope.message);
  return true;
}

bool ThreadWorld::DeliverRare(Worker& self, Actor* actor, Envelope& envelope) {
  if (envelope.kind == Envelope::kOwnedPayload) {
    actor->OnMessage(envelope.from, envelope.message);
    Drop(envelope);
    return true;
  }
  if (envelope.kind == Envelope::kLater) {
    // From one sender these come in the order of their times.
    std::unique_ptr<const Posted> posted(
        static_cast<const Posted*>(envelope.message.payload));
    AddTimer(self, posted->deadline, posted->envelope);
    return false;
  }
  std::unique_ptr<const std::string> bytes(
      static_cast<const std::string*>(envelope.message.payload));
  // Dropped with the queue otherwise, should the handler stop the world.
  envelope.kind = Envelope::kMessage;
  actor->OnControl(envelope.from, *bytes);
  self.stats.controls.Add(1);
  return true;
}

void ThreadWorld::Drop(const Envelope& envelope) {
  if (envelope.kind == Envelope::kControl) {
    delete static_cast<const std::string*>(envelope.message.payload);
  } else if (envelope.kind == Envelope::kOwnedPayload) {
    ::operator delete(const_cast<void*>(envelope.message.payload),
                      kPayloadAlign);
  } else if (envelope.kind == Envelope::kLater) {
    const Posted* posted = static_cast<const Posted*>(envelope.message.payload);
    Drop(posted->envelope);
    delete posted;
  }
}

bool ThreadWorld::RunLocal(Worker& self) {
  int taken = 0;
  uint64_t handled = 0;
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
