//===- sim_world.cc - A deterministic simulation ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_world.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

constexpr size_t kBlockEvents = 1024;  // events allocated at once
constexpr size_t kHeapWays = 4;  // children of a node: 4 keys are 96 bytes

absl::Status CheckRates(absl::string_view of, const FaultRates& rates) {
  const std::pair<absl::string_view, double> all[] = {
      {"drop", rates.drop},
      {"duplicate", rates.duplicate},
      {"delay", rates.delay},
      {"reorder", rates.reorder}};
  for (const auto& [name, rate] : all) {
    if (!(rate >= 0 && rate <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the probability to ", name, " ", of, " is ", rate,
                       ", expected 0 to 1"));
    }
  }
  if (rates.max_extra_ns < 0 || rates.max_extra_ns > kFarAway) {
    return absl::InvalidArgumentError(
        absl::StrCat("the longest delay of ", of, " is ", rates.max_extra_ns,
                     " ns, expected 0 to ", kFarAway));
  }
  return absl::OkStatus();
}

LinkModels Links(const SimOptions& options) {
  return {options.ici, options.ici_of, options.dcn, options.control};
}

bool AnyFault(const FaultRates& rates) {
  return rates.drop > 0 || rates.duplicate > 0 || rates.delay > 0 ||
         rates.reorder > 0;
}

// All of a message but the address of its payload.
uint64_t HashMessage(uint64_t hash, const Message& m) {
  hash = Mix(hash, static_cast<uint64_t>(m.kind) << 48 |
                       static_cast<uint64_t>(m.flags) << 32 | m.program);
  hash = Mix(hash, static_cast<uint64_t>(m.incarnation) << 32 | m.target);
  hash = Mix(hash, m.step);
  hash = Mix(hash, m.sequence);
  hash = Mix(hash, static_cast<uint64_t>(m.shard) << 32 | m.item);
  hash = Mix(hash, m.payload_bytes);
  hash = Mix(hash, m.extra);
  if (m.payload != nullptr && m.payload_bytes > 0) {
    hash = MixBytes(hash, m.payload, m.payload_bytes);
  }
  return hash;
}

}  // namespace

// Bytes that crossed hosts, shared by the copies of a duplicated message.
struct alignas(128) SimWorld::Payload {
  uint32_t uses = 1;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }

  static Payload* Copy(const void* data, uint64_t bytes) {
    void* memory = ::operator new(sizeof(Payload) + bytes,
                                  std::align_val_t(alignof(Payload)));
    Payload* payload = new (memory) Payload;
    std::memcpy(payload->bytes(), data, bytes);
    return payload;
  }
  static void Drop(Payload* payload) {
    if (payload == nullptr || --payload->uses > 0) return;
    ::operator delete(payload, std::align_val_t(alignof(Payload)));
  }
};

// kMessage alone is counted in under_way of its receiver.
enum class SimWorld::EventKind : uint8_t {
  kMessage,
  kDuplicate,
  kTimer,
  kControl
};

struct SimWorld::Event {
  Message message;
  ActorId from = kNoActor;
  ActorId to = kNoActor;
  Payload* payload = nullptr;
  std::string* control = nullptr;  // owned; the message is not used then
  EventKind kind = EventKind::kMessage;

  bool background() const {
    return kind != EventKind::kControl && (message.flags & kBackground) != 0;
  }
};

// A call made by a thread that does not drive.
struct SimWorld::Posted {
  ActorId to = kNoActor;
  TimeNs delay = -1;  // -1: not a timer
  Message message;
  bool is_control = false;
  std::string control;
};

struct SimWorld::Outcome {
  bool dropped = false;
  bool duplicated = false;
  bool overtaken = false;  // later messages do not wait for this one
  TimeNs extra_ns = 0;     // later than the link alone would be
  TimeNs duplicate_ns = 0;
};

absl::StatusOr<std::unique_ptr<SimWorld>> SimWorld::Create(SimOptions options) {
  if (options.workers < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a simulation of ", options.workers, " workers, expected at least 1"));
  }
  if (absl::Status s = CheckLinkModel("local", options.local); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckLinkModels(Links(options)); !s.ok()) return s;
  if (absl::Status s = CheckRates("messages", options.faults); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckRates("control messages", options.control_faults);
      !s.ok()) {
    return s;
  }
  for (const HostStop& stop : options.host_stops) {
    if (stop.host >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("host ", stop.host, " stops, expected a host from 0 on"));
  }
  return std::unique_ptr<SimWorld>(new SimWorld(std::move(options)));
}

SimWorld::SimWorld(SimOptions options)
    : options_(std::move(options)),
      faulty_(AnyFault(options_.faults)),
      control_faulty_(AnyFault(options_.control_faults)),
      links_(Links(options_)),
      jitter_random_(Mix(options_.seed, 1)),
      fault_random_(Mix(options_.seed, 2)),
      actor_random_(Mix(options_.seed, 3)) {}

SimWorld::~SimWorld() { Stop(); }

bool SimWorld::OnDriver() const {
  return driver_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void SimWorld::StartDriving() {
  assert(!OnDriver() && "a handler must not drive the world");
  drive_.lock();
  driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  TakePosted();
}

void SimWorld::StopDriving() {
  driver_.store(std::thread::id(), std::memory_order_relaxed);
  drive_.unlock();
}

ActorId SimWorld::Register(Actor* actor, Placement placement,
                           std::string name) {
  assert(actor != nullptr);
  ActorInfo info;
  info.actor = actor;
  info.placement = placement;
  info.name = std::move(name);
  actors_.push_back(std::move(info));
  return static_cast<ActorId>(actors_.size() - 1);
}

void SimWorld::Reserve(ActorId to, int64_t messages) {
  actors_[to].reserved += messages;
}

bool SimWorld::HasStopped(int32_t host) const {
  return std::find(stopped_hosts_.begin(), stopped_hosts_.end(), host) !=
         stopped_hosts_.end();
}

bool SimWorld::Crosses(ActorId from, ActorId to) const {
  return from != kNoActor &&
         actors_[from].placement.host != actors_[to].placement.host;
}

SimWorld::Outcome SimWorld::Decide(const Fault& planted,
                                   const FaultRates& rates) {
  Outcome outcome;
  switch (planted.kind) {
    case Fault::kDrop:
      outcome.dropped = true;
      break;
    case Fault::kDuplicate:
      outcome.duplicated = true;
      outcome.duplicate_ns = planted.delay_ns;
      break;
    case Fault::kDelay:
      outcome.overtaken = true;
      outcome.extra_ns = planted.delay_ns;
      ++stats_.delayed;
      break;
    case Fault::kDeliver: {
      if (!AnyFault(rates)) break;
      uint64_t longest = static_cast<uint64_t>(rates.max_extra_ns);
      if (fault_random_.Chance(rates.drop)) {
        outcome.dropped = true;
        break;
      }
      if (fault_random_.Chance(rates.duplicate)) {
        outcome.duplicated = true;
        outcome.duplicate_ns = fault_random_.UpTo(longest);
      }
      if (fault_random_.Chance(rates.reorder)) {
        outcome.overtaken = true;
        outcome.extra_ns = fault_random_.UpTo(longest);
        ++stats_.reordered;
      } else if (fault_random_.Chance(rates.delay)) {
        outcome.extra_ns = fault_random_.UpTo(longest);
        ++stats_.delayed;
      }
      break;
    }
  }
  if (outcome.dropped) ++stats_.dropped;
  if (outcome.duplicated) ++stats_.duplicated;
  return outcome;
}

TimeNs SimWorld::Arrival(ActorId from, ActorId to, uint64_t bytes,
                         uint64_t sequence, const Outcome& outcome) {
  auto jitter = [this](const LinkModel& link) -> TimeNs {
    if (link.jitter_ns == 0) return 0;
    return static_cast<TimeNs>(jitter_random_.UpTo(link.jitter_ns));
  };
  TimeNs now = Now();
  if (!Crosses(from, to)) {
    const LinkModel& link = options_.local;
    TimeNs time =
        Later(Later(now, link.WireTime(bytes)), link.latency_ns + jitter(link));
    // One clamp per sender keeps order for each of its receivers; receivers
    // that it makes equal are told apart by the tie.
    TimeNs& last = from == kNoActor ? outside_last_ : actors_[from].last_local;
    return last = std::max(last, time);
  }
  Wire& wire = links_.Between(actors_[from].placement, actors_[to].placement);
  ++stats_.crossed;
  stats_.crossed_bytes += bytes;
  const TimeNs begin = std::max(now, wire.busy_until());
  TimeNs time =
      Later(wire.Carry(now, bytes, jitter(*wire.model)), outcome.extra_ns);
  if (!outcome.overtaken && !outcome.dropped) wire.last_arrival = time;
  if (options_.on_crossing && !outcome.dropped) {
    options_.on_crossing(
        {from, to, now, begin, wire.busy_until(), time, bytes, sequence});
  }
  return time;
}

void SimWorld::Send(ActorId from, ActorId to, const Message& message) {
  if (from == kNoActor && !OnDriver()) {
    Posted posted;
    posted.to = to;
    posted.message = message;
    return Post(std::move(posted));
  }
  SendNow(from, to, message);
}

void SimWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  if (from == kNoActor && !OnDriver()) {
    Posted posted;
    posted.to = to;
    posted.is_control = true;
    posted.control = std::move(bytes);
    return Post(std::move(posted));
  }
  SendControlNow(from, to, std::move(bytes));
}

void SimWorld::SendAfter(ActorId from, ActorId to, TimeNs delay,
                         const Message& message) {
  if (from == kNoActor && !OnDriver()) {
    Posted posted;
    posted.to = to;
    posted.delay = std::max<TimeNs>(delay, 0);
    posted.message = message;
    return Post(std::move(posted));
  }
  SendAfterNow(from, to, delay, message);
}

void SimWorld::SendNow(ActorId from, ActorId to, const Message& message) {
  assert(to < actors_.size() && "message to an actor that is not registered");
  if (stopped_.load(std::memory_order_relaxed)) return;
  ActorInfo& receiver = actors_[to];
  Outcome outcome;
  bool crosses = Crosses(from, to);
  if (crosses && (faulty_ || options_.fault_hook)) {
    Fault planted;
    if (options_.fault_hook) planted = options_.fault_hook(from, to, message);
    outcome = Decide(planted, options_.faults);
  }
  TimeNs time = Arrival(from, to, kHeaderBytes + message.payload_bytes,
                        message.sequence, outcome);
  if (outcome.dropped) return;
  Payload* payload = nullptr;
  if (crosses && message.payload != nullptr && message.payload_bytes > 0) {
    payload = Payload::Copy(message.payload, message.payload_bytes);
  }
  if (++receiver.under_way > receiver.reserved) ++stats_.over_reserved;
  PushMessage(time, from, to, message, payload, EventKind::kMessage);
  if (outcome.duplicated) {
    if (payload != nullptr) ++payload->uses;
    PushMessage(Later(time, outcome.duplicate_ns), from, to, message, payload,
                EventKind::kDuplicate);
  }
}

void SimWorld::SendControlNow(ActorId from, ActorId to, std::string bytes) {
  assert(to < actors_.size() && "message to an actor that is not registered");
  if (stopped_.load(std::memory_order_relaxed)) return;
  Outcome outcome;
  if (Crosses(from, to) && (control_faulty_ || options_.control_fault_hook)) {
    Fault planted;
    if (options_.control_fault_hook) {
      planted = options_.control_fault_hook(from, to, bytes);
    }
    outcome = Decide(planted, options_.control_faults);
  }
  TimeNs time =
      Arrival(from, to, kHeaderBytes + bytes.size(), /*sequence=*/0, outcome);
  if (outcome.dropped) return;
  if (outcome.duplicated) {
    PushControl(Later(time, outcome.duplicate_ns), from, to,
                new std::string(bytes));
  }
  PushControl(time, from, to, new std::string(std::move(bytes)));
}

void SimWorld::SendAfterNow(ActorId from, ActorId to, TimeNs delay,
                            const Message& message) {
  assert(to < actors_.size() && "timer for an actor that is not registered");
  assert(!Crosses(from, to) && "a timer must not cross hosts");
  if (stopped_.load(std::memory_order_relaxed)) return;
  PushMessage(Later(Now(), delay), from, to, message, nullptr,
              EventKind::kTimer);
}

void SimWorld::Post(Posted posted) {
  MutexLock lock(&posted_mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return;
  posted_.push_back(std::move(posted));
  has_posted_.store(true, std::memory_order_release);
}

void SimWorld::TakePosted() {
  if (!has_posted_.load(std::memory_order_acquire)) return;
  std::vector<Posted> taken;
  {
    MutexLock lock(&posted_mutex_);
    taken.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);
  }
  for (Posted& posted : taken) {
    if (posted.is_control) {
      SendControlNow(kNoActor, posted.to, std::move(posted.control));
    } else if (posted.delay >= 0) {
      SendAfterNow(kNoActor, posted.to, posted.delay, posted.message);
    } else {
      SendNow(kNoActor, posted.to, posted.message);
    }
  }
}

SimWorld::Event& SimWorld::At(uint32_t slot) {
  return blocks_[slot / kBlockEvents][slot % kBlockEvents];
}

uint32_t SimWorld::NewEvent() {
  if (free_.empty()) {
    uint32_t first = static_cast<uint32_t>(blocks_.size() * kBlockEvents);
    blocks_.push_back(std::make_unique<Event[]>(kBlockEvents));
    free_.reserve(blocks_.size() * kBlockEvents);
    for (uint32_t i = kBlockEvents; i-- > 0;) free_.push_back(first + i);
  }
  uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void SimWorld::FreeEvent(uint32_t slot) {
  Event& event = At(slot);
  if (event.payload != nullptr) {
    Payload::Drop(event.payload);
    event.payload = nullptr;
  }
  if (event.control != nullptr) {
    delete event.control;
    event.control = nullptr;
  }
  free_.push_back(slot);
}

void SimWorld::PushMessage(TimeNs time, ActorId from, ActorId to,
                           const Message& message, Payload* payload,
                           EventKind kind) {
  uint32_t slot = NewEvent();
  Event& event = At(slot);
  event.message = message;
  event.from = from;
  event.to = to;
  event.kind = kind;
  event.payload = payload;
  if (payload != nullptr) event.message.payload = payload->bytes();
  Push(time, slot);
}

void SimWorld::PushControl(TimeNs time, ActorId from, ActorId to,
                           std::string* bytes) {
  uint32_t slot = NewEvent();
  Event& event = At(slot);
  event.from = from;
  event.to = to;
  event.kind = EventKind::kControl;
  event.control = bytes;
  Push(time, slot);
}

void SimWorld::Push(TimeNs time, uint32_t slot) {
  const Event& event = At(slot);
  if (!event.background()) ++foreground_;
  // Equal for all messages of a pair at one time, so that their order holds;
  // between pairs the seed decides.
  uint64_t pair = static_cast<uint64_t>(event.from) << 32 | event.to;
  uint64_t tie = Mix(Mix(options_.seed, pair), static_cast<uint64_t>(time));
  Key key{time, static_cast<uint32_t>(tie >> 32), slot, sent_++};
  size_t at = heap_.size();
  heap_.push_back(key);
  while (at > 0) {
    size_t parent = (at - 1) / kHeapWays;
    if (!(key < heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = key;
}

SimWorld::Key SimWorld::Pop() {
  Key top = heap_.front();
  Key last = heap_.back();
  heap_.pop_back();
  size_t size = heap_.size();
  if (size == 0) return top;
  size_t at = 0;
  while (true) {
    size_t child = at * kHeapWays + 1;
    if (child >= size) break;
    size_t least = child;
    size_t end = std::min(child + kHeapWays, size);
    for (++child; child < end; ++child) {
      if (heap_[child] < heap_[least]) least = child;
    }
    if (!(heap_[least] < last)) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = last;
  return top;
}

// Runs the first event. Its slot is given back after the handler, which may
// send, register and stop.
void SimWorld::Deliver() {
  Key key = Pop();
  Event& event = At(key.slot);
  if (!event.background()) --foreground_;
  now_.store(key.time, std::memory_order_relaxed);
  ActorInfo& info = actors_[event.to];
  bool is_control = event.kind == EventKind::kControl;
  for (const HostStop& stop : options_.host_stops) {
    if (is_control && stop.control == stats_.controls &&
        !HasStopped(stop.host)) {
      stopped_hosts_.push_back(stop.host);
    }
  }
  if (HasStopped(info.placement.host)) {
    ++stats_.unheard;
    if (event.kind == EventKind::kMessage) --info.under_way;
    return FreeEvent(key.slot);
  }
  Actor* actor = info.actor;
  uint64_t hash = Mix(hash_, static_cast<uint64_t>(key.time));
  hash = Mix(hash, static_cast<uint64_t>(event.from) << 32 | event.to);
  hash_ = is_control
              ? MixBytes(hash, event.control->data(), event.control->size())
              : HashMessage(hash, event.message);
  if (options_.observer) {
    SimEvent seen;
    seen.number = events_;
    seen.time = key.time;
    seen.from = event.from;
    seen.to = event.to;
    if (is_control) {
      seen.control = *event.control;
    } else {
      seen.message = &event.message;
    }
    options_.observer(seen);
  }
  ++events_;
  if (is_control) {
    ++stats_.controls;
    actor->OnControl(event.from, *event.control);
  } else {
    if (event.kind == EventKind::kTimer) {
      ++stats_.timers;
    } else {
      ++stats_.messages;
      if (event.kind == EventKind::kMessage) --info.under_way;
    }
    actor->OnMessage(event.from, event.message);
  }
  FreeEvent(key.slot);
}

bool SimWorld::RunUntil(const std::function<bool()>& done) {
  StartDriving();
  bool reached = done();
  while (!reached && !stopped_.load(std::memory_order_relaxed)) {
    TakePosted();
    if (foreground_ == 0) break;
    Deliver();
    reached = done();
  }
  StopDriving();
  return reached;
}

void SimWorld::RunFor(TimeNs duration) {
  StartDriving();
  TimeNs end = Later(Now(), duration);
  while (!stopped_.load(std::memory_order_relaxed)) {
    TakePosted();
    if (heap_.empty() || heap_.front().time > end) break;
    Deliver();
  }
  if (!stopped_.load(std::memory_order_relaxed)) {
    now_.store(end, std::memory_order_relaxed);
  }
  StopDriving();
}

bool SimWorld::RunOne() {
  StartDriving();
  bool any = !heap_.empty() && !stopped_.load(std::memory_order_relaxed);
  if (any) Deliver();
  StopDriving();
  return any;
}

void SimWorld::Clear() {
  for (const Key& key : heap_) FreeEvent(key.slot);
  heap_.clear();
  foreground_ = 0;
  MutexLock lock(&posted_mutex_);
  posted_.clear();
  has_posted_.store(false, std::memory_order_relaxed);
}

void SimWorld::Stop() {
  stopped_.store(true, std::memory_order_relaxed);
  if (OnDriver()) return Clear();
  MutexLock lock(&drive_);
  Clear();
}

}  // namespace pathways
