//===- roster.cc - Workers that a cluster begins with ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/roster.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/binding/plan_binding.h"
#include "runtime/cluster/local_actors.h"
#include "runtime/program/host_actors.h"

namespace pathways {
namespace {

bool IsOpen(const proto::Target& target) {
  return target.triple().empty() && target.cpu().empty();
}

}  // namespace

absl::Status CheckHello(const proto::MemberHello& hello) {
  if (hello.version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the process speaks version ", hello.version(),
                     " of the protocol, expected version ", kProtocolVersion,
                     Tag(ErrorId::kOtherVersion)));
  }
  if (hello.epoch().size() != kEpochBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the epoch has ", hello.epoch().size(),
                     " bytes, expected ", kEpochBytes));
  }
  return absl::OkStatus();
}

Roster::Roster(const Topology* topology)
    : topology_(*topology), here_(topology->num_hosts()) {
  for (int h = 0; h < topology->num_hosts(); ++h) {
    host_of_.emplace(topology->HostName(h), h);
  }
}

absl::Status Roster::CheckTarget(int host, const proto::Target& target) const {
  const int island = topology_.island_of_host(host);
  for (int d = 0; d < topology_.num_host_devices(host); ++d) {
    const int64_t device = topology_.first_device(host) + d;
    const proto::Target& file = topology_.device(island, device).target();
    const proto::Target& said =
        IsOpen(file) && !kind_of_.empty() ? MachineOf(host) : file;
    if ((!said.triple().empty() && said.triple() != target.triple()) ||
        (!said.cpu().empty() && said.cpu() != target.cpu())) {
      return absl::FailedPreconditionError(absl::StrCat(
          "device ", topology_.DeviceName(island, device), " is a ",
          said.triple(), " ", said.cpu(), " in the cluster, but the worker's ",
          "machine is a ", target.triple(), " ", target.cpu(),
          Tag(ErrorId::kOtherMachine)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Roster::AnyHost(
    const proto::MemberHello& hello,
    absl::FunctionRef<bool(uint32_t host)> is_free) const {
  const std::string& name = hello.any_host().island();
  bool is_there = name.empty();
  absl::Status why;
  for (int host = 0; host < topology_.num_hosts(); ++host) {
    if (!name.empty() &&
        topology_.IslandName(topology_.island_of_host(host)) != name) {
      continue;
    }
    is_there = true;
    if (!is_free(host)) continue;
    absl::Status fits = CheckTarget(host, hello.target());
    if (fits.ok()) return host;
    why.Update(fits);
  }
  if (!is_there) {
    return absl::NotFoundError(absl::StrCat(
        "the cluster has no island '", name, "'; it has '",
        topology_.IslandName(0), "'",
        topology_.num_islands() > 1
            ? absl::StrCat(" and ", topology_.num_islands() - 1, " more")
            : "",
        Tag(ErrorId::kNoSuchHost)));
  }
  if (!why.ok()) return why;
  return absl::AlreadyExistsError(absl::StrCat(
      "every host of ",
      name.empty() ? "the cluster" : absl::StrCat("island '", name, "'"),
      " already has a worker", Tag(ErrorId::kHostTaken)));
}

absl::StatusOr<std::vector<uint32_t>> Roster::HostsOf(
    const proto::MemberHello& hello,
    absl::FunctionRef<bool(uint32_t host)> is_free) const {
  absl::Status checked = CheckHello(hello);
  if (!checked.ok()) return checked;
  if (!IsWorker(hello) || hello.addresses().empty()) {
    return absl::InvalidArgumentError(!IsWorker(hello)
                                          ? "the worker names no host"
                                          : "the worker has no address");
  }
  // The machine becomes part of the cluster description, which is checked
  // everywhere.
  checked = pathways::CheckTarget("the worker's machine", hello.target());
  if (!checked.ok()) return checked;
  if (hello.has_any_host()) {
    if (!hello.hosts().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the worker asks for any host, but also names '",
                       hello.hosts(0), "'"));
    }
    absl::StatusOr<uint32_t> host = AnyHost(hello, is_free);
    if (!host.ok()) return host.status();
    return std::vector<uint32_t>{*host};
  }
  std::vector<uint32_t> hosts;
  for (const std::string& name : hello.hosts()) {
    auto found = host_of_.find(name);
    if (found == host_of_.end()) {
      return absl::NotFoundError(
          absl::StrCat("the cluster has no host '", name, "'; it has '",
                       topology_.HostName(0), "'",
                       host_of_.size() > 1
                           ? absl::StrCat(" and ", host_of_.size() - 1, " more")
                           : "",
                       Tag(ErrorId::kNoSuchHost)));
    }
    absl::Status fits = CheckTarget(found->second, hello.target());
    if (!fits.ok()) return fits;
    hosts.push_back(static_cast<uint32_t>(found->second));
  }
  std::sort(hosts.begin(), hosts.end());
  auto twice = std::adjacent_find(hosts.begin(), hosts.end());
  if (twice != hosts.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the worker names host '", HostName(*twice), "' twice"));
  }
  return hosts;
}

absl::Status Roster::Join(PeerId peer, const proto::MemberHello& hello) {
  for (const auto& [first, worker] : workers_) {
    if (worker.peer == peer) {
      return absl::FailedPreconditionError("the worker has already joined");
    }
  }
  absl::StatusOr<std::vector<uint32_t>> hosts =
      HostsOf(hello, [this](uint32_t host) { return !IsHere(host); });
  if (!hosts.ok()) return hosts.status();
  for (uint32_t host : *hosts) {
    if (here_[host]) {
      return absl::AlreadyExistsError(absl::StrCat("host '", HostName(host),
                                                   "' already has a worker",
                                                   Tag(ErrorId::kHostTaken)));
    }
  }
  for (uint32_t host : *hosts) here_[host] = true;
  num_here_ += hosts->size();
  const int first = static_cast<int>(hosts->front());
  workers_.emplace(first, Worker{peer, hello, *std::move(hosts)});
  return absl::OkStatus();
}

bool Roster::Leave(PeerId peer) {
  for (auto it = workers_.begin(); it != workers_.end(); ++it) {
    if (it->second.peer != peer) continue;
    for (uint32_t host : it->second.hosts) here_[host] = false;
    num_here_ -= it->second.hosts.size();
    workers_.erase(it);
    return true;
  }
  return false;
}

std::vector<uint32_t> Roster::Missing() const {
  std::vector<uint32_t> hosts;
  for (uint32_t h = 0; h < here_.size(); ++h) {
    if (!here_[h]) hosts.push_back(h);
  }
  return hosts;
}

void Roster::ForEachProcess(
    absl::FunctionRef<void(int, const Worker*)> visit) const {
  for (int host = 0; host < topology_.num_hosts(); ++host) {
    const auto worker = workers_.find(host);
    if (worker != workers_.end()) {
      visit(host, &worker->second);
    } else if (!here_[host]) {
      visit(host, nullptr);
    }
  }
}

std::vector<PeerId> Roster::Peers() const {
  std::vector<PeerId> peers;
  ForEachProcess([&](int, const Worker* worker) {
    peers.push_back(worker == nullptr ? PeerId{} : worker->peer);
  });
  return peers;
}

std::vector<proto::Member> Roster::Members() const {
  std::vector<proto::Member> members;
  ForEachProcess([&](int first, const Worker* worker) {
    proto::Member& member = members.emplace_back();
    member.set_process(static_cast<uint32_t>(members.size()));
    member.set_life(1);
    if (worker == nullptr) {
      member.add_hosts(static_cast<uint32_t>(first));
      member.set_gone(true);
      return;
    }
    member.set_epoch(worker->hello.epoch());
    *member.mutable_addresses() = worker->hello.addresses();
    member.mutable_hosts()->Assign(worker->hosts.begin(), worker->hosts.end());
  });
  return members;
}

uint32_t Roster::KindOf(const proto::Target& machine) {
  const auto kind = std::find_if(
      kinds_.begin(), kinds_.end(),
      [&](const proto::Target& known) { return IsSameTarget(known, machine); });
  const auto number = static_cast<uint32_t>(kind - kinds_.begin());
  if (kind == kinds_.end()) kinds_.push_back(machine);
  return number;
}

void Roster::FixMachines() {
  kinds_.clear();
  kind_of_.assign(topology_.num_hosts(), 0);
  for (const auto& [first, worker] : workers_) {
    const uint32_t kind = KindOf(worker.hello.target());
    for (uint32_t host : worker.hosts) kind_of_[host] = kind;
  }
  for (uint32_t host : Missing()) {
    const int island = topology_.island_of_host(static_cast<int>(host));
    const auto first = here_.begin() + topology_.first_host(island);
    const auto end = first + topology_.num_hosts(island);
    auto like = std::find(first, end, true);
    if (like == end) like = std::find(here_.begin(), here_.end(), true);
    kind_of_[host] = kind_of_[like - here_.begin()];
  }
}

proto::Cluster Roster::ClusterFor(const proto::Target& reader) const {
  proto::Cluster cluster = topology_.cluster();
  std::vector<bool> is_own;  // by kind
  for (const proto::Target& kind : kinds_) {
    is_own.push_back(IsSameTarget(kind, reader));
  }
  auto kind = kind_of_.begin();
  for (proto::Island& island : *cluster.mutable_islands()) {
    for (proto::Host& host : *island.mutable_hosts()) {
      const uint32_t here = *kind++;
      if (is_own[here]) continue;
      for (proto::Device& device : *host.mutable_devices()) {
        if (IsOpen(device.target())) *device.mutable_target() = kinds_[here];
      }
    }
  }
  return cluster;
}

Directory DirectoryOf(const Topology& topology,
                      const std::vector<proto::Member>& members) {
  std::vector<HostLocation> hosts(topology.num_hosts());
  for (const proto::Member& member : members) {
    for (uint32_t host : member.hosts()) {
      hosts[host] = {member.process(), member.life()};
    }
  }
  return DirectoryOf(topology, std::move(hosts));
}

int64_t ProcessOf(const Directory& directory, ActorId actor) {
  const std::optional<Address> address = directory.Find(actor);
  if (!address.has_value()) return -1;
  switch (address->role) {
    case Role::kController:
    case Role::kScheduler:
      return directory.place(-1).process;
    case Role::kExecutor:
      return directory.place(static_cast<int32_t>(address->index)).process;
    case Role::kReporter:
      return address->index;
    case Role::kClient:
      return address->index / kMaxProcessClients;
  }
  return -1;
}

}  // namespace pathways
