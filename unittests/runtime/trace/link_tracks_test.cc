//===- link_tracks_test.cc - Messages on links ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/link_tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/trace/trace_test_support.h"

namespace pathways::trace {
namespace {

using namespace pathways::testing;  // NOLINT(build/namespaces)
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinkTracksTest : public ::testing::Test {
 protected:
  void Send(uint32_t actor, uint32_t to_host, uint64_t sequence, TimeNs time) {
    TraceEvent sent = NewTraceEvent(TraceKind::kSent, actor, time);
    sent.program = kProgram;
    sent.target = DataEdge(*log_.programs[kProgram], 1, 2);
    sent.item = kPieceMessage;
    sent.value = sequence;
    sent.other = to_host;
    log_.events.push_back(sent);
  }
  void Receive(uint32_t actor, uint32_t from_host, uint64_t sequence,
               TimeNs time) {
    TraceEvent received = NewTraceEvent(TraceKind::kReceived, actor, time);
    received.value = sequence;
    received.firing = 64;
    received.other = from_host;
    log_.events.push_back(received);
  }
  void Cross(uint32_t from, uint32_t to, TimeNs time, uint32_t sequence = 0) {
    TraceEvent crossed = NewTraceEvent(TraceKind::kCrossed, from, time);
    crossed.value = static_cast<uint64_t>(time) + 2;
    crossed.target = 3;
    crossed.firing = 10;
    crossed.item = 8;
    crossed.program = sequence;
    crossed.other = to;
    log_.events.push_back(crossed);
  }
  // "track: name begin-end" of each slice.
  std::vector<std::string> Slices() {
    std::vector<std::string> lines;
    for (const Track& track : LinkTracks(LogIndex(&log_)).tracks) {
      for (const Slice& slice : track.slices) {
        lines.push_back(track.name + ": " + slice.name + " " +
                        std::to_string(slice.begin) + "-" +
                        std::to_string(slice.end));
      }
    }
    return lines;
  }

  TraceLog log_ = [] {
    TraceLog log = EmptyLog();
    log.programs[kProgram] = TwoGangs();
    return log;
  }();
};

TEST_F(LinkTracksTest, OnThreadsFromSendingToArrival) {
  Send(kExecutor0, 1, 5, 10);
  Send(kExecutor0, 1, 6, 20);
  Receive(kExecutor1, 0, 5, 30);
  Receive(kExecutor1, 0, 6, 40);
  EXPECT_THAT(Slices(),
              ElementsAre("dcn: host0 -> host1: piece m.send 10-30",
                          "dcn: host0 -> host1 2: piece m.send 20-40"));
}

TEST_F(LinkTracksTest, AMessageWithoutItsBeginningIsLeftOut) {
  Send(kExecutor0, 1, 5, 10);
  Receive(kExecutor1, 0, 6, 30);
  Receive(kExecutor1, 2, 5, 30);
  EXPECT_THAT(Slices(), IsEmpty());
}

TEST_F(LinkTracksTest, ASimulationKnowsTheWay) {
  Send(kExecutor0, 1, 5, 10);
  Receive(kExecutor1, 0, 5, 30);  // says no more
  Cross(kExecutor0, kExecutor1, 10, 5);
  EXPECT_THAT(Slices(), ElementsAre("dcn: host0 -> host1: piece m.send 10-20",
                                    "dcn: host0 -> host1: queue 10-12",
                                    "dcn: host0 -> host1: wire 12-15",
                                    "dcn: host0 -> host1: flight 15-20"));
}

TEST_F(LinkTracksTest, LinksByKind) {
  log_.actors.push_back({TraceActor::kExecutor, 0, 2, -1, "host2"});
  const uint32_t executor2 = static_cast<uint32_t>(log_.actors.size() - 1);
  Cross(kTheController, kExecutor0, 10);
  Cross(kExecutor1, kExecutor0, 20);
  Cross(kExecutor0, executor2, 30);
  Cross(kExecutor0, 1000, 40);  // to nobody
  std::vector<std::string> names;
  for (const Track& track : LinkTracks(LogIndex(&log_)).tracks) {
    names.push_back(track.name);
    EXPECT_EQ(track.slices[0].name, "control");
    EXPECT_EQ(track.slices[0].args, "\"bytes\":8");
  }
  EXPECT_THAT(names, ElementsAre("ici: host0 -> host2", "dcn: host1 -> host0",
                                 "control: controller -> host0"));
}

}  // namespace
}  // namespace pathways::trace
