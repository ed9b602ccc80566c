//===- process.cc - Links of a process to others --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/process.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "runtime/cluster/make_world.h"

namespace pathways {

absl::Status CheckMembers(const Topology& topology,
                          const std::vector<proto::Member>& members) {
  std::vector<bool> here(topology.num_hosts());
  size_t missing = here.size();
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].process() != i + 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("member ", i, " is process ", members[i].process(),
                       ", expected ", i + 1));
    }
    for (uint32_t host : members[i].hosts()) {
      if (host >= here.size() || here[host]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "process ", i + 1, " has host ", host,
            host >= here.size()
                ? absl::StrCat(", but the cluster has ", here.size())
                : ", which an earlier process already has"));
      }
      here[host] = true;
      --missing;
    }
  }
  if (missing == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(missing, " of ", here.size(), " hosts have no process"));
}

Process::Process()
    : links_({[this](PeerId peer, std::string_view bytes) {
                OnMembership(peer, bytes);
              },
              [this](PeerId peer, std::optional<uint32_t> process,
                     const absl::Status& why) {
                inbox_.Go(peer, process, why);
              }}) {}

Process::~Process() { Stop(); }

absl::StatusOr<std::unique_ptr<Process>> Process::Create(
    const TransportFactory& make) {
  std::unique_ptr<Process> process(new Process);
  absl::StatusOr<std::unique_ptr<Transport>> transport = make(&process->links_);
  if (!transport.ok()) return transport.status();
  process->transport_ = *std::move(transport);
  process->links_.Open(process->transport_.get());
  return process;
}

absl::Status Process::Start(uint32_t self, const proto::Cluster& cluster,
                            const ClusterOptions& options,
                            std::vector<proto::Member> members) {
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  absl::Status checked = CheckMembers(*topology, members);
  if (!checked.ok()) return checked;
  members_ = std::move(members);
  directory_ = DirectoryOf(*topology, members_);
  ProcessPart part;
  part.directory = directory_;
  part.process = self;
  part.places = {self * kMaxProcessClients,
                 self == kControllerProcess || self > members_.size()
                     ? kMaxProcessClients
                     : 0};
  part.make_world = [&](WorldListeners listeners) {
    auto world = MakeWorld(
        *topology, options, std::move(listeners),
        {links_.remote_channel(), /*has_hosts=*/part.places.count == 0});
    if (world.ok()) world_ = world->world.get();
    return world;
  };
  part.on_worker_lost = [this](int32_t host, uint32_t life,
                               const absl::Status& why) {
    inbox_.GetStuck(directory_.place(host).process, life, why);
  };
  absl::StatusOr<std::unique_ptr<Cluster>> made =
      Cluster::Create(cluster, options, part);
  if (!made.ok()) return made.status();
  cluster_ = *std::move(made);
  links_.Place(self, world_,
               [this](ActorId actor) { return ProcessOf(directory_, actor); });
  for (const proto::Member& member : members_) {
    if (member.gone()) Lose(member.process());
  }
  return absl::OkStatus();
}

void Process::OnMembership(PeerId peer, std::string_view bytes) {
  proto::Membership said;
  bool parsed = false;
  {
    // Otherwise text that is not UTF-8 is reported on stderr as well.
    google::protobuf::LogSilencer silence;
    parsed = said.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  if (!parsed || said.kind_case() == proto::Membership::KIND_NOT_SET) {
    return transport_->Close(peer);
  }
  // Answers here, where no kernel and no other event delays the answer.
  if (said.has_ping()) {
    proto::Membership pong;
    pong.mutable_pong();
    Send(peer, pong);
  }
  if (!inbox_.Say(peer, std::move(said))) transport_->Close(peer);
}

void Process::Send(PeerId peer, const proto::Membership& message) {
  links_.SendMembership(peer, message.SerializeAsString());
}

void Process::Lose(uint32_t process) {
  links_.Unlink(process);
  if (process == kControllerProcess || process > members_.size()) return;
  proto::Member& member = members_[process - 1];
  member.set_gone(true);
  for (uint32_t host : member.hosts()) {
    world_->peers().ReportPeerDown(static_cast<int32_t>(host), member.life());
  }
}

void Process::Come(const proto::Member& member) {
  members_[member.process() - 1] = member;
  for (uint32_t host : member.hosts()) {
    world_->peers().ReportPeerUp(static_cast<int32_t>(host), member.life());
  }
}

void Process::Stop() {
  if (transport_ != nullptr) transport_->Stop();
  if (cluster_ != nullptr) cluster_->Shutdown();
}

void Process::Fail(absl::Status why) {
  transport_->Stop();
  if (cluster_ != nullptr) cluster_->Shutdown(std::move(why));
}

}  // namespace pathways
