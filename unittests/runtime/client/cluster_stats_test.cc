//===- cluster_stats_test.cc - Statistics of the processes of a cluster ---===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/cluster_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ClusterStatsTest, HostsAreInTheirOrderWhereverTheyAre) {
  proto::ProcessStats a, b;
  auto add = [](proto::ProcessStats& process, uint32_t number,
                const char* name) {
    proto::HostStats* host = process.add_hosts();
    host->set_host(number);
    host->set_name(name);
    host->set_object_bytes(10);
    proto::DeviceStats* device = host->add_devices();
    device->set_name(std::string(name) + "/device0");
    device->set_busy_ns(number + 100);
    device->set_waiting_ns(number + 200);
    process.set_firings(process.firings() + 3);
  };
  add(a, 2, "c");
  add(a, 0, "a");
  add(b, 1, "b");
  for (proto::ProcessStats* process : {&a, &b}) {
    proto::MessageCount* count = process->add_messages();
    count->set_kind("token");
    count->set_sent(4);
  }
  b.set_controller_messages(5);
  a.set_process(7);
  a.set_plan_bytes_received(100);
  a.mutable_links()->set_messages_sent(1);
  a.mutable_links()->set_bytes_sent(2);
  a.mutable_links()->set_messages_received(3);
  a.mutable_links()->set_bytes_received(4);
  a.mutable_links()->set_unlinked(5);
  a.mutable_links()->set_foreign(6);
  a.mutable_links()->set_frames_sent(7);
  a.mutable_links()->set_frames_received(8);
  b.set_plan_bytes_sent(100);
  const ClusterStats stats = JoinStats({&a, &b});
  ASSERT_EQ(stats.processes.size(), 2u);
  EXPECT_EQ(stats.processes[0].process, 0u);
  EXPECT_EQ(stats.processes[0].plan_bytes_sent, 100u);
  EXPECT_THAT(stats.processes[0].hosts, ElementsAre("b"));
  EXPECT_THAT(stats.processes[1].hosts, ElementsAre("c", "a"));
  const LinkStats& links = stats.processes[1].links;
  EXPECT_THAT((std::vector{links.messages_sent, links.bytes_sent,
                           links.messages_received, links.bytes_received,
                           links.unlinked, links.foreign, links.frames_sent,
                           links.frames_received}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(stats.processes[1].plan_bytes_received, 100u);
  ASSERT_EQ(stats.hosts.size(), 3u);
  EXPECT_EQ(stats.hosts[0].name, "a");
  EXPECT_EQ(stats.hosts[1].name, "b");
  EXPECT_EQ(stats.hosts[2].name, "c");
  EXPECT_EQ(stats.devices[1].name, "b/device0");
  EXPECT_EQ(stats.devices[1].busy_ns, 101);
  EXPECT_EQ(stats.devices[1].waiting_ns, 201);
  EXPECT_EQ(stats.object_bytes, 30u);
  EXPECT_EQ(stats.firings, 9u);
  EXPECT_EQ(stats.controller_messages, 5u);
  EXPECT_THAT(stats.messages, ElementsAre(Pair("token", 8)));
}

TEST(ClusterStatsTest, OfNobodyThereIsNothing) {
  const ClusterStats stats = JoinStats({});
  EXPECT_TRUE(stats.hosts.empty());
  EXPECT_EQ(stats.events, 0u);
}

}  // namespace
}  // namespace pathways
