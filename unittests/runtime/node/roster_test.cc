//===- roster_test.cc - Admission and numbering of members ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

class RosterTest : public ::testing::Test {
 protected:
  static Topology Make(const std::string& text) {
    return *Topology::Create(*ReadTopology(text));
  }
  static proto::MemberHello Hello(const std::vector<std::string>& hosts) {
    proto::MemberHello hello;
    hello.set_version(kProtocolVersion);
    hello.set_epoch(std::string(kEpochBytes, 'e'));
    hello.add_addresses("local:w");
    hello.mutable_target()->set_triple("t");
    hello.mutable_target()->set_cpu("c");
    for (const std::string& host : hosts) hello.add_hosts(host);
    return hello;
  }
  void ExpectRefused(const proto::MemberHello& hello, absl::StatusCode code,
                     const std::string& message) {
    const absl::Status status = roster_.Join(PeerId{9}, hello);
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), message);
  }

  const Topology topology_ = Make("2x2x1");
  Roster roster_{&topology_};
};

TEST_F(RosterTest, NumbersFollowFromHosts) {
  EXPECT_TRUE(roster_.Join(PeerId{5}, Hello({"host3", "host2"})).ok());
  EXPECT_THAT(roster_.Missing(), ElementsAre(0, 1));
  EXPECT_TRUE(roster_.Join(PeerId{7}, Hello({"host1"})).ok());
  EXPECT_TRUE(roster_.Join(PeerId{6}, Hello({"host0"})).ok());
  EXPECT_TRUE(roster_.Missing().empty());
  EXPECT_THAT(roster_.Peers(), ElementsAre(PeerId{6}, PeerId{7}, PeerId{5}));
  const std::vector<proto::Member> members = roster_.Members();
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[2].process(), 3u);
  EXPECT_THAT(members[2].hosts(), ElementsAre(2u, 3u));
  const Directory directory = DirectoryOf(topology_, members);
  EXPECT_EQ(directory.place(-1).process, 0u);
  EXPECT_EQ(directory.place(1).process, 2u);
  EXPECT_EQ(directory.place(3).process, 3u);
}

TEST_F(RosterTest, WhoLeavesMayComeAgain) {
  EXPECT_TRUE(roster_.Join(PeerId{1}, Hello({"host0", "host1"})).ok());
  EXPECT_FALSE(roster_.Leave(PeerId{2}));
  EXPECT_TRUE(roster_.Leave(PeerId{1}));
  EXPECT_EQ(roster_.Missing().size(), 4u);
  EXPECT_TRUE(roster_.Join(PeerId{3}, Hello({"host1"})).ok());
}

TEST_F(RosterTest, WhoDoesNotFitIsRefused) {
  using Code = absl::StatusCode;
  ASSERT_TRUE(roster_.Join(PeerId{1}, Hello({"host0"})).ok());
  EXPECT_EQ(roster_.Join(PeerId{1}, Hello({"host1"})).message(),
            "the worker has already joined");
  ExpectRefused(Hello({"host0"}), Code::kAlreadyExists,
                "host 'host0' already has a worker [PW7104]");
  ExpectRefused(
      Hello({"host9"}), Code::kNotFound,
      "the cluster has no host 'host9'; it has 'host0' and 3 more [PW7103]");
  ExpectRefused(Hello({"host1", "host1"}), Code::kInvalidArgument,
                "the worker names host 'host1' twice");
  ExpectRefused(Hello({}), Code::kInvalidArgument, "the worker names no host");
  proto::MemberHello hello = Hello({"host1"});
  hello.clear_addresses();
  ExpectRefused(hello, Code::kInvalidArgument, "the worker has no address");
  hello = Hello({"host1"});
  hello.set_version(77);
  ExpectRefused(
      hello, Code::kFailedPrecondition,
      absl::StrCat(
          "the process speaks version 77 of the protocol, expected version ",
          kProtocolVersion, " [PW7101]"));
  hello = Hello({"host1"});
  hello.set_epoch("short");
  ExpectRefused(hello, Code::kInvalidArgument,
                "the epoch has 5 bytes, expected 16");
  hello = Hello({"host1"});
  hello.mutable_target()->set_cpu("a b");
  ExpectRefused(hello, Code::kInvalidArgument,
                "the worker's machine: target cpu 'a b' has ' ', expected "
                "printable ASCII without spaces");
  // Nothing of these counts.
  EXPECT_THAT(roster_.Missing(), ElementsAre(1, 2, 3));
}

TEST_F(RosterTest, MachinesAreAsTheClusterSays) {
  proto::Cluster cluster = topology_.cluster();
  proto::Target* target = cluster.mutable_islands(0)
                              ->mutable_hosts(0)
                              ->mutable_devices(0)
                              ->mutable_target();
  target->set_triple("t");
  target->set_cpu("other");
  const Topology topology = *Topology::Create(cluster);
  Roster roster(&topology);
  const absl::Status status = roster.Join(PeerId{1}, Hello({"host0"}));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "device island0/host0/device0 is a t other in the cluster, but the "
            "worker's machine is a t c [PW7102]");
  EXPECT_TRUE(roster.Join(PeerId{1}, Hello({"host1"})).ok());
}

TEST_F(RosterTest, WhoMayBeAnyHostTakesTheFirstThatIsFreeAndFits) {
  using Code = absl::StatusCode;
  ASSERT_TRUE(roster_.Join(PeerId{1}, Hello({"host0"})).ok());
  proto::MemberHello any = Hello({});
  any.mutable_any_host();
  ASSERT_TRUE(roster_.Join(PeerId{2}, any).ok());
  EXPECT_THAT(roster_.Missing(), ElementsAre(2, 3));
  proto::MemberHello of_island = any;
  of_island.mutable_any_host()->set_island("island0");
  ExpectRefused(of_island, Code::kAlreadyExists,
                "every host of island 'island0' already has a worker [PW7104]");
  of_island.mutable_any_host()->set_island("island7");
  ExpectRefused(of_island, Code::kNotFound,
                "the cluster has no island 'island7'; it has 'island0' and 1 "
                "more [PW7103]");
  of_island.mutable_any_host()->set_island("island1");
  proto::MemberHello both = of_island;
  both.add_hosts("host3");
  ExpectRefused(both, Code::kInvalidArgument,
                "the worker asks for any host, but also names 'host3'");
  // From when the machines are known, it has to be like those.
  of_island.mutable_target()->set_cpu("other");
  ASSERT_TRUE(roster_.Join(PeerId{3}, of_island).ok());
  roster_.FixMachines();
  const auto any_place = [](uint32_t) { return true; };
  EXPECT_THAT(*roster_.HostsOf(any, any_place), ElementsAre(0u));
  any.mutable_target()->set_cpu("other");
  EXPECT_THAT(*roster_.HostsOf(any, any_place), ElementsAre(2u));
  EXPECT_THAT(*roster_.HostsOf(any, [](uint32_t host) { return host != 2; }),
              ElementsAre(3u));
  any.mutable_target()->set_cpu("third");
  EXPECT_EQ(roster_.HostsOf(any, any_place).status().message(),
            "device island0/host0/device0 is a t c in the cluster, but the "
            "worker's machine is a t third [PW7102]");
  any.mutable_target()->set_cpu("other");
  EXPECT_EQ(
      roster_.HostsOf(any, [](uint32_t) { return false; }).status().message(),
      "every host of the cluster already has a worker [PW7104]");
}

TEST_F(RosterTest, HostsThatHaveNotComeAreProcessesThatAreGone) {
  ASSERT_TRUE(roster_.Join(PeerId{4}, Hello({"host1", "host3"})).ok());
  EXPECT_EQ(roster_.num_here(), 2u);
  EXPECT_THAT(roster_.Peers(), ElementsAre(PeerId{}, PeerId{4}, PeerId{}));
  const std::vector<proto::Member> members = roster_.Members();
  ASSERT_EQ(members.size(), 3u);
  EXPECT_TRUE(members[0].gone() && members[2].gone());
  EXPECT_THAT(members[0].hosts(), ElementsAre(0u));
  EXPECT_FALSE(members[1].gone());
  EXPECT_THAT(members[2].hosts(), ElementsAre(2u));
  EXPECT_EQ(members[2].process(), 3u);
  EXPECT_EQ(DirectoryOf(topology_, members).place(2).process, 3u);
}

// Returns the CPU of each of the four devices, for a reader on that machine.
std::vector<std::string> Cpus(const Roster& roster, const std::string& reader) {
  proto::Target target;
  target.set_triple("t");
  target.set_cpu(reader);
  const Topology topology = *Topology::Create(roster.ClusterFor(target));
  std::vector<std::string> cpus;
  for (int64_t d = 0; d < topology.num_devices(); ++d) {
    cpus.push_back(topology.global_device(d).target().cpu());
  }
  return cpus;
}

TEST_F(RosterTest, OpenTargetsAreThoseOfTheMachinesWhereTheReaderIsOnAnother) {
  proto::MemberHello other = Hello({"host3"});
  other.mutable_target()->set_cpu("other");
  ASSERT_TRUE(roster_.Join(PeerId{1}, Hello({"host0"})).ok());
  ASSERT_TRUE(roster_.Join(PeerId{2}, other).ok());
  roster_.FixMachines();
  // Hosts that have not joined are like the first one of their island.
  EXPECT_THAT(Cpus(roster_, "c"), ElementsAre("", "", "other", "other"));
  EXPECT_THAT(Cpus(roster_, "other"), ElementsAre("c", "c", "", ""));
  EXPECT_THAT(Cpus(roster_, "third"), ElementsAre("c", "c", "other", "other"));
  // And so they have to be.
  const auto none = [](uint32_t) { return false; };  // by name it may be taken
  EXPECT_TRUE(roster_.HostsOf(Hello({"host1"}), none).ok());
  EXPECT_EQ(roster_.HostsOf(Hello({"host2"}), none).status().message(),
            "device island1/host2/device0 is a t other in the cluster, but the "
            "worker's machine is a t c [PW7102]");
}

TEST_F(RosterTest, ActorsAreWhereTheirHostsAre) {
  ASSERT_TRUE(roster_.Join(PeerId{1}, Hello({"host2", "host3"})).ok());
  ASSERT_TRUE(roster_.Join(PeerId{2}, Hello({"host0", "host1"})).ok());
  const Directory directory = DirectoryOf(topology_, roster_.Members());
  EXPECT_EQ(ProcessOf(directory, directory.controller()), 0);
  EXPECT_EQ(ProcessOf(directory, directory.scheduler(1)), 0);
  EXPECT_EQ(ProcessOf(directory, directory.executor(1)), 1);
  EXPECT_EQ(ProcessOf(directory, directory.executor(3)), 2);
  EXPECT_EQ(ProcessOf(directory, directory.reporter(2)), 2);
  EXPECT_EQ(ProcessOf(directory, directory.client(0)), 0);
  EXPECT_EQ(ProcessOf(directory, directory.client(kMaxProcessClients - 1)), 0);
  EXPECT_EQ(ProcessOf(directory, directory.client(kMaxProcessClients)), 1);
  EXPECT_EQ(ProcessOf(directory, kNoActor), -1);
}

}  // namespace
}  // namespace pathways
