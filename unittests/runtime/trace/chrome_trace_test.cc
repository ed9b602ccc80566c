//===- chrome_trace_test.cc - Traces as JSON for viewers ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests which events are on which track. test/trace/validate.py checks from
// outside that the rules hold for every trace.
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(const TraceLog& log) {
  std::ostringstream text;
  TraceFacts facts;
  facts.simulated = true;
  facts.seed = UINT64_MAX;
  facts.workers = 3;
  facts.topology = "two \"islands\"";
  WriteChromeTrace(log, facts, &text);
  return text.str();
}
json Events(const TraceLog& log) {
  return json::parse(Text(log))["traceEvents"];
}

// The slices of a track, in order: "name begin+duration".
std::vector<std::string> Slices(const json& events, const std::string& track) {
  json tid;
  for (const json& e : events) {
    if (e["name"] == "thread_name" && e["args"]["name"] == track)
      tid = e["tid"];
  }
  std::vector<std::string> slices;
  for (const json& e : events) {
    if (e["ph"] != "X" || e["tid"] != tid) continue;
    std::ostringstream text;
    text << e["name"].get<std::string>() << " " << e["ts"] << "+" << e["dur"];
    slices.push_back(text.str());
  }
  return slices;
}
std::vector<std::string> Counts(const json& events,
                                const std::string& counter) {
  std::vector<std::string> values;
  for (const json& e : events) {
    if (e["ph"] != "C" || e["name"] != counter) continue;
    std::ostringstream text;
    text << e["ts"] << ": " << e["args"].begin().value();
    values.push_back(text.str());
  }
  return values;
}

TEST(ChromeTraceTest, TracksOfAStep) {
  const json events = Events(OneStep());
  EXPECT_THAT(Slices(events, "island0/host0/device0"),
              ElementsAre("a 0.01+0.04", "all_reduce 0.02+0.024",
                          "wait: others 0.02+0.022"));
  EXPECT_THAT(Slices(events, "island1/host1/device0"),
              ElementsAre("wait: b 0.011+0.05", "b 0.061+0.039"));
  EXPECT_THAT(Slices(events, "island1/host1/device0 transfers"),
              ElementsAre("m.recv 0.06+0.0"));
  EXPECT_THAT(Slices(events, "scheduler"),
              ElementsAre("p, 1 step from 0 0.007+0.103",
                          "held back 0.007+0.002", "granted 0.009+0.101"));
  EXPECT_THAT(Counts(events, "p steps in flight"),
              ElementsAre("0.01: 1", "0.1: 0"));
  // The received buffer is in use from the recv to the end of its reader.
  EXPECT_THAT(Counts(events, "island1/host1/device0 credits in use"),
              ElementsAre("0.06: 1", "0.1: 0"));
}

TEST(ChromeTraceTest, AFiringSaysWhereItIsFrom) {
  for (const json& e : Events(OneStep())) {
    if (e["name"] != "b" || e["ts"] != 0.061) continue;
    EXPECT_EQ(e["cat"], "kernel");
    EXPECT_EQ(e["args"]["program"], "p");
    EXPECT_EQ(e["args"]["firing"], 0);
    EXPECT_EQ(e["args"]["shards"], json::array({0}));
    EXPECT_EQ(e["args"]["location"], "p.mlir:2:2");
    EXPECT_THAT(e["args"]["last token"].get<std::string>(),
                ::testing::MatchesRegex("edge [0-9]+ \\(data\\): m.recv -> b"));
    return;
  }
  FAIL() << "no slice of 'b'";
}

TEST(ChromeTraceTest, ArrowsHaveTwoEnds) {
  std::map<std::string, std::map<int, std::string>> flows;  // by name, id
  for (const json& e : Events(OneStep())) {
    if (e["ph"] == "s" || e["ph"] == "f") {
      flows[e["name"]][e["id"]] += e["ph"].get<std::string>();
    }
  }
  auto check = [&](const std::string& name, size_t count) {
    EXPECT_EQ(flows[name].size(), count) << name;
    for (const auto& [id, ends] : flows[name]) EXPECT_EQ(ends, "sf") << name;
  };
  check("launch", 2);  // ends at the grant on each island
  check("grant", 4);   // ends at the first gang of each device
  check("piece", 2);   // goes from each send to its recv
}

TEST(ChromeTraceTest, WhatAProcessDidIsUnderItsNumber) {
  TraceLog log = OneStep();
  log.clocks = {{0, 0, 0}, {3, -5, 20}};
  for (TraceActor& actor : log.actors) {
    actor.process =
        actor.host < 0 || actor.role == TraceActor::kScheduler ? 0 : 3;
  }
  const json trace = json::parse(Text(log));
  EXPECT_EQ(trace["otherData"]["clocks"],
            json::parse(R"([{"process":0,"offset_ns":0,"error_ns":0},
                            {"process":3,"offset_ns":-5,"error_ns":20}])"));
  std::map<int, std::string> processes, tracks;
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
    if (e["name"] == "thread_name") {
      tracks[e["pid"]] += e["args"]["name"].get<std::string>() + ";";
    }
  }
  EXPECT_EQ(processes[0], "process 0: controller");
  EXPECT_EQ(processes[3], "process 3: host0, host1");
  EXPECT_THAT(tracks[0], ::testing::HasSubstr("calls;"));
  EXPECT_THAT(tracks[0], ::testing::HasSubstr("island0 scheduler;"));
  EXPECT_THAT(tracks[3], ::testing::HasSubstr("island1/host1/device0;"));
}

// Effects may seem to come before their causes by the errors of both clocks.
TEST(ChromeTraceTest, ArrowsBetweenProcessesAllowForTheClocks) {
  auto grants = [](TimeNs error) {
    TraceLog log = OneStep();
    log.clocks = {{0, 0, 0}, {1, 0, error}};
    for (TraceActor& actor : log.actors) {
      actor.process = actor.role == TraceActor::kDevice;
    }
    for (TraceEvent& e : log.events) {
      if (e.Kind() == TraceKind::kGranted) e.time += 40;
    }
    int count = 0;
    for (const json& e : Events(log)) count += e["name"] == "grant";
    return count;
  };
  EXPECT_EQ(grants(100), 8);
  EXPECT_LT(grants(0), 8);
}

// A send of which nothing arrived has no arrow; time does not go back on one.
TEST(ChromeTraceTest, ArrowsWithoutAnEndAreLeftOut) {
  TraceLog log = OneStep();
  const auto is_recv = [](const TraceEvent& e) {
    return e.Kind() == TraceKind::kMove && e.target == 2;
  };
  log.events.erase(
      std::remove_if(log.events.begin(), log.events.end(), is_recv),
      log.events.end());
  for (const json& e : Events(log)) {
    if (e["ph"] == "s") EXPECT_NE(e["name"], "piece");
  }
}

TEST(ChromeTraceTest, MessagesThatOverlapHaveTracksOfTheirOwn) {
  TraceLog log = EmptyLog();
  log.programs[kProgram] = TwoGangs();
  auto cross = [&](TimeNs sent, TimeNs begin, uint32_t wire, uint64_t takes,
                   uint32_t sequence) {
    TraceEvent event = NewTraceEvent(TraceKind::kCrossed, kExecutor0, sent);
    event.value = static_cast<uint64_t>(begin);
    event.target = wire;
    event.firing = takes;
    event.item = 64;
    event.program = sequence;
    event.other = kExecutor1;
    log.events.push_back(event);
  };
  TraceEvent sent = NewTraceEvent(TraceKind::kSent, kExecutor0, 1000);
  sent.program = kProgram;
  sent.target = DataEdge(*log.programs[kProgram], 1, 2);
  sent.item = kPieceMessage;
  sent.value = 1;
  sent.other = 1;  // host
  log.events.push_back(sent);
  cross(1000, 1000, 10, 30, 1);
  cross(1000, 1010, 10, 40, 0);  // waits for the wire
  cross(1030, 1030, 10, 30, 0);  // the first has arrived
  const json events = Events(log);
  EXPECT_THAT(
      Slices(events, "dcn: host0 -> host1"),
      ElementsAre("piece m.send 1.0+0.03", "wire 1.0+0.01", "flight 1.01+0.02",
                  "control 1.03+0.03", "wire 1.03+0.01", "flight 1.04+0.02"));
  EXPECT_THAT(Slices(events, "dcn: host0 -> host1 2"),
              ElementsAre("control 1.0+0.04", "queue 1.0+0.01",
                          "wire 1.01+0.01", "flight 1.02+0.02"));
}

TEST(ChromeTraceTest, SaysWhatItIsOfAndWhatIsMissing) {
  TraceLog log = OneStep();
  EXPECT_EQ(Text(log), Text(log));
  json facts = json::parse(Text(log))["otherData"];
  EXPECT_EQ(facts["world"], "sim");
  EXPECT_EQ(facts["seed"], "18446744073709551615");
  EXPECT_EQ(facts["topology"], "two \"islands\"");
  EXPECT_EQ(facts["programs"], "p");
  EXPECT_EQ(facts["events_dropped"], "0");
  log.dropped = 12;
  log.begin = 30;
  const json trace = json::parse(Text(log));
  EXPECT_EQ(trace["otherData"]["events_dropped"], "12");
  EXPECT_EQ(trace["otherData"]["complete_from_us"], "0.030");
  int notes = 0;
  for (const json& e : trace["traceEvents"]) notes += e["ph"] == "i";
  EXPECT_EQ(notes, 1);
}

// Names are any bytes; two programs of one name are told apart.
TEST(ChromeTraceTest, Names) {
  TraceLog log = OneStep();
  auto plan = std::make_shared<proto::Plan>(*log.programs[kProgram]);
  plan->mutable_header()->set_program("p\xff\"\n");
  log.programs[kProgram] = plan;
  EXPECT_EQ(json::parse(Text(log))["otherData"]["programs"], "p\ufffd\"\n");
  log = OneStep();
  log.programs[9] = log.programs[kProgram];
  EXPECT_EQ(json::parse(Text(log))["otherData"]["programs"], "p #7, p #9");
}

TEST(ChromeTraceTest, NothingAtAll) {
  const json events = Events(EmptyLog());
  for (const json& e : events) EXPECT_EQ(e["ph"], "M");
  EXPECT_THAT(Slices(events, "calls"), IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
