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

uint64_t HashFields(uint64_t hash, uint16_t kind, uint16_t flags,
                    uint32_t program, uint32_t incarnation, uint32_t target) {
  hash = Mix(hash, static_cast<uint64_t>(kind) << 48 |
                       static_cast<uint64_t>(flags) << 32 | program);
  return Mix(hash, static_cast<uint64_t>(incarnation) << 32 | target);
}

// All of a message but the address of its payload.
uint64_t HashWire(uint64_t hash, const WireBody& body) {
  const WireMessage& m = body.message;
  hash = HashFields(hash, m.kind, m.flags, m.program, m.incarnation, m.target);
  hash = Mix(hash, m.step);
  hash = Mix(hash, m.sequence);
  hash = Mix(hash, static_cast<uint64_t>(m.shard) << 32 | m.item);
  hash = Mix(hash, static_cast<uint64_t>(m.from_epoch) << 32 | m.to_epoch);
  hash = Mix(hash, body.payload.bytes);
  if (body.payload.data != nullptr && body.payload.bytes > 0) {
    hash = MixBytes(hash, body.payload.data, body.payload.bytes);
  }
  return hash;
}

uint64_t HashLocal(uint64_t hash, const LocalMessage& m) {
  hash = HashFields(hash, m.kind, m.flags, m.program, m.incarnation, m.target);
  hash = Mix(hash, m.step);
  hash = Mix(hash, static_cast<uint64_t>(m.shard) << 32 | m.item);
  hash = Mix(hash, m.payload_bytes);
  return Mix(hash, m.extra);
}

}  // namespace

// Bytes that crossed hosts, shared by the copies of a duplicated message.
struct alignas(128) SimWorld::PayloadCopy {
  uint32_t uses = 1;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }

  static PayloadCopy* Make(Payload payload) {
    void* memory = ::operator new(sizeof(PayloadCopy) + payload.bytes,
                                  std::align_val_t(alignof(PayloadCopy)));
    PayloadCopy* copy = new (memory) PayloadCopy;
    std::memcpy(copy->bytes(), payload.data, payload.bytes);
    return copy;
  }
  static void Drop(PayloadCopy* copy) {
    if (copy == nullptr || --copy->uses > 0) return;
    ::operator delete(copy, std::align_val_t(alignof(PayloadCopy)));
  }
};

// Its envelope is kLocal, kWire, kControl or kPeerDown.
struct SimWorld::Event {
  Envelope envelope;
  LocalId from = kNobody;
  bool is_counted = false;  // in under_way of its receiver
  bool is_timer = false;
  PayloadCopy* payload = nullptr;

  LocalId to() const { return LocalId{envelope.to}; }
  bool background() const {
    if (envelope.kind == Envelope::kLocal) {
      return (envelope.As<LocalMessage>().flags & kBackground) != 0;
    }
    return envelope.kind == Envelope::kWire &&
           (envelope.As<WireBody>().message.flags & kBackground) != 0;
  }
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

LocalId SimWorld::Register(Actor* actor, Placement placement, std::string name,
                           ActorId address) {
  assert(actor != nullptr);
  if (address != kNoActor && address > kMaxActors) return kNobody;
  ActorInfo info;
  info.actor = actor;
  info.placement = placement;
  info.name = std::move(name);
  const LocalId id{static_cast<uint32_t>(actors_.size())};
  actors_.push_back(std::move(info));
  SetLocalId(actor, id);
  if (address != kNoActor) {
    if (address >= addresses_.size()) addresses_.resize(address + 1, kNobody);
    addresses_[address] = id;
  }
  return id;
}

void SimWorld::Reserve(LocalId to, int64_t messages) {
  actors_[IndexOf(to)].reserved += messages;
}

LocalId SimWorld::Find(ActorId address) const {
  return address < addresses_.size() ? addresses_[address] : kNobody;
}

bool SimWorld::Crosses(LocalId from, LocalId to) const {
  return from != kNobody && placement(from).host != placement(to).host;
}

bool SimWorld::IsUnheard(LocalId to) {
  assert(IndexOf(to) < actors_.size() && "message to nobody");
  if (actors_[IndexOf(to)].actor != nullptr) return false;
  ++stats_.unheard;
  return true;
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

TimeNs SimWorld::Arrival(LocalId from, LocalId to, uint64_t bytes,
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
    TimeNs& last =
        from == kNobody ? outside_last_ : actors_[IndexOf(from)].last_local;
    return last = std::max(last, time);
  }
  Wire& wire = links_.Between(placement(from), placement(to));
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

void SimWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) {
  if (OnDriver()) return SendNow(from, to, message, payload);
  if (payload.data == nullptr || payload.bytes == 0) {
    return Post([=, this] { SendNow(from, to, message, payload); });
  }
  std::string bytes(static_cast<const char*>(payload.data), payload.bytes);
  Post([=, this, bytes = std::move(bytes)] {
    SendNow(from, to, message, {bytes.data(), bytes.size()});
  });
}

void SimWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  if (OnDriver()) return SendControlNow(from, to, std::move(bytes));
  Post(
      [=, this, bytes = std::move(bytes)] { SendControlNow(from, to, bytes); });
}

void SimWorld::SendLocal(LocalId from, LocalId to,
                         const LocalMessage& message) {
  if (OnDriver()) return SendLocalNow(from, to, message);
  Post([=, this] { SendLocalNow(from, to, message); });
}

void SimWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                         const LocalMessage& message) {
  if (OnDriver()) return SendAfterNow(from, to, delay, message);
  Post([=, this] { SendAfterNow(from, to, delay, message); });
}

void SimWorld::ReportPeerDown(int32_t host, uint32_t epoch) {
  if (OnDriver()) return ReportNow({host, epoch}, 0);
  Post([=, this] { ReportNow({host, epoch}, 0); });
}

void SimWorld::CountUnderWay(LocalId to) {
  ActorInfo& receiver = actors_[IndexOf(to)];
  if (++receiver.under_way > receiver.reserved) ++stats_.over_reserved;
}

void SimWorld::SendNow(ActorId from, ActorId to, const WireMessage& message,
                       Payload payload) {
  if (stopped_.load(std::memory_order_relaxed)) return;
  const LocalId sender = Find(from), receiver = Find(to);
  if (receiver == kNobody) {
    if (options_.uplink.send) {
      return options_.uplink.send(from, to, message, payload);
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (IsUnheard(receiver)) return;
  Outcome outcome;
  const bool crosses = Crosses(sender, receiver);
  if (crosses && (faulty_ || options_.fault_hook)) {
    Fault planted;
    if (options_.fault_hook) planted = options_.fault_hook(from, to, message);
    outcome = Decide(planted, options_.faults);
  }
  TimeNs time = Arrival(sender, receiver, kHeaderBytes + payload.bytes,
                        message.sequence, outcome);
  if (outcome.dropped) return;
  PayloadCopy* copy = nullptr;
  // One from outside is there during this call alone.
  if ((crosses || sender == kNobody) && payload.data != nullptr &&
      payload.bytes > 0) {
    copy = PayloadCopy::Make(payload);
    payload.data = copy->bytes();
  }
  CountUnderWay(receiver);
  const Envelope envelope =
      Envelope::Of(Envelope::kWire, WireBody{message, payload}, from, receiver);
  Event& first = Push(time, sender, envelope);
  first.is_counted = true;
  first.payload = copy;
  if (!outcome.duplicated) return;
  if (copy != nullptr) ++copy->uses;
  Push(Later(time, outcome.duplicate_ns), sender, envelope).payload = copy;
}

void SimWorld::SendControlNow(ActorId from, ActorId to, std::string bytes) {
  if (stopped_.load(std::memory_order_relaxed)) return;
  const LocalId sender = Find(from), receiver = Find(to);
  if (receiver == kNobody) {
    if (options_.uplink.send_control) {
      return options_.uplink.send_control(from, to, std::move(bytes));
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (IsUnheard(receiver)) return;
  Outcome outcome;
  if (Crosses(sender, receiver) &&
      (control_faulty_ || options_.control_fault_hook)) {
    Fault planted;
    if (options_.control_fault_hook) {
      planted = options_.control_fault_hook(from, to, bytes);
    }
    outcome = Decide(planted, options_.control_faults);
  }
  TimeNs time = Arrival(sender, receiver, kHeaderBytes + bytes.size(),
                        /*sequence=*/0, outcome);
  if (outcome.dropped) return;
  auto push = [&](TimeNs at, std::string* owned) {
    Push(at, sender, Envelope::Of(Envelope::kControl, owned, from, receiver));
  };
  if (outcome.duplicated) {
    push(Later(time, outcome.duplicate_ns), new std::string(bytes));
  }
  push(time, new std::string(std::move(bytes)));
}

void SimWorld::SendLocalNow(LocalId from, LocalId to,
                            const LocalMessage& message) {
  if (stopped_.load(std::memory_order_relaxed) || IsUnheard(to)) return;
  assert(!Crosses(from, to) && "a local message must not cross hosts");
  const TimeNs time = Arrival(from, to, kHeaderBytes + message.payload_bytes,
                              /*sequence=*/0, Outcome());
  CountUnderWay(to);
  Push(time, from, Envelope::Of(Envelope::kLocal, message, kNoActor, to))
      .is_counted = true;
}

void SimWorld::SendAfterNow(LocalId from, LocalId to, TimeNs delay,
                            const LocalMessage& message) {
  if (stopped_.load(std::memory_order_relaxed) || IsUnheard(to)) return;
  assert(!Crosses(from, to) && "a timer must not cross hosts");
  Push(Later(Now(), delay), from,
       Envelope::Of(Envelope::kLocal, message, kNoActor, to))
      .is_timer = true;
}

void SimWorld::WatchPeers(LocalId actor) {
  for (const Peer& peer : peers_.Add(actor)) TellPeerDown(actor, peer, 0);
}

void SimWorld::ReportNow(Peer peer, TimeNs delay) {
  for (LocalId watcher : peers_.Report(peer)) {
    TellPeerDown(watcher, peer, delay);
  }
}

void SimWorld::TellPeerDown(LocalId watcher, Peer peer, TimeNs delay) {
  if (stopped_.load(std::memory_order_relaxed)) return;
  const ActorInfo& info = actors_[IndexOf(watcher)];
  if (info.actor == nullptr || info.placement.host == peer.host) return;
  Push(Later(Now(), delay), kNobody,
       Envelope::Of(Envelope::kPeerDown, peer, kNoActor, watcher));
}

void SimWorld::StopHost(int32_t host, TimeNs tell_after) {
  if (OnDriver()) return StopHostNow(host, tell_after);
  MutexLock lock(&drive_);
  StopHostNow(host, tell_after);
}

void SimWorld::StopHostNow(int32_t host, TimeNs tell_after) {
  for (ActorInfo& info : actors_) {
    if (info.actor == nullptr || info.placement.host != host) continue;
    info.actor = nullptr;
    if (tell_after >= 0) ReportNow({host, info.placement.epoch}, tell_after);
  }
}

void SimWorld::Post(std::function<void()> call) {
  MutexLock lock(&posted_mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return;
  posted_.push_back(std::move(call));
  has_posted_.store(true, std::memory_order_release);
}

void SimWorld::TakePosted() {
  if (!has_posted_.load(std::memory_order_acquire)) return;
  std::vector<std::function<void()>> taken;
  {
    MutexLock lock(&posted_mutex_);
    taken.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);
  }
  for (const std::function<void()>& call : taken) call();
}

SimWorld::Event& SimWorld::At(uint32_t slot) {
  return blocks_[slot / kBlockEvents][slot % kBlockEvents];
}

uint32_t SimWorld::NewSlot() {
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
  PayloadCopy::Drop(event.payload);
  if (event.envelope.kind == Envelope::kControl) {
    delete event.envelope.As<std::string*>();
  }
  free_.push_back(slot);
}

SimWorld::Event& SimWorld::Push(TimeNs time, LocalId from,
                                const Envelope& envelope) {
  const uint32_t slot = NewSlot();
  Event& event = At(slot);
  event.envelope = envelope;
  event.from = from;
  event.is_counted = event.is_timer = false;
  event.payload = nullptr;
  if (!event.background()) ++foreground_;
  // Equal for all messages of a pair at one time, so that their order holds;
  // between pairs the seed decides.
  uint64_t pair = static_cast<uint64_t>(IndexOf(from)) << 32 | envelope.to;
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
  return event;
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

// Into the hash, and to whoever looks on.
void SimWorld::Observe(const Event& event) {
  SimEvent seen;
  seen.number = events_++;
  seen.time = Now();
  seen.from = event.from;
  seen.to = event.to();
  uint64_t hash = Mix(hash_, static_cast<uint64_t>(seen.time));
  hash = Mix(hash, static_cast<uint64_t>(IndexOf(event.from)) << 32 |
                       event.envelope.to);
  switch (event.envelope.kind) {
    case Envelope::kLocal:
      seen.local = &event.envelope.As<LocalMessage>();
      hash = HashLocal(hash, *seen.local);
      break;
    case Envelope::kWire:
      seen.wire = &event.envelope.As<WireBody>().message;
      seen.payload = event.envelope.As<WireBody>().payload;
      hash = HashWire(hash, event.envelope.As<WireBody>());
      break;
    case Envelope::kControl:
      seen.control = event.envelope.As<std::string*>();
      hash = MixBytes(hash, seen.control->data(), seen.control->size());
      break;
    default: {
      const Peer& peer = event.envelope.As<Peer>();
      hash = Mix(hash, static_cast<uint64_t>(peer.host) << 32 | peer.epoch);
    }
  }
  hash_ = hash;
  if (options_.observer) options_.observer(seen);
}

void SimWorld::Handle(Actor* actor, const Event& event) {
  const Envelope& envelope = event.envelope;
  switch (envelope.kind) {
    case Envelope::kLocal:
      ++(event.is_timer ? stats_.timers : stats_.messages);
      return actor->OnLocal(envelope.As<LocalMessage>());
    case Envelope::kWire: {
      ++stats_.messages;
      const WireBody& wire = envelope.As<WireBody>();
      return actor->OnWire(envelope.from, wire.message, wire.payload);
    }
    case Envelope::kControl:
      ++stats_.controls;
      return actor->OnControl(envelope.from, *envelope.As<std::string*>());
    default: {
      const Peer& peer = envelope.As<Peer>();
      return actor->OnPeerDown(peer.host, peer.epoch);
    }
  }
}

// Runs the first event. Its slot is given back after the handler, which may
// send, register and stop.
void SimWorld::Deliver() {
  Key key = Pop();
  Event& event = At(key.slot);
  if (!event.background()) --foreground_;
  now_.store(key.time, std::memory_order_relaxed);
  if (event.envelope.kind == Envelope::kControl) {
    for (const HostStop& stop : options_.host_stops) {
      if (stop.control != stats_.controls) continue;
      StopHostNow(stop.host, stop.tell_after);
    }
  }
  ActorInfo& info = actors_[event.envelope.to];
  if (event.is_counted) --info.under_way;
  if (!IsUnheard(event.to())) {
    Actor* actor = info.actor;
    Observe(event);
    Handle(actor, event);
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
