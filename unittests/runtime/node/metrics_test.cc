//===- metrics_test.cc - State of a controller for Prometheus -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTest, FiguresHaveHelpATypeAndLabels) {
  const Topology topology = *Topology::Create(*ReadTopology("1x2x1"));
  proto::ControllerStatus status;
  status.set_messages(7);
  status.add_host_spilled_bytes(0);
  status.add_host_spilled_bytes(5);
  status.add_host_bytes(10);
  status.add_host_bytes(20);
  proto::ClientStatus* client = status.add_clients();
  client->set_name("a \"b\"\\\n");
  client->set_weight(2.5);
  client->set_device_time_ns(1'500'000'000);
  proto::WaitingLoad* load = status.add_waiting_loads();
  load->set_client("c");
  load->set_program("p");
  load->set_why("because");
  load->set_since_ms(250);
  proto::AwayStatus* away = status.add_away();
  away->set_name("host1");
  away->set_devices(1);
  away->set_why("drained");
  const std::string text = MetricsText(status, topology);
  EXPECT_THAT(text, HasSubstr("# HELP pathways_messages_total Messages that "
                              "the controller received.\n"
                              "# TYPE pathways_messages_total counter\n"
                              "pathways_messages_total 7\n"));
  EXPECT_THAT(text, HasSubstr("pathways_host_used_bytes{host=\"" +
                              topology.HostName(1) + "\"} 20\n"));
  EXPECT_THAT(text, HasSubstr("pathways_host_spilled_bytes{host=\"" +
                              topology.HostName(1) + "\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("pathways_client_device_seconds_total{client=\"a "
                              "\\\"b\\\"\\\\\\n\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("pathways_load_wait_seconds{client=\"c\",program="
                              "\"p\",why=\"because\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("pathways_waiting_loads 1\n"));
  EXPECT_THAT(text,
              HasSubstr("pathways_away_devices{name=\"host1\",why=\"drained\"}"
                        " 1\n"));
}

}  // namespace
}  // namespace pathways
