//===- member_serve.cc - Events of the other members ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/member.h"
#include "runtime/node/refusal.h"

namespace pathways {

absl::Status Member::Step(SteadyTime until) {
  const SteadyTime tick = last_tick_ + ping_;
  absl::StatusOr<std::optional<MembershipEvent>> next =
      process_->inbox().Next(std::min(until, tick));
  if (!next.ok()) return next.status();
  if (next->has_value()) {
    absl::Status handled = Handle(**next);
    if (!handled.ok()) return handled;
  }
  const SteadyTime now = SteadyTime::Now();
  if (now < tick) return absl::OkStatus();
  // A late tick counts at most two intervals: this process may have been
  // stopped itself.
  silence_ += std::min(now - last_tick_, 2 * ping_);
  last_tick_ = now;
  if (silence_ < lost_) return absl::OkStatus();
  return ControllerGone(absl::UnavailableError(
      absl::StrCat("it sent nothing for ", absl::FormatDuration(lost_))));
}

absl::Status Member::Handle(const MembershipEvent& event) {
  if (event.peer == controller_) {
    if (event.what == MembershipEvent::kGone) return ControllerGone(event.why);
    silence_ = absl::ZeroDuration();
    return HandleSaid(event.said);
  }
  auto dialed = dialed_.find(event.peer);
  if (event.what == MembershipEvent::kGone) {
    OnGone(event);
  } else if (event.said.has_peer_hello()) {
    OnPeerHello(event.peer, event.said.peer_hello());
  } else if (event.said.has_peer_welcome() && dialed != dialed_.end()) {
    const uint32_t process = dialed->second;
    dialed_.erase(dialed);
    absl::Status linked = process_->links().Link(process, event.peer);
    if (linked.ok()) {
      OnLinked(process, event.peer);
    } else {
      ReportBroken(process, linked);
    }
  }
  return absl::OkStatus();
}

absl::Status Member::HandleSaid(const proto::Membership& said) {
  switch (said.kind_case()) {
    case proto::Membership::kRefusal:
      return absl::CancelledError(
          ReadRefusalOfController(said.refusal()).message());
    case proto::Membership::kClientComes:
      Announce(said.client_comes().process(), said.client_comes().epoch());
      return absl::OkStatus();
    case proto::Membership::kMemberComes:
      OnMemberComes(said.member_comes().member());
      return absl::OkStatus();
    case proto::Membership::kMemberGone:
      OnMemberGone(said.member_gone());
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

void Member::OnGone(const MembershipEvent& event) {
  early_.erase(event.peer);
  if (auto dialed = dialed_.find(event.peer); dialed != dialed_.end()) {
    const uint32_t process = dialed->second;
    dialed_.erase(dialed);
    return ReportBroken(process, event.why);
  }
  if (!event.process.has_value()) return;
  auto linked = linked_.find(*event.process);
  if (linked == linked_.end() || linked->second != event.peer) return;
  ReportBroken(*event.process, event.why);
}

void Member::ReportBroken(uint32_t process, const absl::Status& why) {
  auto known = known_.find(process);
  if (known == known_.end()) return;  // the controller has declared it gone
  proto::Membership message;
  proto::LinkBroken& broken = *message.mutable_link_broken();
  broken.set_process(process);
  broken.set_epoch(known->second);
  broken.set_message(why.message().data(), why.message().size());
  process_->Send(controller_, message);
}

void Member::OnMemberComes(const proto::Member& member) {
  const uint32_t process = member.process();
  if (process == kControllerProcess || process == self_ ||
      process > process_->members().size()) {
    return;
  }
  coming_[process] = member;
  Announce(process, member.epoch());
  if (options_.is_worker()) return;
  absl::Status dialed = DialMember(member);
  if (!dialed.ok()) ReportBroken(process, dialed);
}

void Member::Announce(uint32_t process, const std::string& epoch) {
  known_[process] = epoch;
  for (auto early = early_.begin(); early != early_.end(); ++early) {
    if (early->second.process() != process) continue;
    const auto [peer, hello] = *early;
    early_.erase(early);
    return OnPeerHello(peer, hello);
  }
}

void Member::OnMemberGone(const proto::MemberGone& gone) {
  auto known = known_.find(gone.process());
  if (known == known_.end() || known->second != gone.epoch()) return;
  known_.erase(known);
  coming_.erase(gone.process());
  linked_.erase(gone.process());
  unlinked_.erase(gone.process());
  // A late answer to the hello must not be taken for another member's.
  std::erase_if(dialed_, [&](const auto& dialed) {
    if (dialed.second != gone.process()) return false;
    process_->transport().Close(dialed.first);
    return true;
  });
  process_->Lose(gone.process());
}

}  // namespace pathways
