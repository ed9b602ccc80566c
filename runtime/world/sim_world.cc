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
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/prefetch.h"

namespace pathways {
namespace {

// Number of actors above which their memory does not stay in a cache.
constexpr size_t kLargeActors = 2048;

LinkModels Links(const SimOptions& options) {
  return {options.ici, options.ici_of, options.dcn, options.control};
}

FaultModel Faults(const SimOptions& options) {
  return {options.faults, options.control_faults, options.fault_hook,
          options.control_fault_hook};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SimWorld>> SimWorld::Create(SimOptions options) {
  if (options.workers < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a simulation of ", options.workers, " workers, expected at least 1"));
  }
  if (absl::Status s = CheckLinkModel("local", options.local); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckLinkModels(Links(options)); !s.ok()) return s;
  if (absl::Status s = CheckFaultModel(Faults(options)); !s.ok()) return s;
  for (const HostStop& stop : options.host_stops) {
    if (stop.host >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the host of a host stop is ", stop.host, ", expected at least 0"));
  }
  return std::unique_ptr<SimWorld>(new SimWorld(std::move(options)));
}

SimWorld::SimWorld(SimOptions options)
    : World({.peers = this, .kernels = this, .arrivals = this}),
      options_(std::move(options)),
      queue_(options_.seed),
      links_(options_.local, Links(options_), Mix(options_.seed, 1)),
      faults_(Faults(options_), Mix(options_.seed, 2)),
      actor_random_(Mix(options_.seed, 3)) {}

SimWorld::~SimWorld() { Stop(); }

LocalId SimWorld::Register(Actor* actor, Placement placement, std::string name,
                           ActorId address) {
  assert(actor != nullptr);
  if (address != kNoActor && address > kMaxActors) return kNobody;
  ActorInfo info;
  info.actor = actor;
  info.placement = placement;
  info.name = std::move(name);
  if (auto slow = slowness_.find(info.name); slow != slowness_.end()) {
    info.slowness = slow->second;
  }
  const LocalId id{static_cast<uint32_t>(actors_.size())};
  if (options_.workers_keep_order) {
    queue_.Share(
        id, first_of_worker_
                .try_emplace(
                    {placement.host, placement.worker % options_.workers}, id)
                .first->second);
  }
  actors_.push_back(std::move(info));
  SetLocalId(actor, id);
  if (address != kNoActor) {
    if (address >= addresses_.size()) addresses_.resize(address + 1, kNobody);
    addresses_[address] = id;
  }
  return id;
}

TimeNs SimWorld::CostNow(LocalId actor, TimeNs cost) {
  const double slowness = actors_[IndexOf(actor)].slowness;
  if (slowness == 1) return cost;
  return static_cast<TimeNs>(std::min(static_cast<double>(cost) * slowness,
                                      static_cast<double>(kFarAway)));
}

void SimWorld::SlowDown(const std::string& name, double factor) {
  slowness_[name] = factor;
  for (ActorInfo& info : actors_) {
    if (info.name == name) info.slowness = factor;
  }
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

SimStats SimWorld::stats() const {
  SimStats stats = stats_;
  static_cast<FaultCounts&>(stats) = faults_.counts();
  return stats;
}

TimeNs SimWorld::ArrivalTime(LocalId from, LocalId to, uint64_t bytes,
                             uint64_t sequence, const FaultOutcome& outcome) {
  const TimeNs now = Now();
  if (!Crosses(from, to)) return links_.InHost(from, now, bytes);
  ++stats_.crossed;
  stats_.crossed_bytes += bytes;
  const SimLinks::Way way =
      links_.BetweenHosts(placement(from), placement(to), now, bytes, outcome);
  if (options_.on_crossing && !outcome.dropped) {
    options_.on_crossing(
        {from, to, now, way.begin, way.end, way.arrival, bytes, sequence});
  }
  return way.arrival;
}

void SimWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) {
  if (driver_.IsThisThread()) return SendNow(from, to, message, payload);
  if (payload.data == nullptr || payload.bytes == 0) {
    return driver_.Post([=, this] { SendNow(from, to, message, payload); });
  }
  std::string bytes(static_cast<const char*>(payload.data), payload.bytes);
  driver_.Post([=, this, bytes = std::move(bytes)] {
    SendNow(from, to, message, {bytes.data(), bytes.size()});
  });
}

void SimWorld::SendAll(absl::Span<const Arrival> arrivals) {
  for (const Arrival& one : arrivals) {
    Send(one.from, one.to, one.message, one.payload);
  }
}

void SimWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  if (driver_.IsThisThread()) return SendControlNow(from, to, std::move(bytes));
  driver_.Post(
      [=, this, bytes = std::move(bytes)] { SendControlNow(from, to, bytes); });
}

void SimWorld::SendLocal(LocalId from, LocalId to,
                         const LocalMessage& message) {
  if (driver_.IsThisThread()) return SendLocalNow(from, to, message);
  driver_.Post([=, this] { SendLocalNow(from, to, message); });
}

void SimWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                         const LocalMessage& message) {
  if (driver_.IsThisThread()) return SendAfterNow(from, to, delay, message);
  driver_.Post([=, this] { SendAfterNow(from, to, delay, message); });
}

void SimWorld::ReportPeerDown(int32_t host, uint32_t epoch) {
  const PeerWatch::News news{{host, epoch}, /*is_up=*/false};
  if (driver_.IsThisThread()) return ReportNow(news, 0);
  driver_.Post([=, this] { ReportNow(news, 0); });
}

void SimWorld::ReportPeerUp(int32_t host, uint32_t epoch) {
  const PeerWatch::News news{{host, epoch}, /*is_up=*/true};
  if (driver_.IsThisThread()) return ReportNow(news, 0);
  driver_.Post([=, this] { ReportNow(news, 0); });
}

void SimWorld::CountUnderWay(LocalId to) {
  ActorInfo& receiver = actors_[IndexOf(to)];
  if (++receiver.under_way > receiver.reserved) ++stats_.over_reserved;
}

void SimWorld::SendNow(ActorId from, ActorId to, const WireMessage& message,
                       Payload payload) {
  if (driver_.stopped()) return;
  const LocalId sender = Find(from), receiver = Find(to);
  if (receiver == kNobody) {
    if (options_.remote_channel.send) {
      return options_.remote_channel.send(from, to, message, payload);
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (IsUnheard(receiver)) return;
  FaultOutcome outcome;
  const bool crosses = Crosses(sender, receiver);
  if (crosses) {
    outcome = faults_.OfMessage(from, to, message);
    faults_.AddLinkFaults(placement(sender).host, placement(receiver).host,
                          /*is_control=*/false, &outcome);
  }
  TimeNs time = ArrivalTime(sender, receiver, kHeaderBytes + payload.bytes,
                            message.sequence, outcome);
  if (outcome.dropped) return;
  CountUnderWay(receiver);
  const Envelope envelope =
      Envelope::Of(Envelope::kWire, WireBody{message, payload}, from, receiver);
  // The payload of a message from outside is valid only during this call.
  SimQueue::Event& first = crosses || sender == kNobody
                               ? queue_.PushCopy(time, sender, envelope)
                               : queue_.Push(time, sender, envelope);
  first.is_counted = true;
  if (!outcome.duplicated) return;
  queue_.PushAgain(Later(time, outcome.duplicate_ns), first);
}

void SimWorld::SendControlNow(ActorId from, ActorId to, std::string bytes) {
  if (driver_.stopped()) return;
  const LocalId sender = Find(from), receiver = Find(to);
  if (receiver == kNobody) {
    if (options_.remote_channel.send_control) {
      return options_.remote_channel.send_control(from, to, std::move(bytes));
    }
    undelivered_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (IsUnheard(receiver)) return;
  FaultOutcome outcome;
  if (Crosses(sender, receiver)) {
    outcome = faults_.OfControl(from, to, bytes);
    faults_.AddLinkFaults(placement(sender).host, placement(receiver).host,
                          /*is_control=*/true, &outcome);
  }
  TimeNs time = ArrivalTime(sender, receiver, kHeaderBytes + bytes.size(),
                            /*sequence=*/0, outcome);
  if (outcome.dropped) return;
  auto push = [&](TimeNs at, std::string* owned) {
    queue_.Push(at, sender,
                Envelope::Of(Envelope::kControl, owned, from, receiver));
  };
  if (outcome.duplicated) {
    push(Later(time, outcome.duplicate_ns), new std::string(bytes));
  }
  push(time, new std::string(std::move(bytes)));
}

void SimWorld::SendLocalNow(LocalId from, LocalId to,
                            const LocalMessage& message) {
  if (driver_.stopped() || IsUnheard(to)) return;
  assert(!Crosses(from, to) && "a local message must not cross hosts");
  const TimeNs time =
      ArrivalTime(from, to, kHeaderBytes + message.payload_bytes,
                  /*sequence=*/0, FaultOutcome());
  CountUnderWay(to);
  queue_.Push(time, from, Envelope::Of(Envelope::kLocal, message, kNoActor, to))
      .is_counted = true;
}

void SimWorld::SendAfterNow(LocalId from, LocalId to, TimeNs delay,
                            const LocalMessage& message) {
  if (driver_.stopped() || IsUnheard(to)) return;
  assert(!Crosses(from, to) && "a timer must not cross hosts");
  queue_
      .Push(Later(Now(), delay), from,
            Envelope::Of(Envelope::kLocal, message, kNoActor, to))
      .is_timer = true;
}

void SimWorld::WatchPeers(LocalId actor) {
  peers_.Add(actor, [this](LocalId watcher, const PeerWatch::News& news) {
    NotifyPeer(watcher, news, 0);
  });
}

void SimWorld::ReportNow(const PeerWatch::News& news, TimeNs delay) {
  const auto tell = [&](LocalId watcher, const PeerWatch::News& each) {
    NotifyPeer(watcher, each, delay);
  };
  if (news.is_up) {
    peers_.ReportUp(news.peer, tell);
  } else {
    peers_.ReportDown(news.peer, tell);
  }
}

void SimWorld::NotifyPeer(LocalId watcher, const PeerWatch::News& news,
                          TimeNs delay) {
  if (driver_.stopped()) return;
  const ActorInfo& info = actors_[IndexOf(watcher)];
  if (info.actor == nullptr || info.placement.host == news.peer.host) return;
  TimeNs& told_at = told_at_[news.peer.host];
  told_at = std::max(told_at, Later(Now(), delay));
  queue_.Push(told_at, kNobody,
              Envelope::Of(Envelope::kPeer, news, kNoActor, watcher));
}

void SimWorld::StopHost(int32_t host, TimeNs tell_after) {
  driver_.Run([&] { StopHostNow(host, tell_after); });
}

void SimWorld::StopHostNow(int32_t host, TimeNs tell_after) {
  for (ActorInfo& info : actors_) {
    if (info.actor == nullptr || info.placement.host != host) continue;
    info.actor = nullptr;
    if (tell_after < 0) continue;
    ReportNow({{host, info.placement.epoch}, /*is_up=*/false}, tell_after);
  }
}

void SimWorld::Suspend(int32_t host, bool suspended) {
  driver_.Run([&] { SuspendNow(host, suspended); });
}

void SimWorld::SuspendNow(int32_t host, bool suspended) {
  for (ActorInfo& info : actors_) {
    if (info.placement.host != host) continue;
    info.suspended = suspended;
    if (suspended) continue;
    for (SimQueue::Slot slot : std::exchange(info.kept, {})) {
      queue_.PutBack(Now(), slot);
    }
  }
}

// Adds an event to the hash and shows it to the observer.
void SimWorld::Observe(const SimQueue::Event& event) {
  const Envelope& envelope = event.envelope;
  SimEvent seen;
  seen.number = events_++;
  seen.time = Now();
  seen.from = event.from;
  seen.to = event.to();
  switch (envelope.kind) {
    case Envelope::kLocal:
      seen.local = &envelope.As<LocalMessage>();
      break;
    case Envelope::kWire:
      seen.wire = &envelope.As<WireBody>().message;
      seen.payload = envelope.As<WireBody>().payload;
      break;
    case Envelope::kControl:
      seen.control = envelope.As<std::string*>();
      break;
    default:
      seen.peer = &envelope.As<PeerWatch::News>();
  }
  hash_ = HashEvent(hash_, seen);
  if (options_.observer) options_.observer(seen);
}

void SimWorld::Handle(Actor* actor, const SimQueue::Event& event) {
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
      const auto& [peer, is_up] = envelope.As<PeerWatch::News>();
      return actor->OnPeer({peer.host, peer.epoch, is_up});
    }
  }
}

void SimWorld::HandleChanged(LocalId to, SimQueue::Event& event) {
  SimDelivery delivery;
  delivery.from = event.from;
  delivery.to = to;
  delivery.is_timer = event.is_timer;
  Envelope& envelope = event.envelope;
  switch (envelope.kind) {
    case Envelope::kLocal:
      delivery.local = &envelope.As<LocalMessage>();
      break;
    case Envelope::kWire:
      delivery.wire = &envelope.As<WireBody>().message;
      if (event.payload == nullptr) break;
      delivery.payload = static_cast<char*>(
          const_cast<void*>(envelope.As<WireBody>().payload.data));
      delivery.payload_bytes = envelope.As<WireBody>().payload.bytes;
      break;
    case Envelope::kControl:
      delivery.control = envelope.As<std::string*>();
      break;
    default:
      break;
  }
  for (int times = options_.mutation(delivery); times > 0; --times) {
    if (actors_[IndexOf(to)].actor == nullptr) return;
    Observe(event);
    Handle(actors_[IndexOf(to)].actor, event);
  }
}

// A large simulation spends most of its time waiting for memory: no cache holds
// all devices, and each event is for another one.
void SimWorld::LookAhead() {
  // Each step is taken when so many events are left before its own.
  constexpr size_t kEvent = SimQueue::kAhead - 1, kInfo = 14, kActor = 6;
  SimQueue::Slot slot;
  if (queue_.Peek(kEvent, &slot)) {
    PrefetchBytes(&queue_.At(slot), sizeof(SimQueue::Event));
  }
  if (queue_.Peek(kInfo, &slot)) {
    PrefetchBytes(&actors_[queue_.At(slot).envelope.to], 1);
  }
  if (queue_.Peek(kActor, &slot)) {
    PrefetchBytes(actors_[queue_.At(slot).envelope.to].actor, 1);
  }
}

// Runs the first event. Its slot is freed after the handler, which may send,
// register and stop.
void SimWorld::Deliver() {
  const SimQueue::Due due = queue_.Pop();
  if (actors_.size() > kLargeActors) LookAhead();
  const SimQueue::Event& event = queue_.At(due.slot);
  now_.store(due.time, std::memory_order_relaxed);
  if (event.envelope.kind == Envelope::kControl) {
    for (const HostStop& stop : options_.host_stops) {
      if (stop.control != stats_.controls) continue;
      StopHostNow(stop.host, stop.tell_after);
    }
    if (options_.before_control) options_.before_control(stats_.controls);
  }
  ActorInfo& info = actors_[event.envelope.to];
  if (info.suspended) return info.kept.push_back(due.slot);
  if (event.is_counted) --info.under_way;
  if (!IsUnheard(event.to())) {
    if (options_.mutation) [[unlikely]] {
      HandleChanged(event.to(), queue_.At(due.slot));
    } else {
      Actor* actor = info.actor;
      Observe(event);
      Handle(actor, event);
    }
  }
  queue_.Free(due.slot);
}

bool SimWorld::RunUntil(absl::FunctionRef<bool()> done, TimeNs) {
  driver_.Start();
  bool reached = done();
  while (!reached && !driver_.stopped()) {
    driver_.RunPosted();
    if (!queue_.has_foreground()) break;
    Deliver();
    reached = done();
  }
  driver_.Finish();
  return reached;
}

void SimWorld::RunFor(TimeNs duration) {
  driver_.Start();
  TimeNs end = Later(Now(), duration);
  while (!driver_.stopped()) {
    driver_.RunPosted();
    if (queue_.empty() || queue_.next_time() > end) break;
    Deliver();
  }
  if (!driver_.stopped()) {
    now_.store(end, std::memory_order_relaxed);
  }
  driver_.Finish();
}

bool SimWorld::RunOne() {
  driver_.Start();
  bool any = !queue_.empty() && !driver_.stopped();
  if (any) Deliver();
  driver_.Finish();
  return any;
}

void SimWorld::Stop() {
  driver_.Stop([this] {
    queue_.Clear();
    for (ActorInfo& info : actors_) {
      for (SimQueue::Slot slot : std::exchange(info.kept, {})) {
        queue_.Free(slot);
      }
    }
  });
}

}  // namespace pathways
