//===- reports_test.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/pw-run/dry_run.h"
#include "tools/pw-run/dump_graph.h"
#include "tools/pw-run/explain_reshard.h"
#include "tools/pw-run/plan_view.h"
#include "tools/pw-run/signature.h"
#include "tools/pw-run/stats.h"

namespace pathways::pw_run {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a plan with a gang with an all-reduce on four shards, whose result
// moves to another island and is gathered on one device.
proto::Plan MakePlan() {
  proto::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        header { program: "f" steps_in_flight: 2 }
        slices {
          name: "front"
          axes { name: "x" size: 4 }
          binding {
            island: 0
            affine { base: 0 strides: 1 }
          }
        }
        slices {
          name: "back"
          binding {
            island: 1
            affine { base: 2 }
          }
        }
        layouts {
          shape: 8
          element: F32
          dims { axes: "x" }
        }
        layouts {
          shape: 8
          element: F32
          dims {}
        }
        kernels {
          name: "k"
          segments { symbol: "k0" scratch_bytes: 512 }
        }
        buffers {
          name: "x"
          slice: 0
          layout: 0
          bytes: 8
          slot_stride: 128
          credits: 2
        }
        buffers {
          name: "h"
          slice: 0
          layout: 0
          offset: 256
          bytes: 8
          slot_stride: 128
          credits: 1
        }
        buffers {
          name: "y"
          slice: 1
          layout: 1
          bytes: 32
          slot_stride: 128
          credits: 2
        }
        actions { name: "x.feed" kind: FEED slice: 0 results: 0 interface: 0 }
        actions {
          name: "gang \"one\""
          kind: GANG
          slice: 0
          operands: 0
          results: 1
          location: "f.mlir:3:5"
          steps {
            run {
              segment: 0
              buffers: [ 0, 1 ]
            }
          }
          steps {
            collective {
              kind: ALL_REDUCE
              reduction: ADD
              axes: "x"
              source: 1
              result: 1
            }
          }
        }
        actions { name: "send" kind: SEND slice: 0 operands: 1 peer: 3 }
        actions { name: "recv" kind: RECV slice: 1 results: 2 peer: 2 }
        actions {
          name: "y.fetch"
          kind: FETCH
          slice: 1
          operands: 2
          interface: 0
        }
        edges { from: 0 to: 1 kind: DATA relation: SAME }
        edges { from: 1 to: 0 tokens: 2 kind: CREDIT relation: SAME }
        edges { from: 1 to: 2 kind: DATA relation: SAME }
        edges { from: 2 to: 3 kind: DATA relation: PIECES }
        edges { from: 3 to: 4 kind: CONTROL relation: ALL }
        interface {
          arguments { name: "x" action: 0 stepped: true }
          results { name: "y" action: 4 }
        }
      )pb",
      &plan));
  return plan;
}

Topology MakeTopology(const std::string& spec) {
  return *Topology::Create(*ReadTopology(spec));
}

TEST(ReportsTest, SignatureHasNamesAndTypes) {
  Signature signature = SignatureOf(MakePlan());
  ASSERT_EQ(signature.arguments.size(), 1);
  EXPECT_EQ(signature.arguments[0].TypeOver(3), "3x8xf32 (3 steps of 8xf32)");
  ASSERT_EQ(signature.results.size(), 1);
  EXPECT_EQ(signature.results[0].TypeOver(3), "8xf32");
}

TEST(ReportsTest, CostsComeFromTheTables) {
  PlanCost cost = CostOf(MakePlan(), MakeTopology("2x1x4"));
  ASSERT_EQ(cost.devices.size(), 5);
  // Buffers up to 256 + 8, aligned to 128, and the scratch memory of the gang.
  EXPECT_EQ((cost.devices[{0, 0}].bytes), 384 + 512);
  EXPECT_EQ((cost.devices[{0, 3}].gang_entries), 1);
  EXPECT_EQ((cost.devices[{1, 2}].bytes), 256);
  EXPECT_EQ((cost.devices[{0, 0}].need.least), 16);
  EXPECT_EQ((cost.devices[{0, 0}].need.scratch), 512);
  EXPECT_EQ((cost.devices[{1, 2}].gang_entries), 0);
  // A ring of four: 2 * 3 * 8 bytes. The movement has all 32 bytes.
  EXPECT_EQ(cost.ici_bytes[0], 48);
  EXPECT_EQ((cost.dcn_bytes[{0, 1}]), 32);
  EXPECT_EQ(cost.gangs[0], 1);
}

TEST(ReportsTest, TimeIsWhatShardsOfADeviceCost) {
  proto::Plan plan = MakePlan();
  for (proto::Action& action : *plan.mutable_actions()) {
    action.set_cost_ns(action.kind() == proto::GANG ? 100 : 0);
  }
  PlanCost cost = CostOf(plan, MakeTopology("2x1x4"));
  EXPECT_EQ((cost.devices[{0, 0}].ns), 100);
  EXPECT_EQ((cost.devices[{1, 2}].ns), 0);
  plan.mutable_slices(0)->mutable_binding()->mutable_affine()->set_span(1);
  cost = CostOf(plan, MakeTopology("2x1x4"));
  EXPECT_EQ((cost.devices[{0, 0}].ns), 400);
}

TEST(ReportsTest, NothingMovesWithinOneDevice) {
  proto::Plan plan = MakePlan();
  plan.mutable_slices(0)->mutable_binding()->mutable_affine()->set_span(1);
  plan.mutable_slices(1)->mutable_binding()->set_island(0);
  plan.mutable_slices(1)->mutable_binding()->mutable_affine()->set_base(0);
  PlanCost cost = CostOf(plan, MakeTopology("2x1x4"));
  EXPECT_TRUE(cost.ici_bytes.empty());
  EXPECT_TRUE(cost.dcn_bytes.empty());
  ASSERT_EQ(cost.devices.size(), 1);
  // The segments of four shards, one scratch, and the other slice.
  EXPECT_EQ((cost.devices[{0, 0}].bytes), 4 * 384 + 512 + 256);
  EXPECT_EQ((cost.devices[{0, 0}].shards), 5);
}

TEST(ReportsTest, CollectivesCountWhatCrossesDevices) {
  auto ici = [](const std::string& fields, int64_t span = 0,
                const std::string& topology = "2x1x4", int64_t elements = 8) {
    proto::Plan plan = MakePlan();
    plan.mutable_layouts(0)->set_shape(0, elements);
    plan.mutable_slices(0)->mutable_binding()->mutable_affine()->set_span(span);
    proto::Collective* c =
        plan.mutable_actions(1)->mutable_steps(1)->mutable_collective();
    c->Clear();
    c->add_axes("x");
    c->set_source(1);
    c->set_result(1);
    EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(fields, c));
    return CostOf(plan, MakeTopology(topology)).ici_bytes[0];
  };
  EXPECT_EQ(ici("kind: ALL_GATHER"), 4 * 3 * 8);
  EXPECT_EQ(ici("kind: REDUCE_SCATTER"), 3 * 8);
  EXPECT_EQ(ici("kind: ALL_TO_ALL"), 12 * 2);
  EXPECT_EQ(ici("kind: ALL_TO_ALL", 2), 8 * 2);
  EXPECT_EQ(ici("kind: PERMUTE shift: 1"), 3 * 8);
  EXPECT_EQ(ici("kind: PERMUTE shift: 1 wrap: true"), 4 * 8);
  EXPECT_EQ(ici("kind: PERMUTE shift: -5 wrap: true"), 4 * 8);
  EXPECT_EQ(ici("kind: PERMUTE shift: 4 wrap: true"), 0);
  EXPECT_EQ(ici("kind: PERMUTE shift: 4"), 0);
  EXPECT_EQ(ici("kind: PERMUTE shift: 2 wrap: true", 2), 0);
  EXPECT_EQ(ici("kind: PERMUTE shift: -9223372036854775808 wrap: true"), 0);
  EXPECT_EQ(ici("kind: PERMUTE pairs: [0, 1, 0, 2, 3, 3]"), 2 * 8);
  EXPECT_EQ(ici("kind: BROADCAST root: 1"), 3 * 8);
  EXPECT_EQ(ici("kind: BROADCAST root: 1", 2), 2 * 8);
  // Four hosts send everything in each of two rounds; two hosts of two devices
  // need one round.
  EXPECT_EQ(ici("kind: ALL_REDUCE reduction: ADD", 0, "2x4x1"), 4 * 2 * 8);
  EXPECT_EQ(ici("kind: ALL_REDUCE reduction: ADD", 0, "2x2x2"),
            2 * 8 + 2 * 2 * 8);
  EXPECT_EQ(ici("kind: ALL_GATHER", 0, "2x4x1"), 4 * 3 * 8);
  // Each sends a half of 32 bytes, then a quarter.
  EXPECT_EQ(ici("kind: REDUCE_SCATTER reduction: ADD", 0, "2x4x1", 32),
            4 * (16 + 8));
  // Blocks of 8 bytes are forwarded: two of them in each of two rounds.
  EXPECT_EQ(ici("kind: ALL_TO_ALL", 0, "2x4x1", 32), 4 * 2 * 16);
  EXPECT_EQ(ici("kind: PERMUTE shift: 1", 0, "2x4x1"), 3 * 8);
  EXPECT_EQ(ici("kind: PERMUTE shift: 1", 0, "2x2x2"), 3 * 8);
  // The data goes to another host once, however many devices need it there.
  EXPECT_EQ(ici("kind: BROADCAST root: 3", 0, "2x2x2"), 2 * 8);
}

TEST(ReportsTest, DryRunGroupsEqualDevices) {
  std::string text = DryRunText(CostOf(MakePlan(), MakeTopology("2x1x4")),
                                MakeTopology("2x1x4"));
  EXPECT_THAT(text, HasSubstr("island0  device 0-3         896  1073741824"));
  EXPECT_THAT(text, HasSubstr("island1  device 2"));
  EXPECT_THAT(text, HasSubstr("ici island0"));
  EXPECT_THAT(text, HasSubstr("dcn island0 -> island1"));
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST(ReportsTest, ReshardsListTheWaysThatWereNotTaken) {
  EXPECT_EQ(ReshardsText({}), "no array changes its layout\n");
  ReshardText reshard;
  reshard.title = "f.mlir:3:8: here -> there";
  reshard.routes = {{"pieces, then all-gather", 12, 4, 2, 9, 1500, true},
                    {"pieces", 0, 16, 1, 9, 20000, false}};
  ReshardText nothing;
  nothing.title = "f.mlir:4:8: here -> here";
  nothing.routes = {{}};
  EXPECT_EQ(
      ReshardsText({reshard, nothing}),
      "f.mlir:3:8: here -> there\n"
      "taken  route                    steps  ici bytes  dcn bytes  peak bytes"
      "     ns\n"
      "yes    pieces, then all-gather      2  12         4                   9"
      "   1500\n"
      "       pieces                       1  ~0         ~16                 9"
      "  20000\n\n"
      "f.mlir:4:8: here -> here\n"
      "taken  route  steps  ici bytes  dcn bytes  peak bytes  ns\n"
      "yes    none       0          0          0           0   0\n\n");
}

TEST(ReportsTest, PlacementNamesDevicesAndHosts) {
  std::string text = PlacementText(MakePlan(), MakeTopology("2x2x2"));
  EXPECT_THAT(text,
              HasSubstr("front  x=4         island0  0-3      host0, host1"));
  EXPECT_THAT(text, HasSubstr("back   one device  island1  2        host3"));
}

TEST(ReportsTest, PlansThatDoNotFitAreNamed) {
  proto::Plan plan = MakePlan();
  EXPECT_TRUE(CheckFits(plan, MakeTopology("2x1x4")).ok());
  EXPECT_EQ(CheckFits(plan, MakeTopology("1x1x8")).message(),
            "slice 'back' is bound to island 1, but the topology has 1 island");
  EXPECT_EQ(CheckFits(plan, MakeTopology("2x1x3")).message(),
            "shard 3 of slice 'front' is bound to device 3, but island0 has 3 "
            "devices");
  // Many slices of the largest mesh must not take all memory.
  plan.mutable_slices(0)->mutable_axes(0)->set_size(1 << 24);
  plan.mutable_slices(0)->mutable_binding()->mutable_affine()->set_span(1);
  EXPECT_EQ(
      CheckFits(plan, MakeTopology("2x1x3")).message(),
      "slices up to 'back' have 16777217 shards, expected at most 16777216");
}

TEST(ReportsTest, GraphHasEveryActionAndEdge) {
  std::string text = GraphText(MakePlan());
  EXPECT_THAT(text, HasSubstr("digraph \"f\" {"));
  EXPECT_THAT(text, HasSubstr("label=\"@front: x=4, island 0\""));
  EXPECT_THAT(text, HasSubstr("a1 [label=\"gang \\\"one\\\"\", shape=box, "
                              "tooltip=\"gang f.mlir:3:5\"]"));
  EXPECT_THAT(text, HasSubstr("a1 -> a0 [style=dashed, color=gray50, label=2, "
                              "constraint=false, tooltip=\"credit same\"]"));
  EXPECT_THAT(text, HasSubstr("a3 -> a4 [style=bold, color=blue"));
}

TEST(ReportsTest, Ranges) {
  EXPECT_EQ(RangesText({}), "");
  EXPECT_EQ(RangesText({3, 1, 2, 2, 7, 5}), "1-3, 5, 7");
}

TEST(ReportsTest, StatisticsAsJson) {
  ClusterStats stats;
  stats.hosts.resize(2);
  stats.devices.resize(3);
  stats.devices[1].name = "island0/host0/device\xff";  // not UTF-8
  stats.messages = {{"token", 4}};
  stats.event_hash = 0xabc;
  proto::Plan plan = MakePlan();
  stats.devices[1].busy_ns = 4000;
  stats.devices[1].waiting_ns = 5000;
  stats.devices[2].peak_bytes = 77;
  RunFacts facts{
      .plan_bytes = 1000, .steps = 3, .simulated = true, .launch_ns = 16'000};
  TraceSummary summary;
  summary.end = 2000;
  summary.events_dropped = 3;
  summary.devices = {{"island0/host0/device\xff", 500, 1500}};
  summary.path = {{"f", "gang", "f.mlir:3:5", 2, 400}};
  summary.path_between_ns = 1600;
  summary.waits = {{false, 5, "data", "f", "x.feed", "f.mlir:1:1", "gang",
                    "f.mlir:3:5", "island0/host0/device1", 4, 900, 2, 1000},
                   {true, 0, "all_reduce", "f", "", "", "gang", "",
                    "island0/host0/device1", 4, 100, 1, 100}};
  std::string text = StatsJson(plan, stats, summary, facts);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["plan"]["actions"], 5);
  EXPECT_EQ(json["plan"]["bytes"], 1000);
  EXPECT_EQ(json["run"]["event_hash"], "0000000000000abc");
  EXPECT_EQ(json["messages"]["token"], 4);
  EXPECT_EQ(json["devices"].size(), 3);
  EXPECT_EQ(json["costs"]["step_ns"], 5333);
  EXPECT_EQ(json["costs"]["launch_ns"], 16'000);
  EXPECT_EQ(json["costs"]["devices"].size(), 3);
  EXPECT_EQ(json["costs"]["devices"][1]["busy_ns"], 4000);
  EXPECT_EQ(json["costs"]["devices"][1]["wait_ns"], 5000);
  EXPECT_EQ(json["costs"]["devices"][2]["busy_ns"], 0);
  EXPECT_EQ(json["costs"]["devices"][2]["peak_bytes"], 77);
  EXPECT_EQ(json["time"]["wall_ns"], 2000);
  EXPECT_EQ(json["time"]["devices"][0]["utilization"], 0.25);
  EXPECT_EQ(json["time"]["critical_path"][0]["share"], 0.2);
  EXPECT_EQ(json["time"]["longest_waits"][0]["edge"], 5);
  EXPECT_FALSE(json["time"]["longest_waits"][1].contains("edge"));
  const std::string table = StatsTable(plan, stats, summary, facts);
  EXPECT_THAT(table, HasSubstr("messages: token"));
  EXPECT_THAT(table,
              HasSubstr("the tables below are of the last 2.0 us only: 3 "
                        "older events dropped; a larger --trace-events keeps"));
  EXPECT_THAT(table,
              HasSubstr("\n5.3 us a step, 16.0 us from the launch to its "
                        "end\n"));
  // The devices include all that ran, even if the trace has dropped their
  // events.
  EXPECT_THAT(table, HasSubstr("waits   of 16.0 us\n"));
  EXPECT_THAT(table, HasSubstr("4.0 us  5.0 us  25.0% busy\n"));
  EXPECT_THAT(table, HasSubstr("time    of the last 2.0 us\n"));
  const std::string costs = CostsText(stats, summary, facts);
  EXPECT_THAT(costs, ContainsRegex("step time +5.3 us\n"));
  EXPECT_THAT(costs, ContainsRegex("devices that do something +1\n"));
  EXPECT_THAT(costs, ContainsRegex("utilization +25.0%, 25.0% to 25.0%\n"));
  EXPECT_THAT(costs, ContainsRegex("head of a queue +31.2%\n"));
  EXPECT_THAT(table, HasSubstr("'gang' (f.mlir:3:5)  2        400 ns  20.0%"));
  EXPECT_THAT(table, HasSubstr("between them                  1.6 us  80.0%"));
  EXPECT_THAT(
      table,
      HasSubstr("900 ns on island0/host0/device1 for edge 5 (data) from "
                "'x.feed' (f.mlir:1:1) to 'gang' (f.mlir:3:5) in firing 4; "
                "2 such waits, 1.0 us in all"));
  EXPECT_THAT(table, HasSubstr("for others in all_reduce of 'gang' in"));
  EXPECT_TRUE(json["costs"]["period_ns"].is_null());
  EXPECT_TRUE(json["costs"]["bubble"].is_null());
  summary.events_dropped = 0;
  const std::string whole = StatsTable(plan, stats, summary, facts);
  EXPECT_EQ(whole.find("the last"), std::string::npos);
  EXPECT_THAT(whole, HasSubstr("time    of 2.0 us\n"));
}

TEST(ReportsTest, AStepLastsFromTheFirstBeginToTheLastEnd) {
  ClusterStats stats;
  stats.devices.resize(3);
  stats.devices[0].busy_ns = 600;
  stats.devices[0].first_begin_ns = 100;
  stats.devices[0].first_end_ns = 420;
  stats.devices[0].last_end_ns = 800;
  stats.devices[1].busy_ns = 400;
  stats.devices[1].first_begin_ns = 500;
  stats.devices[1].first_end_ns = 550;
  stats.devices[1].last_end_ns = 1100;
  const RunFacts facts{.steps = 2, .launch_ns = 2000};
  nlohmann::json costs = nlohmann::json::parse(
      StatsJson(MakePlan(), stats, TraceSummary(), facts))["costs"];
  EXPECT_EQ(costs["step_ns"], 500);
  EXPECT_EQ(costs["period_ns"], 550);
  EXPECT_EQ(costs["launch_ns"], 2000);
  EXPECT_EQ(costs["bubble"], 0.5);
  EXPECT_DOUBLE_EQ(costs["period_bubble"], 1 - 1000.0 / 2200);
  EXPECT_THAT(CostsText(stats, TraceSummary(), facts),
              ContainsRegex("period +550 ns\n"));
  // One step.
  costs = nlohmann::json::parse(
      StatsJson(MakePlan(), stats, TraceSummary(),
                RunFacts{.steps = 1, .launch_ns = 2000}))["costs"];
  EXPECT_EQ(costs["step_ns"], 1000);
  EXPECT_EQ(costs["period_ns"], 700);
  // Two processes have two clocks.
  stats.processes.resize(2);
  costs = nlohmann::json::parse(
      StatsJson(MakePlan(), stats, TraceSummary(), facts))["costs"];
  EXPECT_EQ(costs["step_ns"], 1000);
  EXPECT_EQ(costs["period_ns"], 550);
}

TEST(ReportsTest, WithoutATraceThereAreNoTimes) {
  EXPECT_THAT(StatsTable(MakePlan(), ClusterStats(), std::nullopt, RunFacts()),
              HasSubstr("\nno times of devices: the cluster records no events; "
                        "start its controller with --trace-events\n"));
  EXPECT_TRUE(nlohmann::json::parse(StatsJson(MakePlan(), ClusterStats(),
                                              std::nullopt, RunFacts()))
                  .at("time")
                  .is_null());
  ClusterStats stats;
  stats.devices.resize(1);
  const nlohmann::json json = nlohmann::json::parse(StatsJson(
      MakePlan(), stats, std::nullopt, RunFacts{.steps = 2, .launch_ns = 10}));
  EXPECT_EQ(json["costs"]["step_ns"], 5);
  EXPECT_TRUE(json["costs"]["devices"][0]["busy_ns"].is_null());
  EXPECT_TRUE(json["costs"]["devices"][0]["wait_ns"].is_null());
}

TEST(ReportsTest, StatisticsSayHowOftenMessagesCameAgain) {
  ClusterStats stats;
  stats.hosts.resize(2);
  const auto table = [&] {
    return StatsTable(MakePlan(), stats, TraceSummary(), RunFacts());
  };
  EXPECT_THAT(table(), Not(HasSubstr("second copies")));
  stats.hosts[0].duplicates_dropped = 2;
  stats.hosts[1].duplicates_dropped = 3;
  EXPECT_THAT(table(), ContainsRegex("second copies dropped +5\n"));
  const nlohmann::json json = nlohmann::json::parse(
      StatsJson(MakePlan(), stats, TraceSummary(), RunFacts()));
  EXPECT_EQ(json["hosts"][1]["duplicates_dropped"], 3);
}

TEST(ReportsTest, StatisticsSayWhatCrossedLinks) {
  ClusterStats stats;
  stats.processes = {{0, {}, {}, 400, 0},
                     {1, {"host0"}, {7, 700, 8, 800, 1, 2, 3, 4}}};
  stats.processes[1].plan_bytes_received = stats.plan_bytes_received = 400;
  const std::string table =
      StatsTable(MakePlan(), stats, TraceSummary(), RunFacts());
  EXPECT_THAT(table, HasSubstr("plan bytes between processes    400\n"));
  EXPECT_THAT(
      table,
      HasSubstr("process  hosts  sent  frames  bytes  received  frames  bytes  "
                "unlinked  foreign  plan bytes sent  received\n"
                "      0      0     0       0      0         0       0      0  "
                "       0        0              400         0\n"
                "      1      1     7       3    700         8       4    800  "
                "       1        2                0       400\n"));
  const nlohmann::json json = nlohmann::json::parse(
      StatsJson(MakePlan(), stats, TraceSummary(), RunFacts()));
  EXPECT_EQ(json["processes"][1],
            nlohmann::json::parse(
                R"({"process": 1, "hosts": ["host0"], "messages_sent": 7,
                    "frames_sent": 3, "bytes_sent": 700,
                    "messages_received": 8, "frames_received": 4,
                    "bytes_received": 800, "unlinked": 1, "foreign": 2,
                    "plan_bytes_sent": 0, "plan_bytes_received": 400})"));
  // A single process has no links.
  stats.processes.pop_back();
  EXPECT_EQ(
      StatsTable(MakePlan(), stats, TraceSummary(), RunFacts()).find("process"),
      std::string::npos);
}

// Returns the lines of a table between its heading and the first empty line.
std::vector<std::string> RowsAfter(const std::string& text,
                                   const std::string& heading) {
  std::vector<std::string> rows;
  size_t at = text.find("\n" + heading);
  EXPECT_NE(at, std::string::npos) << heading;
  for (at = text.find('\n', at + 1) + 1; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == at) break;
    rows.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return rows;
}

TEST(ReportsTest, StatisticsShowSoManyRows) {
  auto table = [](int devices, int shares) {
    TraceSummary summary;
    ClusterStats stats;
    summary.end = 1000;
    for (int i = 0; i < devices; ++i) {
      ClusterStats::Device& device = stats.devices.emplace_back();
      device.name = "device" + std::to_string(i);
      device.busy_ns = 1;
      stats.devices.emplace_back().name = "idle";
    }
    for (int i = 0; i < shares; ++i) {
      summary.path.push_back({"f", "a" + std::to_string(i), "", 1, 10});
    }
    return StatsTable(MakePlan(), stats, summary, RunFacts());
  };
  const std::string most = table(32, 8);
  std::vector<std::string> rows = RowsAfter(most, "device ");
  ASSERT_EQ(rows.size(), 32);
  EXPECT_THAT(rows[31], HasSubstr("device31"));
  rows = RowsAfter(most, "critical path ");
  ASSERT_EQ(rows.size(), 8 + 1);
  EXPECT_THAT(rows[7], HasSubstr("'a7'"));
  EXPECT_THAT(rows[8], HasSubstr("between them"));
  const std::string more = table(35, 11);
  rows = RowsAfter(more, "device ");
  ASSERT_EQ(rows.size(), 32 + 1);
  EXPECT_EQ(rows[32], "and 3 more");
  rows = RowsAfter(more, "critical path ");
  ASSERT_EQ(rows.size(), 8 + 2);
  EXPECT_THAT(rows[7], HasSubstr("'a7'"));
  EXPECT_EQ(rows[8], "3 more         3        30 ns  3.0%");
}

}  // namespace
}  // namespace pathways::pw_run
