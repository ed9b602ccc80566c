//===- island_scheduler.cc - The gang scheduler of one island -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/island_scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pathways {

bool Before(const proto::Failure& a, const proto::Failure& b) {
  return std::make_tuple(a.firing(), a.action(), a.shard(), a.step()) <
         std::make_tuple(b.firing(), b.action(), b.shard(), b.step());
}

void IslandScheduler::OnMessage(ActorId, ControlRef control) {
  if (control->has_grant_done()) {
    return OnDone(control->grant_done(), control->restarts());
  }
  if (control->has_start()) OnStart(std::move(control));
}

void IslandScheduler::Record(TraceKind kind, const proto::Start& start) {
  if (trace_ == nullptr) return;
  TraceEvent event = NewTraceEvent(kind, IndexOf(local_id()), trace_->Now());
  event.program = start.incarnation();
  event.firing = start.first();
  event.value = start.launch();
  event.other = static_cast<uint32_t>(
      std::min<uint64_t>(start.launch_steps(), UINT32_MAX));
  trace_->Record(event);
}

IslandScheduler::Granted* IslandScheduler::AddGranted() {
  if (spare_.empty()) spare_.push_back(std::make_unique<Granted>());
  granted_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Granted* granted = granted_.back().get();
  granted->hosts.clear();
  granted->waiting = 0;
  granted->failed = false;
  granted->poisoned.clear();
  granted->time_ns = 0;
  return granted;
}

void IslandScheduler::Erase(
    std::vector<std::unique_ptr<Granted>>::iterator granted) {
  (*granted)->start = ControlRef();
  spare_.push_back(std::move(*granted));
  if (granted != First()) {
    granted_.erase(granted);
  } else if (++first_ * 2 >= granted_.size()) {
    // Most grants end in their order, so the remaining ones are moved only once
    // for many erased ones.
    granted_.erase(granted_.begin(), First());
    first_ = 0;
  }
}

void IslandScheduler::Skip(uint64_t ticket) {
  auto granted = std::find_if(First(), granted_.end(), [&](const auto& g) {
    return g->start->start().ticket() == ticket;
  });
  if (granted == granted_.end()) return;
  SendGrants(**granted, /*skip=*/true);
  Erase(granted);
}

void IslandScheduler::OnStart(ControlRef control) {
  const proto::Start& start = control->start();
  if (start.first() == start.launch_first()) Record(TraceKind::kJoined, start);
  if (!ticket_order_) {
    if (start.skip()) {
      seen_.insert(start.ticket());
      Skip(start.ticket());
    } else if (seen_.insert(start.ticket()).second) {
      Apply(std::move(control));
    }
    return;
  }
  const LinkedSequence::Number number = {start.ticket(),
                                         start.previous_ticket(), start.skip()};
  const bool was_new =
      tickets_.Take(number, std::move(control), [this](ControlRef next) {
        if (!next->start().skip()) Apply(std::move(next));
      });
  // The grant was given up after it was sent: hosts that did not receive it
  // must not wait for it.
  if (!was_new && number.skip) Skip(number.own);
}

void IslandScheduler::Apply(ControlRef control) {
  const proto::Start& start = control->start();
  Granted& granted = *AddGranted();
  granted.position = ++last_position_;
  for (int i = 0; i < start.hosts_size(); ++i) {
    const uint32_t host = start.hosts(i);
    const auto at = std::lower_bound(
        granted.hosts.begin(), granted.hosts.end(), host,
        [](const Host& a, uint32_t number) { return a.host < number; });
    if (at != granted.hosts.end() && at->host == host) continue;
    const uint32_t restarts = i < start.restarts_size() ? start.restarts(i) : 0;
    LastPlace& last = place_of_[host];
    if (last.restarts != restarts) last = {0, restarts};
    granted.hosts.insert(
        at, {host, last.position, i < start.stores_size() ? start.stores(i) : 0,
             restarts, /*done=*/false});
    last.position = granted.position;
  }
  granted.waiting = granted.hosts.size();
  if (start.first() == start.launch_first()) Record(TraceKind::kGranted, start);
  granted.start = std::move(control);
  SendGrants(granted, /*skip=*/false);
}

void IslandScheduler::SendGrants(const Granted& granted, bool skip) {
  const proto::Start& start = granted.start->start();
  for (const Host& host : granted.hosts) {
    ControlRef control = NewControl(proto::Control::kGrant);
    control->set_restarts(host.restarts);
    proto::Grant* grant = control->mutable_grant();
    grant->set_program(start.program());
    grant->set_incarnation(start.incarnation());
    grant->set_launch(start.launch());
    grant->set_position(granted.position);
    grant->set_previous_position(host.previous_position);
    grant->set_store(host.store);
    grant->set_first(start.first());
    grant->set_steps(start.steps());
    grant->set_skip(skip);
    grant->set_launch_first(start.launch_first());
    grant->set_launch_steps(start.launch_steps());
    grant->set_cut_short(start.cut_short());
    grant->set_first_step(start.first_step());
    SendControl(directory_->executor(host.host), std::move(control));
  }
}

void IslandScheduler::OnDone(const proto::GrantDone& done, uint32_t restarts) {
  const auto found = std::lower_bound(
      First(), granted_.end(), done.number(),
      [](const auto& g, uint64_t position) { return g->position < position; });
  if (found == granted_.end() || (*found)->position != done.number()) return;
  Granted& granted = **found;
  const auto host = std::lower_bound(
      granted.hosts.begin(), granted.hosts.end(), done.sender(),
      [](const Host& a, uint32_t number) { return a.host < number; });
  if (host == granted.hosts.end() || host->host != done.sender() ||
      host->done || host->restarts != restarts) {
    return;  // a duplicate, or of another epoch of the host
  }
  host->done = true;
  --granted.waiting;
  if (done.has_failure() &&
      (!granted.failed || Before(done.failure(), granted.failure))) {
    granted.failed = true;
    granted.failure = done.failure();
  }
  for (uint32_t result : done.poisoned()) {
    const auto at = std::lower_bound(granted.poisoned.begin(),
                                     granted.poisoned.end(), result);
    if (at != granted.poisoned.end() && *at == result) continue;
    granted.poisoned.insert(at, result);
  }
  granted.time_ns = std::max(granted.time_ns, done.time_ns());
  if (granted.waiting > 0) return;
  ControlRef control = NewControl(proto::Control::kGrantDone);
  proto::GrantDone* out = control->mutable_grant_done();
  *out = done;
  out->set_sender(island_);
  out->set_number(granted.start->start().ticket());
  out->set_time_ns(granted.time_ns);
  out->clear_failure();
  if (granted.failed) *out->mutable_failure() = granted.failure;
  out->clear_poisoned();
  for (uint32_t result : granted.poisoned) out->add_poisoned(result);
  if (done.over()) Record(TraceKind::kDone, granted.start->start());
  Erase(found);
  SendControl(directory_->controller(), std::move(control));
}

}  // namespace pathways
