//===- coordinator_serve.cc - Events of the members of a cluster ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/coordinator.h"
#include "runtime/node/host_names.h"
#include "runtime/node/refusal.h"

namespace pathways {
namespace {

// The controller answers between two of its messages, which are short.
constexpr absl::Duration kDescribeTimeout = absl::Seconds(2);

}  // namespace

absl::Status Coordinator::Serve() {
  while (true) {
    absl::StatusOr<bool> stepped = Step(SteadyTime::Never());
    if (!stepped.ok()) return stepped.status();
  }
}

absl::StatusOr<bool> Coordinator::Step(SteadyTime until) {
  const SteadyTime tick = last_tick_ + options_.liveness.ping;
  absl::StatusOr<std::optional<MembershipEvent>> next =
      process_.inbox().Next(std::min(until, tick));
  if (!next.ok()) return next.status();
  if (next->has_value()) Handle(**next);
  const SteadyTime now = SteadyTime::Now();
  if (now >= tick) {
    Tick(now - last_tick_);
    last_tick_ = now;
  }
  return next->has_value();
}

void Coordinator::Handle(const MembershipEvent& event) {
  if (event.what == MembershipEvent::kStuck) return OnStuck(event);
  const uint32_t process = table_.ProcessOf(event.peer);
  if (event.what == MembershipEvent::kGone) {
    Forget(event.peer);
    if (process != 0) Lose(process, event.why);
  } else if (process != 0) {
    HandleSaid(process, event.said);
  } else if (event.said.has_status_request()) {
    NotifyStatus(event.peer);
  } else if (event.said.has_member_hello()) {
    Admit(event.peer, event.said.member_hello());
  } else {
    HandleStranger(event);
  }
}

// Only the end of its process can end a thread that is in a kernel.
void Coordinator::OnStuck(const MembershipEvent& event) {
  const MemberTable::Process* process = table_.Find(*event.process);
  if (process == nullptr || process->member.life() != event.life) return;
  Lose(*event.process, event.why);
}

void Coordinator::HandleSaid(uint32_t process, const proto::Membership& said) {
  switch (said.kind_case()) {
    case proto::Membership::kMemberReady: {
      if (table_.Find(process)->state == MemberTable::kUp) return;
      table_.SetUp(process);
      const proto::Member& member = table_.Find(process)->member;
      // Initial workers were part of Process::Start.
      if (member.life() > 1) process_.Come(member);
      if (begun_) Note(absl::StrCat(NameOf(process), " has joined"));
      if (options_.on_worker && member.hosts_size() > 0) {
        options_.on_worker(process);
      }
      return;
    }
    case proto::Membership::kRefusal:
      return Lose(process, ReadRefusal(said.refusal()));
    case proto::Membership::kLinkBroken:
      return OnLinkBroken(process, said.link_broken());
    case proto::Membership::kMemberLeaves:
      return Lose(process, absl::UnavailableError("it has left"));
    case proto::Membership::kPong:
      return OnPong(process);
    default:
      return;
  }
}

void Coordinator::Admit(PeerId peer, const proto::MemberHello& hello) {
  absl::Status checked = CheckHello(hello);
  if (!checked.ok()) return Refuse(peer, checked);
  if (Forget(peer)) {
    return Refuse(peer,
                  absl::FailedPreconditionError(
                      "a process that waits to join sent a second hello"));
  }
  if (!begun_ && !(linking_ && IsWorker(hello))) {
    if (IsWorker(hello)) {
      absl::Status joined = roster_.Join(peer, hello);
      return joined.ok() ? NotifyEarly() : KeepOrRefuse(peer, hello, joined);
    }
    if (early_.size() == kMaxProcesses) {
      return Refuse(peer, absl::ResourceExhaustedError(absl::StrCat(
                              kMaxProcesses,
                              " clients already wait to join, which is the "
                              "limit")));
    }
    NotifyEarly();
    early_.emplace_back(peer, hello);
    return NotifyNotYet(peer, not_yet_);
  }
  absl::StatusOr<uint32_t> added = 0;
  proto::Membership message;
  if (!IsWorker(hello)) {
    added = table_.AddClient(peer, hello.epoch());
    if (!added.ok()) return Refuse(peer, added.status());
    message.mutable_client_comes()->set_process(*added);
    message.mutable_client_comes()->set_epoch(hello.epoch());
    NotifyWorkers(message, *added);
  } else {
    absl::StatusOr<std::vector<uint32_t>> hosts = HostsFor(hello);
    if (!hosts.ok()) return KeepOrRefuse(peer, hello, hosts.status());
    added = table_.Replace(peer, hello, *hosts);
    if (!added.ok()) return Refuse(peer, added.status());
    const proto::Member& member = table_.Find(*added)->member;
    for (const auto& [number, process] : table_.all()) {
      if (number == *added || process.state == MemberTable::kGone) continue;
      *message.mutable_member_comes()->mutable_member() =
          process.has_hosts() ? member : ForClients(member);
      Notify(number, message);
    }
  }
  absl::Status linked = Welcome(*added, hello.target());
  if (!linked.ok()) Lose(*added, linked);
  if (!begun_) NotifyEarly();
}

absl::StatusOr<std::vector<uint32_t>> Coordinator::HostsFor(
    const proto::MemberHello& hello) const {
  return roster_.HostsOf(hello, [this](uint32_t host) {
    return linking_ ? table_.IsFree(host) : !roster_.IsHere(host);
  });
}

void Coordinator::KeepOrRefuse(PeerId peer, const proto::MemberHello& hello,
                               const absl::Status& why) {
  if (!hello.has_any_host() || !absl::IsAlreadyExists(why) ||
      spares_.size() == kMaxProcesses) {
    return Refuse(peer, why);
  }
  spares_.emplace_back(peer, hello);
  const std::string whom(WithoutTag(why.message()));
  Note(absl::StrCat("a worker waits as a spare: ", whom));
  NotifyNotYet(peer, whom);
}

void Coordinator::TakeSpare() {
  for (const auto& [peer, hello] : spares_) {
    if (!HostsFor(hello).ok()) continue;
    const auto [taken, said] = std::pair(peer, hello);
    Forget(taken);
    return Admit(taken, said);
  }
}

bool Coordinator::Forget(PeerId peer) {
  const auto is_it = [&](const auto& one) { return one.first == peer; };
  return std::erase_if(early_, is_it) + std::erase_if(spares_, is_it) > 0;
}

std::string Coordinator::NotYetText() const {
  const std::vector<uint32_t> missing =
      linking_ ? table_.HostsIn(MemberTable::kGone) : roster_.Missing();
  const size_t num_hosts = topology_.num_hosts();
  if (num_hosts - missing.size() >= num_enough()) {
    return "the cluster's workers are connecting to each other";
  }
  return absl::StrCat(
      "no worker has joined for ", HostNames(topology_, missing),
      num_enough() == num_hosts
          ? ""
          : absl::StrCat("; ", num_enough(), " hosts are enough to begin"));
}

void Coordinator::NotifyEarly() {
  std::string now = NotYetText();
  if (now == not_yet_) return;
  not_yet_ = std::move(now);
  for (const auto& [peer, hello] : early_) NotifyNotYet(peer, not_yet_);
}

void Coordinator::NotifyNotYet(PeerId peer, const std::string& whom) {
  proto::Membership message;
  message.mutable_not_yet()->set_message(whom);
  process_.Send(peer, message);
}

void Coordinator::Lose(uint32_t process, const absl::Status& why) {
  const std::string name = NameOf(process);
  const proto::Member member = table_.Find(process)->member;
  const PeerId peer = table_.Find(process)->peer;
  if (!table_.Lose(process)) return;
  Note(absl::StrCat(name, " is gone: ", why.message()));
  liveness_.Remove(process);
  // A replacement has other links.
  std::erase_if(broken_, [&](const BrokenLink& link) {
    return link.ends.first == process || link.ends.second == process;
  });
  // If the process is alive, the refusal tells it why it was given up.
  process_.Send(
      peer,
      MakeRefusal(absl::Status(
          why.code(), absl::StrCat(name, " was dropped: ", why.message()))));
  process_.Lose(process);
  if (member.hosts().empty()) process_.cluster().ReportClientsGone(process);
  proto::Membership message;
  message.mutable_member_gone()->set_process(process);
  message.mutable_member_gone()->set_epoch(member.epoch());
  NotifyAll(message, process);
  if (!begun_) NotifyEarly();
  if (!member.hosts().empty()) TakeSpare();
}

void Coordinator::Tick(absl::Duration passed) {
  for (const Liveness::Change& change : liveness_.Tick(passed)) {
    if (change.what == Liveness::kSlow) {
      Note(absl::StrCat(NameOf(change.process),
                        " is slow: it sent nothing for ",
                        absl::FormatDuration(options_.liveness.slow)));
      continue;
    }
    Lose(change.process, absl::UnavailableError(absl::StrCat(
                             "it sent nothing for ",
                             absl::FormatDuration(options_.liveness.lost))));
  }
  for (const BrokenLink& link : std::vector<BrokenLink>(broken_)) {
    // Both ends have answered a ping that was sent after the report, so both
    // are alive. A client is given up rather than a worker. Of two workers, the
    // choice does not depend on which one reports.
    if (std::min(link.answers.first, link.answers.second) < 2) continue;
    const auto [one, other] = link.ends;
    const MemberTable::Process* first = table_.Find(one);
    const MemberTable::Process* second = table_.Find(other);
    // One end may just have been given up because of another link.
    if (first == nullptr || first->state == MemberTable::kGone ||
        second == nullptr || second->state == MemberTable::kGone) {
      continue;
    }
    const uint32_t victim = first->has_hosts() && !second->has_hosts() ? other
                            : second->has_hosts() && !first->has_hosts()
                                ? one
                                : std::max(one, other);
    Lose(victim, absl::UnavailableError(absl::StrCat(
                     "its link with ", NameOf(victim == one ? other : one),
                     " broke: ", link.why)));
  }
  proto::Membership ping;
  ping.mutable_ping();
  NotifyAll(ping, 0);
}

void Coordinator::NotifyStatus(PeerId peer) {
  proto::Membership message;
  proto::ClusterStatus& status = *message.mutable_status();
  if (!linking_) {
    for (uint32_t host : roster_.Missing()) {
      status.add_missing_hosts(roster_.HostName(host));
    }
  }
  if (begun_) {
    absl::StatusOr<proto::ControllerStatus> said =
        process_.cluster().Describe(kDescribeTimeout);
    if (!said.ok()) return Refuse(peer, said.status());
    *status.mutable_controller() = *std::move(said);
  }
  status.set_spares(static_cast<uint32_t>(spares_.size()));
  for (const auto& [number, process] : table_.all()) {
    const proto::Member& member = process.member;
    proto::ProcessStatus& out = *status.add_processes();
    out.set_process(number);
    for (uint32_t host : member.hosts()) {
      proto::HostStatus& one = *out.add_hosts();
      one.set_name(topology_.HostName(static_cast<int>(host)));
      if (!begun_) continue;
      one.set_used_bytes(status.controller().host_bytes(host));
      one.set_spilled_bytes(status.controller().host_spilled_bytes(host));
    }
    out.set_state(member.epoch().empty()                  ? "not here"
                  : process.state == MemberTable::kGone   ? "gone"
                  : process.state == MemberTable::kComing ? "coming"
                  : liveness_.IsSlow(number)              ? "slow"
                                                          : "up");
    out.set_epoch(absl::BytesToHexString(member.epoch()));
    out.set_life(member.life());
    *out.mutable_addresses() = ForClients(member).addresses();
    out.set_silence_ms(static_cast<uint64_t>(
        absl::ToInt64Milliseconds(liveness_.SilenceOf(number))));
  }
  process_.Send(peer, message);
  process_.transport().Close(peer);
}

void Coordinator::OnLinkBroken(uint32_t process,
                               const proto::LinkBroken& broken) {
  const MemberTable::Process* other = table_.Find(broken.process());
  if (other == nullptr || other->state == MemberTable::kGone ||
      broken.process() == process || other->member.epoch() != broken.epoch()) {
    return;
  }
  const std::pair<uint32_t, uint32_t> ends =
      std::minmax(process, broken.process());
  for (const BrokenLink& known : broken_) {
    if (known.ends == ends) return;
  }
  Note(absl::StrCat(NameOf(process), " has no link with ",
                    NameOf(broken.process()), ": ", broken.message()));
  broken_.push_back({ends, broken.message()});
}

void Coordinator::OnPong(uint32_t process) {
  if (liveness_.Heard(process)) {
    Note(absl::StrCat(NameOf(process), " responds again"));
  }
  for (BrokenLink& link : broken_) {
    if (link.ends.first == process) ++link.answers.first;
    if (link.ends.second == process) ++link.answers.second;
  }
}

void Coordinator::Notify(uint32_t process, const proto::Membership& message) {
  process_.Send(table_.Find(process)->peer, message);
}

void Coordinator::NotifyWorkers(const proto::Membership& message,
                                uint32_t but) {
  for (const auto& [number, process] : table_.all()) {
    if (number == but || !process.has_hosts()) continue;
    if (process.state != MemberTable::kGone) Notify(number, message);
  }
}

void Coordinator::NotifyAll(const proto::Membership& message, uint32_t but) {
  for (const auto& [number, process] : table_.all()) {
    if (number == but || process.state == MemberTable::kGone) continue;
    Notify(number, message);
  }
}

}  // namespace pathways
