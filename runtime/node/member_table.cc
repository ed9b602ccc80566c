//===- member_table.cc - The processes of a cluster -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/member_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/node/host_names.h"
#include "runtime/node/node_transport.h"
#include "runtime/world/process_links.h"

namespace pathways {

MemberTable::MemberTable(const Topology* topology,
                         const std::vector<proto::Member>& members,
                         const std::vector<PeerId>& peers)
    : topology_(topology) {
  for (size_t i = 0; i < members.size(); ++i) {
    processes_[members[i].process()] = {members[i], peers[i],
                                        members[i].gone() ? kGone : kComing};
  }
  last_client_ = static_cast<uint32_t>(members.size());
}

absl::StatusOr<uint32_t> MemberTable::AddClient(PeerId peer,
                                                const std::string& epoch) {
  // A number that was just freed is not reused at once, since messages from or
  // to its process may still be in flight.
  for (uint32_t tried = 0; tried < kMaxProcesses; ++tried) {
    last_client_ = (last_client_ + 1) % kMaxProcesses;
    if (last_client_ == 0 || processes_.contains(last_client_)) continue;
    Process& process = processes_[last_client_];
    process.peer = peer;
    process.member.set_process(last_client_);
    process.member.set_epoch(epoch);
    return last_client_;
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("the cluster already has ", kMaxProcesses,
                   " processes, which is the limit"));
}

absl::StatusOr<uint32_t> MemberTable::Replace(
    PeerId peer, const proto::MemberHello& hello,
    const std::vector<uint32_t>& hosts) {
  for (auto& [number, process] : processes_) {
    proto::Member& member = process.member;
    const bool shares = std::any_of(
        member.hosts().begin(), member.hosts().end(), [&](uint32_t host) {
          return std::binary_search(hosts.begin(), hosts.end(), host);
        });
    if (!shares) continue;
    if (process.state != kGone) {
      return absl::AlreadyExistsError(absl::StrCat(
          "another worker has ", HostNames(*topology_, member.hosts()),
          Tag(ErrorId::kHostTaken)));
    }
    if (!std::equal(member.hosts().begin(), member.hosts().end(), hosts.begin(),
                    hosts.end())) {
      const std::string had = HostNames(*topology_, member.hosts());
      return absl::FailedPreconditionError(absl::StrCat(
          member.epoch().empty()
              ? absl::StrCat("the cluster began without a worker for ", had,
                             "; a worker that joins later must have only "
                             "that host")
              : absl::StrCat("the worker that is gone had ", had,
                             "; its replacement must have the same hosts"),
          ", but this worker has ", HostNames(*topology_, hosts)));
    }
    process.peer = peer;
    process.state = kComing;
    member.set_epoch(hello.epoch());
    *member.mutable_addresses() = hello.addresses();
    member.set_life(member.life() + 1);
    member.set_gone(false);
    return number;
  }
  return absl::NotFoundError(absl::StrCat("no worker of the cluster ever had ",
                                          HostNames(*topology_, hosts),
                                          Tag(ErrorId::kNoSuchHost)));
}

bool MemberTable::IsFree(uint32_t host) const {
  return std::any_of(
      processes_.begin(), processes_.end(), [&](const auto& entry) {
        const proto::Member& member = entry.second.member;
        return entry.second.state == kGone && member.hosts_size() == 1 &&
               member.hosts(0) == host;
      });
}

bool MemberTable::Lose(uint32_t number) {
  auto found = processes_.find(number);
  if (found == processes_.end() || found->second.state == kGone) return false;
  if (!found->second.has_hosts()) {
    processes_.erase(found);
    return true;
  }
  found->second.state = kGone;
  found->second.member.set_gone(true);
  return true;
}

void MemberTable::SetUp(uint32_t process) {
  auto found = processes_.find(process);
  if (found != processes_.end()) found->second.state = kUp;
}

const MemberTable::Process* MemberTable::Find(uint32_t process) const {
  auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

uint32_t MemberTable::ProcessOf(PeerId peer) const {
  for (const auto& [number, process] : processes_) {
    if (process.peer == peer && process.state != kGone) return number;
  }
  return 0;
}

std::vector<proto::Member> MemberTable::Members() const {
  std::vector<proto::Member> members;
  for (const auto& [number, process] : processes_) {
    if (process.has_hosts()) members.push_back(process.member);
  }
  return members;
}

std::vector<uint32_t> MemberTable::HostsIn(State state) const {
  std::vector<uint32_t> hosts;
  for (const auto& [number, process] : processes_) {
    if (process.state != state) continue;
    hosts.insert(hosts.end(), process.member.hosts().begin(),
                 process.member.hosts().end());
  }
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

std::vector<uint32_t> MemberTable::Missing() const {
  std::vector<uint32_t> hosts = HostsIn(kGone);
  const std::vector<uint32_t> coming = HostsIn(kComing);
  hosts.insert(hosts.end(), coming.begin(), coming.end());
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

proto::Member ForClients(proto::Member member) {
  auto* addresses = member.mutable_addresses();
  addresses->erase(std::remove_if(addresses->begin(), addresses->end(),
                                  [](const std::string& address) {
                                    return IsUcxAddress(address);
                                  }),
                   addresses->end());
  return member;
}

}  // namespace pathways
