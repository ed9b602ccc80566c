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

void RecordingWorld::Place(ActorId id, Actor* actor) { actors_[id] = actor; }

ActorId RecordingWorld::Register(Actor* actor, Placement, std::string) {
  const ActorId id = actors_.empty() ? 0 : actors_.rbegin()->first + 1;
  actors_[id] = actor;
  return id;
}

bool RecordingWorld::Deliver(const Sent& one) {
  auto actor = actors_.find(one.to);
  if (one.kind == Sent::kTimer || actor == actors_.end()) return false;
  if (one.kind == Sent::kControl) {
    actor->second->OnControl(one.from, one.bytes);
  } else {
    actor->second->OnMessage(one.from, one.message);
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
    auto actor = actors_.find(timer.to);
    if (actor == actors_.end()) continue;
    actor->second->OnMessage(timer.from, timer.message);
  }
  now_ = end;
}

void RecordingWorld::Send(ActorId from, ActorId to, const Message& message) {
  Sent one;
  one.from = from;
  one.to = to;
  one.message = message;
  sent.push_back(std::move(one));
}

void RecordingWorld::SendControl(ActorId from, ActorId to, std::string bytes) {
  Sent one;
  one.kind = Sent::kControl;
  one.from = from;
  one.to = to;
  one.bytes = std::move(bytes);
  sent.push_back(std::move(one));
}

void RecordingWorld::SendAfter(ActorId from, ActorId to, TimeNs delay,
                               const Message& message) {
  Sent one;
  one.kind = Sent::kTimer;
  one.from = from;
  one.to = to;
  one.message = message;
  one.due = now_ + std::max<TimeNs>(delay, 0);
  timers_[{one.due, next_timer_++}] = one;
  sent.push_back(std::move(one));
}

}  // namespace pathways::testing
