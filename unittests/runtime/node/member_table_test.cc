//===- member_table_test.cc - The processes of a cluster ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/member_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/world/process_links.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MemberTableTest : public ::testing::Test {
 protected:
  static std::vector<proto::Member> Two() {
    std::vector<proto::Member> members(2);
    members[0].set_process(1);
    members[0].add_hosts(0);
    members[0].add_hosts(2);
    members[1].set_process(2);
    members[1].add_hosts(1);
    for (proto::Member& member : members) {
      member.set_epoch("e");
      member.set_life(1);
    }
    return members;
  }

  static proto::MemberHello Hello() {
    proto::MemberHello hello;
    hello.set_epoch("e");
    hello.add_addresses("a");
    return hello;
  }

  const Topology topology_ = *Topology::Create(*ReadTopology("1x3x1"));
  MemberTable table_{&topology_, Two(), {PeerId{8}, PeerId{9}}};
};

TEST_F(MemberTableTest, AWorkerTakesThePlaceOfOneThatIsGone) {
  EXPECT_THAT(table_.Missing(), ElementsAre(0, 1, 2));
  table_.SetUp(2);
  EXPECT_THAT(table_.Missing(), ElementsAre(0, 2));
  table_.SetUp(1);
  EXPECT_THAT(table_.Missing(), IsEmpty());
  EXPECT_EQ(table_.ProcessOf(PeerId{8}), 1u);
  EXPECT_EQ(table_.Replace(PeerId{5}, Hello(), {0, 2}).status().message(),
            "another worker has 'host0', 'host2' [PW7104]");
  EXPECT_TRUE(table_.Lose(1));
  EXPECT_FALSE(table_.Lose(1));
  EXPECT_EQ(table_.ProcessOf(PeerId{8}), 0u);
  EXPECT_TRUE(table_.Members()[0].gone());
  EXPECT_EQ(table_.Replace(PeerId{5}, Hello(), {0}).status().message(),
            "the worker that is gone had 'host0', 'host2'; its replacement "
            "must have the same hosts, but this worker has 'host0'");
  auto process = table_.Replace(PeerId{5}, Hello(), {0, 2});
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ(*process, 1u);
  EXPECT_THAT(table_.Missing(), ElementsAre(0, 2));
  EXPECT_EQ(table_.ProcessOf(PeerId{5}), 1u);
  EXPECT_FALSE(table_.Members()[0].gone());
  EXPECT_EQ(table_.Members()[0].life(), 2u);
  EXPECT_THAT(table_.Members()[0].addresses(), ::testing::ElementsAre("a"));
}

TEST_F(MemberTableTest, WhoComesLaterHasItsHostAlone) {
  std::vector<proto::Member> members = Two();
  members[1].clear_epoch();
  members[1].set_gone(true);
  MemberTable table(&topology_, members, {PeerId{8}, PeerId{}});
  EXPECT_THAT(table.HostsIn(MemberTable::kGone), ElementsAre(1));
  EXPECT_THAT(table.HostsIn(MemberTable::kComing), ElementsAre(0, 2));
  EXPECT_EQ(table.ProcessOf(PeerId{}), 0u);
  EXPECT_EQ(table.Replace(PeerId{5}, Hello(), {1, 2}).status().message(),
            "another worker has 'host0', 'host2' [PW7104]");
  EXPECT_TRUE(table.IsFree(1));
  EXPECT_TRUE(table.Lose(1));
  EXPECT_FALSE(table.IsFree(0));  // for one of both alone
  EXPECT_EQ(table.Replace(PeerId{5}, Hello(), {1, 2}).status().message(),
            "the worker that is gone had 'host0', 'host2'; its replacement "
            "must have the same hosts, but this worker has 'host1', 'host2'");
  EXPECT_EQ(*table.Replace(PeerId{5}, Hello(), {1}), 2u);
  EXPECT_FALSE(table.IsFree(1));
  EXPECT_THAT(table.HostsIn(MemberTable::kComing), ElementsAre(1));
  EXPECT_EQ(table.Members()[1].life(), 2u);
}

TEST_F(MemberTableTest, NumbersOfClientsAreNotUsedAgainAtOnce) {
  auto first = table_.AddClient(PeerId{3}, "e");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, 3u);
  EXPECT_TRUE(table_.Lose(3));
  EXPECT_EQ(table_.Find(3), nullptr);
  EXPECT_EQ(*table_.AddClient(PeerId{3}, "e"), 4u);
  EXPECT_EQ(table_.Members().size(), 2u);
  for (uint32_t i = 5; i < kMaxProcesses; ++i) {
    ASSERT_TRUE(table_.AddClient(PeerId{i}, "e").ok());
  }
  EXPECT_EQ(*table_.AddClient(PeerId{3}, "e"), 3u);
  EXPECT_EQ(table_.AddClient(PeerId{2}, "e").status().message(),
            "the cluster already has 4096 processes, which is the limit");
}

}  // namespace
}  // namespace pathways
