//===- membership_fuzz.cc - Claims of processes about themselves ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <set>
#include <string>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/node/cluster_status.h"
#include "runtime/node/host_options.h"
#include "runtime/node/member_table.h"
#include "runtime/node/node_transport.h"
#include "runtime/node/process.h"
#include "runtime/node/refusal.h"
#include "runtime/node/roster.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

// Two islands, of two hosts and of one; the last says what machine it is.
const Topology& SomeTopology() {
  static const auto* const topology = [] {
    proto::Cluster cluster;
    for (int hosts : {2, 1}) {
      proto::Island& island = *cluster.add_islands();
      for (int h = 0; h < hosts; ++h) island.add_hosts()->add_devices();
    }
    proto::Device& last =
        *cluster.mutable_islands(1)->mutable_hosts(0)->mutable_devices(0);
    last.mutable_target()->set_cpu("znver4");
    return new Topology(*Topology::Create(cluster));
  }();
  return *topology;
}

// A worker comes, or a client.
void CheckMemberHello(const proto::MemberHello& hello) {
  const Topology& topology = SomeTopology();
  Roster roster(&topology);
  const auto hosts = roster.HostsOf(hello, [](uint32_t) { return true; });
  const absl::Status joined = roster.Join(PeerId{1}, hello);
  FUZZ_CHECK(joined == hosts.status());
  if (!joined.ok()) return;
  FUZZ_CHECK(CheckHello(hello).ok() && !hosts->empty());
  FUZZ_CHECK(roster.Missing().size() + hosts->size() ==
             static_cast<size_t>(topology.num_hosts()));
  FUZZ_CHECK(roster.num_here() == hosts->size());
  // The cluster may begin with these.
  FUZZ_CHECK(CheckMembers(topology, roster.Members()).ok());
  FUZZ_CHECK(!roster.Join(PeerId{1}, hello).ok());
  // If the process may be any host, another process may join as well.
  FUZZ_CHECK(hello.has_any_host() || !roster.Join(PeerId{2}, hello).ok());
  // Others have the rest.
  for (uint32_t host : roster.Missing()) {
    proto::MemberHello other = hello;
    other.clear_hosts();
    other.clear_any_host();
    other.add_hosts(roster.HostName(host));
    other.mutable_target()->set_cpu("znver4");
    FUZZ_CHECK(roster.Join(PeerId{10 + host}, other).ok());
  }
  FUZZ_CHECK(roster.Missing().empty());
  const std::vector<proto::Member> members = roster.Members();
  FUZZ_CHECK(CheckMembers(topology, members).ok());
  roster.FixMachines();
  for (const proto::Target& reader : {hello.target(), proto::Target()}) {
    FUZZ_CHECK(Topology::Create(roster.ClusterFor(reader)).ok());
  }
  // It goes and comes again.
  MemberTable table(&topology, members, roster.Peers());
  const uint32_t number = table.ProcessOf(PeerId{1});
  FUZZ_CHECK(number != 0 && !table.Replace(PeerId{9}, hello, *hosts).ok());
  FUZZ_CHECK(table.Lose(number) && !table.Lose(number));
  const auto replaced = table.Replace(PeerId{9}, hello, *hosts);
  FUZZ_CHECK(replaced.ok() && *replaced == number);
  FUZZ_CHECK(table.Find(number)->member.life() == 2);
  const proto::Member told = ForClients(table.Find(number)->member);
  for (const std::string& address : told.addresses()) {
    FUZZ_CHECK(!IsUcxAddress(address));
  }
  FUZZ_CHECK(roster.Leave(PeerId{1}));
  FUZZ_CHECK(roster.Missing() == *hosts);
}

void CheckWelcome(const proto::Welcome& welcome) {
  const ClusterOptions options = ToClusterOptions(welcome.options());
  const absl::Status fine = CheckOptions(options);
  FUZZ_CHECK(fine.ok() || absl::IsInvalidArgument(fine));
  const proto::HostOptions told = ToHostOptions(options);
  proto::HostOptions known = welcome.options();
  known.DiscardUnknownFields();
  FUZZ_CHECK(told.SerializeAsString() == known.SerializeAsString());

  const auto topology = Topology::Create(welcome.cluster());
  if (!topology.ok()) return;
  const std::vector<proto::Member> members(welcome.members().begin(),
                                           welcome.members().end());
  if (!CheckMembers(*topology, members).ok()) return;
  const Directory directory = DirectoryOf(*topology, members);
  FUZZ_CHECK(directory.num_hosts() ==
             static_cast<uint32_t>(topology->num_hosts()));
  std::set<ActorId> seen;
  for (const proto::Member& member : members) {
    for (uint32_t host : member.hosts()) {
      FUZZ_CHECK(seen.insert(directory.executor(host)).second);
      FUZZ_CHECK(ProcessOf(directory, directory.executor(host)) ==
                 int64_t{member.process()});
    }
  }
  FUZZ_CHECK(seen.size() == directory.num_hosts());
}

void CheckStatus(const proto::ClusterStatus& status) {
  FUZZ_CHECK(StatusText(status).back() == '\n');
  const std::string json = StatusJson(status);
  FUZZ_CHECK(json.size() > 2 && json.front() == '{' && json.back() == '\n');
}

}  // namespace

// A process of the status that is two bytes long is a line of a table, whose
// cells are as wide as the widest.
const fuzz::Budget fuzz::kBudget = {1 << 20, 2000};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  const google::protobuf::LogSilencer silence;
  proto::Membership said;
  if (!said.ParseFromArray(data, static_cast<int>(size))) return 0;
  switch (said.kind_case()) {
    case proto::Membership::kMemberHello:
      CheckMemberHello(said.member_hello());
      break;
    case proto::Membership::kWelcome:
      CheckWelcome(said.welcome());
      break;
    case proto::Membership::kRefusal:
      FUZZ_CHECK(!ReadRefusal(said.refusal()).ok());
      FUZZ_CHECK(!ReadRefusalOfController(said.refusal()).ok());
      break;
    case proto::Membership::kStatus:
      CheckStatus(said.status());
      break;
    default:
      break;
  }
  return 0;
}
