//===- coordinator.cc - The controller's side of membership ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/coordinator.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/steady_time.h"
#include "runtime/kernel/target.h"
#include "runtime/node/host_names.h"
#include "runtime/node/host_options.h"
#include "runtime/node/refusal.h"

namespace pathways {
Coordinator::Coordinator(const Topology* topology, Process* process,
                         CoordinatorOptions options)
    : topology_(*topology),
      process_(*process),
      options_(std::move(options)),
      roster_(topology),
      table_(topology, {}, {}),
      liveness_(options_.liveness) {}

void Coordinator::Note(const std::string& line) const {
  if (options_.on_note) options_.on_note(line);
}

std::string Coordinator::NameOf(uint32_t process) const {
  const MemberTable::Process* found = table_.Find(process);
  if (found == nullptr || !found->has_hosts()) {
    return absl::StrCat("client process ", process);
  }
  return absl::StrCat("the worker of ",
                      HostNames(topology_, found->member.hosts()));
}

void Coordinator::Refuse(PeerId peer, const absl::Status& why) {
  Note(absl::StrCat("refused: ", why.message()));
  process_.Send(peer, MakeRefusal(why));
  process_.transport().Close(peer);
}

void Coordinator::HandleStranger(const MembershipEvent& event) {
  const proto::Membership& said = event.said;
  // Ignores what may be the last message of a process that is considered gone,
  // or that has given up before it was let in. Its link ends too.
  if (said.has_pong() || said.has_link_broken() || said.has_member_leaves() ||
      said.has_refusal()) {
    return;
  }
  Refuse(event.peer, absl::FailedPreconditionError(
                         "the first message of a process must be its hello"));
}

size_t Coordinator::num_enough() const {
  return options_.min_hosts == 0 ? topology_.num_hosts() : options_.min_hosts;
}

bool Coordinator::AreEnoughLinked() const {
  return table_.HostsIn(MemberTable::kComing).empty() &&
         table_.HostsIn(MemberTable::kUp).size() >= num_enough();
}

proto::Cluster Coordinator::ClusterHere() const {
  return roster_.ClusterFor(HostTarget());
}

absl::StatusOr<std::vector<proto::Member>> Coordinator::AwaitHosts(
    SteadyTime until) {
  if (options_.min_hosts < 0 || options_.min_hosts > topology_.num_hosts()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cluster waits for ", options_.min_hosts,
                     " hosts to begin, but has ", topology_.num_hosts(),
                     Tag(ErrorId::kTooManyHostsAwaited)));
  }
  while (roster_.num_here() < num_enough()) {
    absl::StatusOr<std::optional<MembershipEvent>> next =
        process_.inbox().Next(until);
    if (!next.ok()) return next.status();
    if (!next->has_value()) {
      return absl::DeadlineExceededError(absl::StrCat(
          "no worker has joined for ", HostNames(topology_, roster_.Missing()),
          Tag(ErrorId::kWorkersMissing)));
    }
    const MembershipEvent& event = **next;
    if (event.what == MembershipEvent::kGone) {
      if (roster_.Leave(event.peer)) {
        Note("a worker left before the cluster began");
        NotifyEarly();
        TakeSpare();
      }
      Forget(event.peer);
    } else if (event.said.has_status_request()) {
      NotifyStatus(event.peer);
    } else if (event.said.has_member_hello()) {
      Admit(event.peer, event.said.member_hello());
    } else {
      HandleStranger(event);
    }
  }
  roster_.FixMachines();
  return roster_.Members();
}

absl::Status Coordinator::Begin(const proto::HostOptions& options,
                                SteadyTime until) {
  host_options_ = options;
  table_ = MemberTable(&topology_, roster_.Members(), roster_.Peers());
  last_tick_ = SteadyTime::Now();
  linking_ = true;
  NotifyEarly();
  for (const auto& [number, process] : table_.all()) {
    if (process.state == MemberTable::kGone) continue;
    absl::Status linked =
        Welcome(number, roster_.MachineOf(process.member.hosts(0)));
    if (!linked.ok()) Lose(number, linked);
  }
  while (!AreEnoughLinked()) {
    absl::StatusOr<bool> stepped = Step(until);
    if (!stepped.ok()) return stepped.status();
    if (*stepped || SteadyTime::Now() < until) continue;
    return absl::DeadlineExceededError(
        absl::StrCat("the workers of ", HostNames(topology_, table_.Missing()),
                     " were not connected to all other workers in time",
                     Tag(ErrorId::kWorkersMissing)));
  }
  begun_ = true;
  const std::vector<uint32_t> missing = table_.Missing();
  Note(missing.empty()
           ? absl::StrCat("all ", topology_.num_hosts(), " hosts have joined")
           : absl::StrCat(topology_.num_hosts() - missing.size(), " of ",
                          topology_.num_hosts(), " hosts have joined; ",
                          HostNames(topology_, missing), " may join later"));
  for (const auto& [peer, hello] : std::exchange(early_, {})) {
    Admit(peer, hello);
  }
  return absl::OkStatus();
}

absl::Status Coordinator::Welcome(uint32_t number,
                                  const proto::Target& machine) {
  const MemberTable::Process& process = *table_.Find(number);
  absl::Status linked = process_.links().Link(number, process.peer);
  if (!linked.ok()) return linked;
  proto::Membership message;
  proto::Welcome& welcome = *message.mutable_welcome();
  welcome.set_process(number);
  *welcome.mutable_cluster() = roster_.ClusterFor(machine);
  *welcome.mutable_options() = host_options_;
  for (proto::Member& member : table_.Members()) {
    *welcome.add_members() =
        process.has_hosts() ? std::move(member) : ForClients(member);
  }
  for (const auto& [other, client] : table_.all()) {
    if (process.has_hosts() && !client.has_hosts()) {
      *welcome.add_clients() = client.member;
    }
  }
  welcome.set_ping_ns(absl::ToInt64Nanoseconds(options_.liveness.ping));
  welcome.set_lost_ns(absl::ToInt64Nanoseconds(options_.liveness.lost));
  liveness_.Add(number);
  process_.Send(process.peer, message);
  return absl::OkStatus();
}

}  // namespace pathways
