//===- recording_world.cc - A world around one actor ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/testing/recording_world.h"

#include <algorithm>

namespace pathways::testing {

LocalId RecordingWorld::Register(Actor* actor, Placement placement, std::string,
                                 ActorId address) {
  const LocalId id{static_cast<uint32_t>(actors_.size())};
  actors_.push_back(actor);
  if (address != kNoActor) {
    addresses_[address] = actor;
    places[address] = placement;
  }
  SetLocalId(actor, id);
  return id;
}

bool RecordingWorld::Deliver(const Sent& one) {
  if (one.kind == Sent::kTimer || one.kind >= Sent::kLent) return false;
  if (one.kind == Sent::kLocal) {
    Actor* actor = At(one.local_to);
    if (actor != nullptr) actor->OnLocal(one.local);
    return actor != nullptr;
  }
  auto actor = addresses_.find(one.to);
  if (actor == addresses_.end()) return false;
  if (one.kind == Sent::kControl) {
    actor->second->OnControl(one.from, one.bytes);
  } else {
    actor->second->OnWire(one.from, one.wire, one.payload);
  }
  return true;
}

std::vector<Sent> RecordingWorld::DeliverAll() {
  std::vector<Sent> left;
  while (!sent.empty()) {
    for (Sent& one : Take()) {
      if (!Deliver(one)) left.push_back(std::move(one));
    }
  }
  return left;
}

void RecordingWorld::Advance(TimeNs duration) {
  const TimeNs end = now_ + std::max<TimeNs>(duration, 0);
  while (!timers_.empty() && timers_.begin()->first.first <= end) {
    const Sent timer = timers_.begin()->second;
    timers_.erase(timers_.begin());
    now_ = std::max(now_, timer.due);
    if (Actor* actor = At(timer.local_to)) actor->OnLocal(timer.local);
  }
  now_ = end;
}

void RecordingWorld::Send(ActorId from, ActorId to, const WireMessage& message,
                          Payload payload) {
  Sent one;
  one.from = from;
  one.to = to;
  one.wire = message;
  one.payload = payload;
  if (copies_payloads && payload.bytes > 0) {
    const auto* data = static_cast<const char*>(payload.data);
    one.copy = std::make_shared<std::vector<char>>(data, data + payload.bytes);
    one.payload.data = one.copy->data();
  }
  sent.push_back(std::move(one));
}

bool RecordingWorld::LendTo(ActorId from, ActorId to,
                            const WireMessage& message, Payload payload,
                            const LocalMessage& returned) {
  if (!lends || payload.bytes < kMinLentBytes) {
    Send(from, to, message, payload);
    return false;
  }
  Sent one;
  one.kind = Sent::kLent;
  one.from = from;
  one.to = to;
  one.wire = message;
  one.payload = payload;
  one.local = returned;
  sent.push_back(std::move(one));
  return true;
}

bool RecordingWorld::Offer(ActorId from, ActorId to, const WireMessage& message,
                           uint64_t bytes, uint64_t offer) {
  Sent one;
  one.kind = Sent::kOffer;
  one.from = from;
  one.to = to;
  one.wire = message;
  one.payload.bytes = bytes;
  one.offer = offer;
  sent.push_back(std::move(one));
  return true;
}

void RecordingWorld::SendAll(absl::Span<const Arrival> arrivals) {
  for (const Arrival& one : arrivals) {
    Send(one.from, one.to, one.message, one.payload);
  }
}

void RecordingWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  Sent one;
  one.kind = Sent::kControl;
  one.from = from;
  one.to = to;
  one.bytes = std::move(bytes);
  sent.push_back(std::move(one));
}

void RecordingWorld::SendLocal(LocalId from, LocalId to,
                               const LocalMessage& message) {
  Sent one;
  one.kind = Sent::kLocal;
  one.local_from = from;
  one.local_to = to;
  one.local = message;
  sent.push_back(std::move(one));
}

void RecordingWorld::SendAfter(LocalId from, LocalId to, TimeNs delay,
                               const LocalMessage& message) {
  Sent one;
  one.kind = Sent::kTimer;
  one.local_from = from;
  one.local_to = to;
  one.local = message;
  one.due = now_ + std::max<TimeNs>(delay, 0);
  timers_[{one.due, next_timer_++}] = one;
  sent.push_back(std::move(one));
}

void RecordingWorld::ReportPeerDown(int32_t host, uint32_t epoch) {
  for (LocalId watcher : watchers) {
    if (Actor* actor = At(watcher)) actor->OnPeer({host, epoch, false});
  }
}

void RecordingWorld::ReportPeerUp(int32_t host, uint32_t epoch) {
  for (LocalId watcher : watchers) {
    if (Actor* actor = At(watcher)) actor->OnPeer({host, epoch, true});
  }
}

}  // namespace pathways::testing
