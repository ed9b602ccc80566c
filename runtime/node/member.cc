//===- member.cc - A process that has joined a cluster --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/member.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/steady_time.h"
#include "runtime/kernel/target.h"
#include "runtime/node/backoff.h"
#include "runtime/node/host_options.h"
#include "runtime/node/node_transport.h"
#include "runtime/node/refusal.h"

namespace pathways {
namespace {

// Largest number of hellos from processes that are not announced yet.
constexpr size_t kMaxEarly = 64;

std::string NewEpoch() {
  absl::BitGen random;
  std::string epoch(kEpochBytes, 0);
  for (char& byte : epoch) byte = static_cast<char>(random());
  return epoch;
}

}  // namespace

Member::Member(MemberOptions options, std::unique_ptr<Process> process)
    : options_(std::move(options)),
      process_(std::move(process)),
      epoch_(NewEpoch()) {}

Member::~Member() {
  if (options_.plans == nullptr || machines_.empty()) return;
  process_->Stop();
  options_.plans->Leave(machines_, process_->cluster().TakePlans());
}

absl::StatusOr<std::unique_ptr<Member>> Member::Create(
    MemberOptions options, const TransportFactory& make) {
  if (options.connect.empty() ||
      (options.is_worker() && options.listen.empty())) {
    return absl::InvalidArgumentError(
        options.connect.empty()
            ? "a process needs the address of a controller to join a cluster"
            : "a worker needs an address of its own");
  }
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Create(make);
  if (!process.ok()) return process.status();
  return std::unique_ptr<Member>(
      new Member(std::move(options), *std::move(process)));
}

absl::Status Member::ControllerGone(const absl::Status& why) const {
  return Coded(
      ErrorId::kControllerGone,
      absl::CancelledError(absl::StrCat("the controller at '", options_.connect,
                                        "' is gone: ", why.message())));
}

absl::Status Member::Join() {
  absl::Status joined = Dial();
  if (!joined.ok()) return joined;
  joined = AwaitWelcome();
  if (joined.ok()) joined = AwaitLinks();
  if (joined.ok()) {
    proto::Membership answer;
    answer.mutable_member_ready();
    process_->Send(controller_, answer);
  } else {
    process_->Send(controller_, MakeRefusal(joined));
  }
  return joined;
}

absl::Status Member::Dial() {
  proto::Membership message;
  proto::MemberHello& hello = *message.mutable_member_hello();
  hello.set_version(kProtocolVersion);
  hello.set_epoch(epoch_);
  *hello.mutable_target() = HostTarget();
  if (options_.is_worker()) {
    for (const std::string& listen : options_.listen) {
      absl::StatusOr<std::string> address =
          process_->transport().Listen(listen);
      if (!address.ok()) return address.status();
      hello.add_addresses(*address);
    }
    for (const std::string& host : options_.hosts) hello.add_hosts(host);
    if (options_.any_host_of.has_value()) {
      hello.mutable_any_host()->set_island(*options_.any_host_of);
    }
  }
  const SteadyTime until = SteadyTime::Now() + options_.patience;
  Backoff backoff;
  while (true) {
    absl::StatusOr<PeerId> controller =
        process_->links().Dial(options_.connect, options_.dial_timeout);
    if (controller.ok()) {
      controller_ = *controller;
      break;
    }
    const SteadyTime now = SteadyTime::Now();
    if (!absl::IsUnavailable(controller.status()) || now >= until) {
      return NobodyThere(options_.connect, controller.status());
    }
    // No message can come yet; but Stop may be called.
    const auto stopped =
        process_->inbox().Next(std::min(until, now + backoff.Next()));
    if (!stopped.ok()) return stopped.status();
  }
  process_->Send(controller_, message);
  return absl::OkStatus();
}

absl::Status Member::AwaitWelcome() {
  const SteadyTime until = SteadyTime::Now() + options_.welcome_timeout;
  while (true) {
    absl::StatusOr<std::optional<MembershipEvent>> next =
        process_->inbox().Next(until);
    if (!next.ok()) return next.status();
    if (!next->has_value()) {
      return absl::DeadlineExceededError(absl::StrCat(
          "the controller at '", options_.connect, "' did not answer within ",
          absl::FormatDuration(options_.welcome_timeout),
          waits_for_.empty() ? "" : ": ", waits_for_));
    }
    const MembershipEvent& event = **next;
    if (event.peer != controller_) {
      if (event.what == MembershipEvent::kGone) {
        early_.erase(event.peer);
      } else if (event.said.has_peer_hello()) {
        OnPeerHello(event.peer, event.said.peer_hello());
      }
    } else if (event.what == MembershipEvent::kGone) {
      return ControllerGone(event.why);
    } else if (event.said.has_refusal()) {
      return ReadRefusalOfController(event.said.refusal());
    } else if (event.said.has_not_yet()) {
      waits_for_ = event.said.not_yet().message();
      if (options_.on_waiting) options_.on_waiting(waits_for_);
    } else if (event.said.has_welcome()) {
      return Start(event.said.welcome());
    }
  }
}

absl::Status Member::Start(const proto::Welcome& welcome) {
  self_ = welcome.process();
  ping_ = absl::Nanoseconds(welcome.ping_ns());
  lost_ = absl::Nanoseconds(welcome.lost_ns());
  if (ping_ <= absl::ZeroDuration() || lost_ < ping_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the controller asks for a ping every ", absl::FormatDuration(ping_),
        " and a timeout of ", absl::FormatDuration(lost_),
        ", expected a positive interval and a timeout that is not shorter"));
  }
  const std::vector<proto::Member> members(welcome.members().begin(),
                                           welcome.members().end());
  if (self_ == kControllerProcess || self_ >= kMaxProcesses ||
      (self_ <= members.size()) != options_.is_worker()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a process with", options_.is_worker() ? "" : "out",
        " hosts cannot be number ", self_,
        ": processes with hosts have the numbers 1 to ", members.size()));
  }
  ClusterOptions options = ToClusterOptions(welcome.options());
  options.on_long_work = options_.on_long_work;
  options.kernels = options_.kernels;
  absl::Status started =
      process_->Start(self_, welcome.cluster(), options, members);
  if (!started.ok()) return started;
  if (options_.is_worker()) {
    for (uint32_t host : members[self_ - 1].hosts()) {
      hosts_.push_back(
          process_->cluster().topology().HostName(static_cast<int>(host)));
    }
  }
  if (options_.plans != nullptr) {
    machines_ =
        absl::StrCat(absl::StrJoin(hosts_, ","), ";", options.run_kernels, ";",
                     welcome.cluster().SerializeAsString());
    process_->cluster().KeepPlans(options_.plans->Take(machines_));
  }
  together_ = options_.is_worker() && members[self_ - 1].life() == 1;
  for (const proto::Member& member : members) {
    if (member.process() == self_ || member.gone()) continue;
    known_[member.process()] = member.epoch();
    unlinked_.insert(member.process());
  }
  // Processes with clients alone dial this worker. Nothing may run here before
  // they are linked, since messages to them would be lost.
  for (const proto::Member& client : welcome.clients()) {
    known_[client.process()] = client.epoch();
    unlinked_.insert(client.process());
  }
  // Among the initial workers, the one with the larger number dials; a worker
  // that comes later dials all.
  for (uint32_t process : std::set<uint32_t>(unlinked_)) {
    if (process > members.size()) continue;
    if (together_ && process > self_) continue;
    absl::Status dialed = DialMember(members[process - 1]);
    if (!dialed.ok()) ReportBroken(process, dialed);
  }
  for (const auto& [peer, hello] : std::exchange(early_, {})) {
    OnPeerHello(peer, hello);
  }
  absl::Status linked = process_->links().Link(kControllerProcess, controller_);
  return absl::IsUnavailable(linked) ? ControllerGone(linked) : linked;
}

absl::Status Member::AwaitLinks() {
  const SteadyTime until = SteadyTime::Now() + options_.link_timeout;
  last_tick_ = SteadyTime::Now();
  while (!unlinked_.empty()) {
    if (SteadyTime::Now() >= until) {
      return absl::DeadlineExceededError(
          absl::StrCat(unlinked_.size(), " of ", known_.size(),
                       " other processes did not connect to this one in time"));
    }
    absl::Status stepped = Step(until);
    if (!stepped.ok()) return stepped;
  }
  return absl::OkStatus();
}

absl::Status Member::Serve() {
  while (true) {
    absl::Status stepped = Step(SteadyTime::Never());
    if (stepped.ok()) continue;
    if (absl::IsAborted(stepped)) {
      proto::Membership message;
      message.mutable_member_leaves();
      process_->Send(controller_, message);
    }
    process_->Fail(stepped);
    return stepped;
  }
}

void Member::Stop() {
  process_->inbox().Fail(absl::AbortedError("the process was stopped"));
}

absl::Status Member::DialMember(const proto::Member& member) {
  if (member.addresses().empty()) {
    return absl::UnavailableError(
        absl::StrCat("worker ", member.process(),
                     " has no address that this process can dial"));
  }
  absl::StatusOr<PeerId> peer =
      process_->links().Dial(member.addresses(0), options_.dial_timeout);
  if (!peer.ok()) {
    return absl::Status(
        peer.status().code(),
        absl::StrCat("worker ", member.process(),
                     " cannot be reached: ", peer.status().message()));
  }
  dialed_.emplace(*peer, member.process());
  proto::Membership message;
  proto::PeerHello& hello = *message.mutable_peer_hello();
  hello.set_process(self_);
  hello.set_epoch(epoch_);
  hello.set_to_epoch(member.epoch());
  process_->Send(*peer, message);
  return absl::OkStatus();
}

void Member::OnPeerHello(PeerId peer, const proto::PeerHello& hello) {
  auto known = known_.find(hello.process());
  if (!options_.is_worker() || hello.to_epoch() != epoch_ ||
      (known == known_.end() && early_.size() == kMaxEarly)) {
    return process_->transport().Close(peer);
  }
  // A known process has an epoch that only members learn from the controller.
  if (known == known_.end() || known->second != hello.epoch()) {
    early_.insert_or_assign(peer, hello);
    return;
  }
  if (!process_->links().Link(hello.process(), peer).ok()) {
    return process_->transport().Close(peer);
  }
  proto::Membership welcome;
  welcome.mutable_peer_welcome();
  process_->Send(peer, welcome);
  OnLinked(hello.process(), peer);
}

void Member::OnLinked(uint32_t process, PeerId peer) {
  linked_[process] = peer;
  unlinked_.erase(process);
  auto coming = coming_.find(process);
  if (coming == coming_.end()) return;
  process_->Come(coming->second);
  coming_.erase(coming);
}

}  // namespace pathways
